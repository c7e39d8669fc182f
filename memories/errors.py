"""Why something about memories may not be done. Each sentence says what to do instead."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memoryhub.kernel.errors import AlreadyDecided, Conflict, Duplicate, Forbidden, Invalid, NotFound


class NoSuchNumber(NotFound):
    """Nothing has the number, memory or other, that this reader may see."""

    def __init__(self, number: int) -> None:
        super().__init__(f"There is no #{number} here that you can see.", number=number)


class NoSuchMemory(NotFound):
    """Not there, or not for this reader."""

    def __init__(self, number: int) -> None:
        super().__init__(f"There is no memory #{number} here that you can see.", number=number)


class NoSuchVersion(NotFound):
    """The memory never was at this version, or this reader may not see what it said then."""

    def __init__(self, number: int, version: int) -> None:
        super().__init__(
            f"#{number} has no version {version} that you can see.", number=number, version=version
        )


class MovedOn(Conflict):
    """Somebody changed the memory since it was read."""

    def __init__(self, number: int, current: int, expected: int, changed: list[str]) -> None:
        names = ", ".join(changed) or "nothing that you may see"
        super().__init__(
            f"#{number} is now at version {current}, you edited version {expected}; changed since: {names}. "
            f"Read it again and repeat the change.",
            number=number,
            current_version=current,
            expected_version=expected,
            changed=changed,
        )


class SeveralMovedOn(Conflict):
    """Of several changes that were shown together, some would meet another version."""

    def __init__(self, moved: list[tuple[int, int | None]]) -> None:
        names = ", ".join(f"#{number}" for number, _ in moved)
        super().__init__(
            f"Changed since they were shown: {names}. Nothing was done; look again and repeat.",
            current_version=moved[0][1],
            changed=[{"number": number, "current_version": version} for number, version in moved],
        )


class OutcomeMovedOn(Conflict):
    """What would come of several changes is no longer what was shown."""

    def __init__(self) -> None:
        super().__init__(
            "What has to be proposed first changed since this was shown: the project's policy, or your role. "
            "Nothing was done; look again and repeat."
        )


class AlreadyStored(Duplicate):
    """An active memory says exactly this."""

    def __init__(self, number: int) -> None:
        super().__init__(f"#{number} says exactly this already. Update it instead.", number=number)


class OnlyItsAuthor(Forbidden):
    """Making private is for the author alone."""

    def __init__(self, number: int) -> None:
        super().__init__(f"Only its author can make #{number} private.", number=number)


class BagRule(Invalid):
    """A rule of bags: one level, active, of one project, at least as visible, never critical."""

    def __init__(self, rule: str, sentence: str) -> None:
        super().__init__(sentence, fields={"parent": sentence}, rule=rule)


class LinkRule(Invalid):
    """A rule of links, superseding and merging."""

    def __init__(self, rule: str, field: str, sentence: str) -> None:
        super().__init__(sentence, fields={field: sentence}, rule=rule)


class NoSuchReview(NotFound):
    """Not there, or not for this reader."""

    def __init__(self, number: int) -> None:
        super().__init__(f"There is no review R{number} here that you can see.", review=f"R{number}")


class ReviewDecided(AlreadyDecided):
    """Somebody decided before."""

    def __init__(self, ref: str, status: str, by: str, at: dt.datetime | None) -> None:
        when = f" on {at.astimezone(dt.UTC):%Y-%m-%d}" if at else ""
        super().__init__(
            f"{ref} was {status} by {by}{when}. Nothing was changed now; propose anew what should differ.",
            review=ref,
            status=status,
            decided_by=by,
        )


class AlreadyProposed(Duplicate):
    """The proposer has an equal proposal waiting."""

    def __init__(self, ref: str) -> None:
        super().__init__(
            f"You proposed exactly this already: {ref} waits for a reviewer. Wait for the decision, or "
            f"withdraw it.",
            review=ref,
        )


class RejectedBefore(Duplicate):
    """An equal proposal of the proposer's was rejected."""

    def __init__(self, ref: str, note: str) -> None:
        super().__init__(
            f"{ref} proposed exactly this and was rejected: {note} If it is right now, send it again with a "
            f"reason that says what is different.",
            review=ref,
            note=note,
        )


class ProposalStale(Conflict):
    """What a proposal changes moved on since it was made. It keeps waiting, and nothing was overwritten."""

    def __init__(self, ref: str, what: str, **details: Any) -> None:
        super().__init__(
            f"{what} since {ref} was proposed. Nothing was changed. Reject it with a note, or let the "
            f"proposer withdraw it and propose the change on what stands there now.",
            review=ref,
            **details,
        )


class OwnProposal(Forbidden):
    """Somebody else has to approve it."""

    def __init__(self, ref: str, *, agent: bool) -> None:
        who = (
            "An agent never approves what its own user proposed. Decide it in the browser, or ask another "
            "reviewer."
            if agent
            else "The project asks for a second person. Ask another reviewer to approve it."
        )
        super().__init__(f"{ref} is your own proposal. {who}", review=ref)


class OnlyItsProposer(Forbidden):
    """Taking back is for the proposer alone."""

    def __init__(self, ref: str) -> None:
        super().__init__(
            f"Only its proposer withdraws {ref}. A reviewer rejects it, with a note.", review=ref
        )


class ProposerGone(Invalid):
    """The proposer may not write here any more, so the proposal can't be applied in his name."""

    def __init__(self, ref: str, name: str) -> None:
        super().__init__(
            f"{name} may not write in this project any more, so {ref} can't be applied. Reject it, and make "
            f"the change yourself if it is right.",
            rule="proposer_may_write",
        )
        self.details["review"] = ref


class Unapplicable(Invalid):
    """The proposal breaks a rule now, in something that the approver may not see."""

    def __init__(self, ref: str) -> None:
        super().__init__(
            f"{ref} can't be applied: something that it names and you can't see stands in the way. Reject "
            f"it; the proposer learns why by proposing it again.",
            rule="proposal_applies",
        )
        self.details["review"] = ref
