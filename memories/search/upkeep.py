"""The index against what is to be found: finding drift, and making it anew while the hub serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from memories.keys import summary_key
from memories.models import SummaryKey
from memories.search import of_memories  # noqa: F401 - registers what is always there
from memories.search.engine import cursor, engine
from memories.search.ranking import Stored, counted, scoped
from memories.search.types import MEMORY, Searched, searched_types
from memoryhub.kernel.jobs import Stopped
from projects.models import Project

# Rows of one transaction: short enough that writers of the project hardly notice the lock.
BATCH = 50

Progress = Callable[[int, int], None]


@dataclass
class Drift:
    """Where the index and the rows differ. Entries by their ids: this is for the operator."""

    missing: list[int] = field(default_factory=list)
    different: list[int] = field(default_factory=list)
    left_over: list[int] = field(default_factory=list)
    # Scopes and words whose kept counts aren't those of the entries.
    totals: list[str] = field(default_factory=list)
    # Memories whose summary isn't found by what it says, or that are found by one they no longer have.
    summaries: list[int] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.missing or self.different or self.left_over or self.totals or self.summaries)


def tidy(stopped: Stopped) -> str:
    """Merge what the day's writes left in the index, step by step while others write. A line for the log."""
    steps = 0
    while not stopped():
        with transaction.atomic(), cursor() as open_cursor:
            if not engine().tidied(open_cursor, first=not steps):
                break
        steps += 1
    return f"Index: merged in {steps} steps" if steps else ""


def drift(project: Project | None = None) -> Drift:
    """Compare the words of everything that is to be found, and the summaries of memories, with what is kept
    of them, and the counts with the entries.

    Reads everything; writes nothing.
    """
    found = Drift()
    keys = _keys(project)
    with cursor() as open_cursor:
        held = engine().known(open_cursor)
        wanted: set[int] = set()
        here: set[int] = set()
        for searched in searched_types():
            wanted |= _entries(searched, searched.indexed(project))
            here |= _entries(searched, searched.rows(project)) if project else set()
            for row in searched.indexed(project).iterator(chunk_size=BATCH):
                entry_id = searched.first + row.pk
                if entry_id in held and engine().stored(open_cursor, entry_id) != _expected(searched, row):
                    found.different.append(entry_id)
                if searched.name == MEMORY and keys.pop(row.pk, "") != summary_key(row.summary):
                    found.summaries.append(row.pk)
        found.missing = sorted(wanted - held)
        found.left_over = sorted((held & here if project else held) - wanted)
        wrong = engine().totals(open_cursor, project.pk if project else None)
        found.totals = sorted(name for name, _, _ in wrong)
    # What is left is of memories that have none.
    found.summaries = sorted([*found.summaries, *keys])
    return found


def _entries(searched: Searched, rows: Any) -> set[int]:
    ids = rows.prefetch_related(None).order_by().values_list("pk", flat=True)
    return {searched.first + pk for pk in ids}


def _keys(project: Project | None) -> dict[int, str]:
    """The kept keys of summaries, by the ids of their memories."""
    kept = SummaryKey.objects.filter(memory__project=project) if project else SummaryKey.objects.all()
    return dict(kept.values_list("memory_id", "key"))


def _expected(searched: Searched, row: Any) -> Stored:
    scope, tokens = searched.words(row)
    return Stored(scope, len(tokens), counted(scoped(scope, tokens)[1:]))


def reindex(project: Project | None = None, *, progress: Progress | None = None) -> int:
    """Index everything that is to be found anew, in short transactions under the lock of its project, beside
    the running hub. Returns how many rows. What doesn't belong into the index leaves it, and the counts are
    made anew.
    """
    projects = [project] if project else list(Project.objects.all())
    total = sum(each.rows(project).count() for each in searched_types())
    done = 0
    for one in projects:
        for searched in searched_types():
            for batch in _batches(searched, one):
                _index_batch(one, searched, batch)
                done += len(batch)
                if progress:
                    progress(done, total)
    if project:
        _recount(project)
    else:
        _drop_left_over()
    return done


def _batches(searched: Searched, project: Project) -> Iterator[list[int]]:
    ids = sorted(entry_id - searched.first for entry_id in _entries(searched, searched.rows(project)))
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


@transaction.atomic
def _index_batch(project: Project, searched: Searched, ids: list[int]) -> None:
    Project.objects.select_for_update().get(pk=project.pk)
    for row in searched.rows(project).filter(pk__in=ids):
        searched.index(row)


@transaction.atomic
def _recount(project: Project) -> None:
    """After its entries: storing one counts on from what was there, right or wrong."""
    Project.objects.select_for_update().get(pk=project.pk)
    with cursor() as open_cursor:
        engine().recount(open_cursor, project.pk)


@transaction.atomic
def _drop_left_over() -> None:
    """Entries of rows that are no longer there, and totals counted anew."""
    with cursor() as open_cursor:
        # Before the rows: one that is written in between has an entry that isn't known here, and stays.
        known = engine().known(open_cursor)
        wanted = {entry for each in searched_types() for entry in _entries(each, each.indexed(None))}
        for entry_id in known - wanted:
            engine().remove(open_cursor, entry_id)
        engine().recount(open_cursor)
