"""Why something about memories may not be done. Each sentence says what to do instead."""

from __future__ import annotations

from memoryhub.kernel.errors import Conflict, Duplicate, Forbidden, Invalid, NotFound


class NoSuchMemory(NotFound):
    """Not there, or not for this reader."""

    def __init__(self, number: int) -> None:
        super().__init__(f"There is no #{number} here that you can see.", number=number)


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
