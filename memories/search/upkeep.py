"""The index against the memories: finding drift, and making the index anew while the hub serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import transaction

from memories.models import Memory, Status
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
    totals: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.missing or self.different or self.left_over or self.totals)


def indexed(project: Project | None = None) -> MemoryQuerySet:
    """The memories that belong into the index: in use or superseded, not erased."""
    found = Memory.objects.exclude(status=Status.ARCHIVED).filter(erased_at=None)
    return found.in_project(project) if project else found


def drift(project: Project | None = None) -> Drift:
    """Compare every memory's words with those of the index. Reads everything; writes nothing."""
    found = Drift()
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
        if project is None:
            found.totals = sorted(name for name, _, _ in engine().totals(open_cursor))
    return found


def _expected(memory: Memory) -> Stored:
    tokens = document_tokens(memory, memory.tag_names)
    scope = scope_of(memory.project_id, memory.visibility, memory.author_id)
    return Stored(scope, len(tokens), counted(scoped(scope, tokens)[1:]))


def reindex(project: Project | None = None, *, progress: Progress | None = None) -> int:
    """Index every memory anew, in short transactions under the lock of its project, beside the running
    hub. Returns how many. What doesn't belong into the index leaves it.
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
    if project is None:
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
def _drop_left_over() -> None:
    """Entries of memories that are no longer there, and totals counted anew."""
    with cursor() as open_cursor:
        for memory_id in engine().known(open_cursor) - set(indexed().values_list("pk", flat=True)):
            engine().remove(open_cursor, memory_id)
        engine().recount(open_cursor)
