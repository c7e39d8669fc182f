"""What higher apps learn of a write, in its transaction: they register a watcher at start-up.

So a table that is derived from memories (similar pairs, what changed in a bag) moves with them, and a
watcher may add a hint (`writing.say`), without this app importing upward.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memories.evidence import Near, near
from memories.models import Memory, Visibility
from projects.models import Project

if TYPE_CHECKING:
    from memories.services.writing import Writing


@dataclass(frozen=True)
class Was:
    """Where a memory stood before the write, and who could read it."""

    parent_id: int | None
    visibility: str
    status: str


@dataclass(frozen=True)
class Written:
    """One memory of a write, after it was stored. `was` is None for a new one."""

    writing: Writing
    memory: Memory
    changed: frozenset[str]
    was: Was | None = None
    # In the order given, where they are known; else they are read when asked for.
    tags: tuple[str, ...] | None = None
    # Its words as they were indexed in this write.
    tokens: frozenset[str] | None = None
    # The nearest, where they are known.
    found: Near | None = None

    @cached_property
    def near(self) -> Near:
        """What is nearest to the memory: asked once, for whoever needs it."""
        if self.found is not None:
            return self.found
        tags = self.memory.tag_names if self.tags is None else self.tags
        return near(self.memory, tags, self.tokens)

    @property
    def is_open(self) -> bool:
        """Whether members read it now."""
        return self.memory.visibility != Visibility.PRIVATE


Watcher = Callable[[Written], None]
_watchers: list[Watcher] = []
Forgetter = Callable[[Project], None]
_forgetters: list[Forgetter] = []
_PLACE = {"parent", "visibility", "status"}


def register_watcher(watcher: Watcher) -> None:
    """Call `watcher` after each memory that is stored or changed, under the project's lock."""
    _watchers.append(watcher)


def register_forgetter(forgetter: Forgetter) -> None:
    """Call `forgetter` after a text of the project was erased: what is kept of such texts goes, too."""
    _forgetters.append(forgetter)


def forget_kept(project: Project) -> None:
    """Let every app drop what it keeps of texts of this project."""
    for forgetter in _forgetters:
        forgetter(project)


def place_before(memory: Memory, changed: Mapping[str, Any]) -> Was:
    """Where the row stands now; one query, and none where the change moves nothing."""
    if not _PLACE & set(changed):
        return Was(memory.parent_id, memory.visibility, memory.status)
    rows = Memory.objects.filter(pk=memory.pk)
    return Was(*rows.values_list("parent_id", "visibility", "status").get())


def tell(written: Written) -> None:
    """Let every watcher know."""
    written.writing.told[written.memory.pk] = written
    for watcher in _watchers:
        watcher(written)
