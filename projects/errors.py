"""Why something about projects, members and tokens may not be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoryhub.kernel.errors import Conflict, Forbidden, NotFound


class NoSuchProject(NotFound):
    """Not there, or not for this reader."""

    def __init__(self, slug: str = "") -> None:
        super().__init__(
            f"There is no project {slug!r} that you can see." if slug else "There is no such project."
        )


class RoleTooLow(Forbidden):
    """A member, but not of the role that this needs."""

    def __init__(self, need: str) -> None:
        super().__init__(f"This needs the role of {need} in the project. Ask one of its owners.", need=need)


class RightMissing(Forbidden):
    """The token was made without this right."""

    def __init__(self, right: str) -> None:
        super().__init__(
            f"The access token has no {right} right. Make one that has it on the Connect page.", right=right
        )


class ProjectArchived(Forbidden):
    """An archived project is read, not written."""

    def __init__(self) -> None:
        super().__init__("The project is archived; nothing in it changes. An owner can restore it.")


class SettingsMoved(Conflict):
    """Somebody else changed the same settings meanwhile: `details.fields` says what they are now."""

    def __init__(self, now: Mapping[str, Any]) -> None:
        self.now = now
        fields = {name: f"Somebody changed it meanwhile; it is now: {value}." for name, value in now.items()}
        names = ", ".join(name.replace("_", " ") for name in fields)
        super().__init__(
            f"Somebody else changed this meanwhile: {names}. Nothing is saved; look at both and save again.",
            fields=fields,
        )
