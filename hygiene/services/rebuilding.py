"""Making anew what is derived from memories on write: after an upgrade, or for rows no service wrote.

Pairs and flaws follow from the memories, what changed in bags from their revisions.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import transaction

from hygiene.models import BagContents, Flaws, SimilarPair, Upkeep
from hygiene.services.flaws import flaws_of
from hygiene.services.operator import UPKEEP_SESSION
from hygiene.services.pairs import pairs_of
from memories.models import Memory, Revision, Visibility
from memoryhub.kernel.actor import ActorKind
from projects.models import Project

# Raised when what is derived changes, so that the next upkeep makes it anew.
DERIVED_VERSION = 1
# Memories of one transaction: short enough that writers of the project hardly notice the lock. Each is
# compared with what is near, which takes tens of milliseconds in a large store.
LOCKED = 10
BATCH = 50

Progress = Callable[[int, int], None]


def rebuild(project: Project, *, progress: Progress | None = None) -> int:
    """Derive everything of a project anew, in short transactions. Returns how many memories."""
    ids = list(Memory.objects.in_project(project).order_by("number").values_list("pk", flat=True))
    for start in range(0, len(ids), LOCKED):
        _batch(project, ids[start : start + LOCKED])
        if progress:
            progress(min(start + LOCKED, len(ids)), len(ids))
    _contents(project)
    Upkeep.objects.update_or_create(project=project, defaults={"derived_version": DERIVED_VERSION})
    return len(ids)


@transaction.atomic
def _batch(project: Project, ids: list[int]) -> None:
    Project.objects.select_for_update().get(pk=project.pk)
    memories = list(Memory.objects.filter(pk__in=ids).select_related("project").order_by("number"))
    Flaws.objects.filter(memory__in=ids).delete()
    found = [flaws_of(memory) for memory in memories if not memory.is_erased]
    Flaws.objects.bulk_create([flaws for flaws in found if flaws is not None])
    SimilarPair.objects.filter(second__in=ids).delete()
    for memory in memories:
        SimilarPair.objects.bulk_create(pairs_of(memory) if memory.is_active else [], ignore_conflicts=True)


@dataclass
class _Bag:
    """What the revisions say of one bag."""

    changed_at: dt.datetime | None = None
    is_by_hand: bool = False


@dataclass
class _Child:
    """Where a memory stands while its revisions are read."""

    parent: int = 0
    visibility: str = ""


@dataclass
class _Story:
    """The bags of a project by number, as the revisions of their children tell of them."""

    private: set[int]
    bags: dict[int, _Bag] = field(default_factory=dict)

    def note(self, bag: int, revision: Revision, seen_as: set[str], *, came: bool = False) -> None:
        if not bag or (seen_as == {Visibility.PRIVATE} and bag not in self.private):
            return
        entry = self.bags.setdefault(bag, _Bag())
        if revision.actor_kind == ActorKind.SYSTEM and revision.session == UPKEEP_SESSION:
            return
        entry.changed_at = max(entry.changed_at or revision.created_at, revision.created_at)
        entry.is_by_hand = entry.is_by_hand or came

    def read(self, child: _Child, revision: Revision) -> None:
        """One revision of a child."""
        said, was = revision.fields, child.visibility or revision.visibility
        parent = said.get("parent", 0 if "left_bag" in said else child.parent) or 0
        if parent != child.parent:
            self.note(child.parent, revision, {was})
            self.note(parent, revision, {was, revision.visibility}, came=True)
        elif was != revision.visibility or (child.visibility and {"title", "summary"} & set(said)):
            self.note(parent, revision, {was, revision.visibility})
        child.parent, child.visibility = parent, revision.visibility


@transaction.atomic
def _contents(project: Project) -> None:
    Project.objects.select_for_update().get(pk=project.pk)
    here = Memory.objects.in_project(project)
    private = here.filter(visibility=Visibility.PRIVATE).values_list("number", flat=True)
    story, children = _Story(set(private)), dict[int, _Child]()
    revisions = Revision.objects.in_project(project).order_by("memory", "version")
    for revision in revisions.iterator(chunk_size=BATCH):
        story.read(children.setdefault(revision.memory_id, _Child()), revision)
    BagContents.objects.filter(bag__project=project).delete()
    for start in range(0, len(story.bags), BATCH):
        _store(project, dict(list(story.bags.items())[start : start + BATCH]))


def _store(project: Project, bags: dict[int, _Bag]) -> None:
    rows = Memory.objects.in_project(project).with_numbers(bags).only("number", "summary_changed_at")
    BagContents.objects.bulk_create(
        BagContents(
            bag=row,
            changed_at=bags[row.number].changed_at or row.summary_changed_at,
            is_by_hand=bags[row.number].is_by_hand,
        )
        for row in rows
    )
