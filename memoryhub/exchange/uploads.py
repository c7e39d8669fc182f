"""What the page for importing takes: kinds of files, which apps register at start-up.

A kind is a subclass of `UploadKind`; `register_upload(MyKind())` in an app's `ready()` is all it takes. The
page asks the kinds in the order of `place` which of them recognises an uploaded file, shows the `Report` of
its `plan`, and calls its `apply` once somebody confirmed. Both run outside of any transaction, in the request
for small files and in a thread of the server for others, and may take minutes: tell `progress` how far they
are. Refusals are raised as DomainErrors and shown to whoever uploaded the file. The file is on disk under the
name that it was given, cut and cleaned, and goes once it was applied or discarded, or after a day.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from memoryhub.kernel.actor import Actor
from projects.models import Project

# What is being done, how much of it is done, and of how much.
Progress = Callable[[str, int, int], None]


@dataclass
class Report:
    """What an import would do or did, for a page. Plain data: it is kept with the upload.

    `counts` are rows of what and how many; `lines` a mark (one word or two) and a text each, in order, the
    first of them where there are `more`; `notes` are sentences. Nothing of a refused secret stands in them.
    """

    summary: str
    counts: list[tuple[str, str]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # Whether applying would change anything.
    changes: bool = True
    # How many lines there are beyond those that are kept.
    more: int = 0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class UploadKind(ABC):
    """One kind of file that can be imported."""

    # A short word that is kept with the upload, what people call it, and what they read about it.
    name: ClassVar[str]
    label: ClassVar[str]
    says: ClassVar[str]
    # Lower ones are asked first: those that are surest of what they see.
    place: ClassVar[int] = 50

    @abstractmethod
    def recognises(self, file: Path) -> bool:
        """Whether this is a file of this kind, by its name and first bytes. Reads little, raises nothing."""

    @abstractmethod
    def plan(self, *, actor: Actor, project: Project, file: Path, progress: Progress) -> Report:
        """What importing it would do. Changes nothing. Raises DomainError where it is refused whole."""

    @abstractmethod
    def apply(self, *, actor: Actor, project: Project, file: Path, progress: Progress) -> Report:
        """Import it. Raises DomainError."""


_kinds: dict[str, UploadKind] = {}


def register_upload(kind: UploadKind) -> None:
    """Let the page take a kind of file."""
    _kinds[kind.name] = kind


def upload_kinds() -> list[UploadKind]:
    """Those that are registered, in the order in which they are asked."""
    return sorted(_kinds.values(), key=lambda kind: (kind.place, kind.name))


def kind_of(file: Path) -> UploadKind | None:
    """The first kind that recognises a file."""
    return next((kind for kind in upload_kinds() if kind.recognises(file)), None)


def kind_named(name: str) -> UploadKind | None:
    return _kinds.get(name)
