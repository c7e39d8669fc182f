"""Why something about work in flight may not be done. Each sentence says what to do instead."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from memoryhub.kernel.errors import AlreadyClaimed, Conflict, Invalid, NotFound
from memoryhub.kernel.text import printable


class NoSuchTask(NotFound):
    """Not there, or not for this reader."""

    def __init__(self, number: int) -> None:
        super().__init__(f"There is no task #{number} here that you can see.", number=number)


class NoSuchReceipt(NotFound):
    """Not there, or not for this reader."""

    def __init__(self, number: int) -> None:
        super().__init__(f"There is no receipt #{number} here that you can see.", number=number)


class NoSuchCheckpoint(NotFound):
    """The reader has no checkpoint of the stream; whether somebody else has is not told."""

    def __init__(self, stream: str) -> None:
        super().__init__(f"You have no checkpoint of the stream {printable(stream)!r} here.", stream=stream)


class TaskMovedOn(Conflict):
    """Somebody changed the task since it was read."""

    def __init__(self, number: int, current: int, expected: int, changed: Iterable[str]) -> None:
        changed = list(changed)
        super().__init__(
            f"#{number} is now at version {current}, you edited version {expected}; changed since: "
            f"{', '.join(changed) or 'nothing'}. Read it again and repeat the change.",
            number=number,
            current_version=current,
            expected_version=expected,
            changed=changed,
        )


class ClaimedByAnother(AlreadyClaimed):
    """Another session holds the claim."""

    def __init__(self, number: int, by: str, until: dt.datetime) -> None:
        at = until.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        super().__init__(
            f"#{number} is claimed by {by} in another session until {at}. Take another task that is ready, "
            f"or come back when the claim has lapsed; its holder or a reviewer may release it.",
            number=number,
            claimed_by=by,
            claim_until=at,
        )


class TaskRule(Invalid):
    """A rule of tasks: no circles, only unfinished ones are claimed."""

    def __init__(self, rule: str, field: str, sentence: str) -> None:
        super().__init__(sentence, fields={field: sentence}, rule=rule)


class CheckpointMovedOn(Conflict):
    """Another session saved the checkpoint since it was read, or it isn't known which version was read."""

    def __init__(self, stream: str, current: int, expected: int | None, changed: Iterable[str]) -> None:
        changed = list(changed)
        if not current:
            sentence = f"There is no checkpoint of the stream {stream!r} yet. Leave expected_version out."
        elif expected is None:
            sentence = (
                f"The checkpoint of {stream!r} is at version {current}, saved by another session. Read it "
                f"(continuity_context with detail full), then save with expected_version."
            )
        else:
            sentence = (
                f"The checkpoint of {stream!r} is now at version {current}, you edited version {expected}; "
                f"it differs from yours in: {', '.join(changed) or 'nothing'}. Read it again, then save."
            )
        super().__init__(
            sentence, stream=stream, current_version=current, expected_version=expected, changed=changed
        )
