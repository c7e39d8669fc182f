"""The index against the memories: finding drift, and making the index anew while the hub serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import transaction

from memories.keys import summary_key
from memories.models import Memory, Status, SummaryKey
from memories.querysets import MemoryQuerySet
from memories.search.engine import cursor, engine, scope_of
from memories.search.indexing import document_tokens, index
from memories.search.ranking import Stored, counted, scoped
from projects.models import Project

# Memories of one transaction: short enough that writers of the project hardly notice the lock.
BATCH = 50

Progress = Callable[[int, int], None]


@dataclass
class Drift:
    """Where the index and the memories differ. Numbers are ids: this is for the operator."""

    missing: list[int] = field(default_factory=list)
    different: list[int] = field(default_factory=list)
    left_over: list[int] = field(default_factory=list)
    # Scopes and words whose kept counts aren't those of the entries.
    totals: list[str] = field(default_factory=list)
    # Memories whose summary isn't found by what it says, or that are found by one they no longer have.
    summaries: list[int] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.missing or self.different or self.left_over or self.totals or self.summaries)


def indexed(project: Project | None = None) -> MemoryQuerySet:
    """The memories that belong into the index: in use or superseded, not erased."""
    found = Memory.objects.exclude(status=Status.ARCHIVED).filter(erased_at=None)
    return found.in_project(project) if project else found


def drift(project: Project | None = None) -> Drift:
    """Compare every memory's words and summary with what is kept of them, and the counts with the entries.

    Reads everything; writes nothing.
    """
    found = Drift()
    keys = _keys(project)
    wanted = set(indexed(project).values_list("pk", flat=True))
    with cursor() as open_cursor:
        held = engine().known(open_cursor)
        found.missing = sorted(wanted - held)
        known_here = set(Memory.objects.in_project(project).values_list("pk", flat=True)) if project else held
        found.left_over = sorted((held & known_here) - wanted)
        for memory in indexed(project).prefetch_related("tags").iterator(chunk_size=BATCH):
            stored = engine().stored(open_cursor, memory.pk)
            if memory.pk in held and stored != _expected(memory):
                found.different.append(memory.pk)
            if keys.pop(memory.pk, "") != summary_key(memory.summary):
                found.summaries.append(memory.pk)
        wrong = engine().totals(open_cursor, project.pk if project else None)
        found.totals = sorted(name for name, _, _ in wrong)
    # What is left is of memories that have none.
    found.summaries = sorted([*found.summaries, *keys])
    return found


def _keys(project: Project | None) -> dict[int, str]:
    """The kept keys of summaries, by the ids of their memories."""
    kept = SummaryKey.objects.filter(memory__project=project) if project else SummaryKey.objects.all()
    return dict(kept.values_list("memory_id", "key"))


def _expected(memory: Memory) -> Stored:
    tokens = document_tokens(memory, memory.tag_names)
    scope = scope_of(memory.project_id, memory.visibility, memory.author_id)
    return Stored(scope, len(tokens), counted(scoped(scope, tokens)[1:]))


def reindex(project: Project | None = None, *, progress: Progress | None = None) -> int:
    """Index every memory anew, in short transactions under the lock of its project, beside the running
    hub. Returns how many. What doesn't belong into the index leaves it, and the counts are made anew.
    """
    projects = [project] if project else list(Project.objects.all())
    total = Memory.objects.filter(project__in=projects).count()
    done = 0
    for one in projects:
        for batch in _batches(one):
            _index_batch(one, batch)
            done += len(batch)
            if progress:
                progress(done, total)
    if project:
        _recount(project)
    else:
        _drop_left_over()
    return done


def _batches(project: Project) -> Iterator[list[int]]:
    ids = list(Memory.objects.in_project(project).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


@transaction.atomic
def _index_batch(project: Project, ids: list[int]) -> None:
    Project.objects.select_for_update().get(pk=project.pk)
    for memory in Memory.objects.filter(pk__in=ids).prefetch_related("tags"):
        index(memory, tags=memory.tag_names)


@transaction.atomic
def _recount(project: Project) -> None:
    """After its entries: storing one counts on from what was there, right or wrong."""
    Project.objects.select_for_update().get(pk=project.pk)
    with cursor() as open_cursor:
        engine().recount(open_cursor, project.pk)


@transaction.atomic
def _drop_left_over() -> None:
    """Entries of memories that are no longer there, and totals counted anew."""
    with cursor() as open_cursor:
        for memory_id in engine().known(open_cursor) - set(indexed().values_list("pk", flat=True)):
            engine().remove(open_cursor, memory_id)
        engine().recount(open_cursor)
