"""Asking the index: ranked lists that page without repeating or skipping."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import Case, IntegerField, QuerySet, Value, When

from memories.listing import MemoryFilter
from memories.models import Memory, Status
from memories.parts import with_finding
from memories.querysets import MemoryQuerySet
from memories.scopes import covering_paths
from memories.search.analyse import QUERY_MAX_TERMS, analyse_query
from memories.search.engine import cursor as index_cursor
from memories.search.engine import engine, scopes_for
from memories.search.ranking import RANKED_MAX, Hit, confident, needed, weigh
from memories.search.types import MEMORY
from memoryhub.kernel import cursors
from memoryhub.kernel.compiled import Compiled, padded
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

QUERY_MAX_LENGTH = 2000
MODE = "lexical"


@dataclass(frozen=True)
class SearchFilter:
    """What a search is narrowed to, before anything is ranked."""

    # Of `types.SEARCHED_TYPES`; none named are all of them. Memories alone are found so far.
    types: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    tags_match: str = "all"
    path: str | None = None
    since: dt.datetime | None = None
    before: dt.datetime | None = None
    include_superseded: bool = True
    # One of those in the index alone; None is what `include_superseded` says.
    status: str | None = None
    weight: str | None = None
    visibility: str | None = None
    origin: str | None = None
    author: str | None = None
    # The name of a rule of hygiene.
    finding: str | None = None
    # What a list is narrowed to, in its own words.
    listed: MemoryFilter | None = None

    def within(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """The memories that fit. Raises Invalid for a path that can't be one."""
        used = [Status.ACTIVE, Status.SUPERSEDED] if self.include_superseded else [Status.ACTIVE]
        exact = {
            "status": self.status,
            "weight": self.weight,
            "visibility": self.visibility,
            "origin": self.origin,
            "author__username__iexact": self.author,
        }
        found = memories.filter(
            status__in=used, **{name: value for name, value in exact.items() if value is not None}
        )
        if self.kinds:
            found = found.filter(kind__in=self.kinds)
        if self.tags:
            found = found.tagged([tag.lower() for tag in self.tags], all_of_them=self.tags_match != "any")
        if self.path is not None:
            try:
                found = found.covering(covering_paths(self.path))
            except ValueError as wrong:
                raise Invalid(fields={"path": str(wrong)}) from None
        return found.touched(since=self.since, before=self.before)


@dataclass(frozen=True)
class Found:
    """A page of hits. `total` is exact up to 200; past it there are at least 200."""

    items: Sequence[Memory]
    total: int
    at_least: bool
    next_cursor: str | None
    no_confident_match: bool

    def answer(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The page with its rows, as doors answer it."""
        total = {"total_at_least": self.total} if self.at_least else {"total": self.total}
        more = {"next_cursor": self.next_cursor} if self.next_cursor else {}
        return {
            "items": list(rows),
            **total,
            "has_more": self.next_cursor is not None,
            **more,
            "no_confident_match": self.no_confident_match,
            "mode": MODE,
        }


def search_memories(
    project: Project, reader: User, query: str, wanted: SearchFilter, *, limit: int, cursor: str = ""
) -> Found:
    """The memories that answer a question best, of those the reader may see.

    The first page ranks; its cursor carries the order of the rest, so that later pages hold whatever
    is written meanwhile. Any text is a question; one without words finds nothing. Raises Invalid.
    """
    if not query.strip():
        raise Invalid(fields={"query": "Required: words or a question."})
    bound = ["search", reader.pk, project.pk, query, asdict(wanted)]
    with read_snapshot():
        if cursor:
            state = cursors.decode(cursor, bound)
            seen = _seen(project, reader, wanted)
            page = list(seen.for_rows(reader).filter(number__in=state["numbers"][:limit]))
        else:
            hits, state = _ranked(project, reader, query, wanted)
            page = _rows_of(reader, hits[:limit])
        numbers = state["numbers"]
        rows = {memory.number: memory for memory in page}
    left = numbers[limit:]
    return Found(
        items=[rows[number] for number in numbers[:limit] if number in rows],
        total=state["total"],
        at_least=state["at_least"],
        next_cursor=cursors.encode({**state, "numbers": left}, bound) if left else None,
        no_confident_match=state["unsure"],
    )


def _seen(project: Project, reader: User, wanted: SearchFilter) -> MemoryQuerySet:
    """What a search goes over: what the reader may see and the filter lets pass."""
    found = wanted.within(Memory.objects.in_project(project).visible_to(reader))
    found = wanted.listed.within(found, reader) if wanted.listed else found
    return with_finding(found, project, reader, wanted.finding)


def _ranked(
    project: Project, reader: User, query: str, wanted: SearchFilter
) -> tuple[list[Hit], dict[str, Any]]:
    """The best 200, and their order as numbers with what the answer says of them."""
    hits, mass = _hits(project, reader, query, wanted, RANKED_MAX + 1)
    best = hits[:RANKED_MAX]
    return best, {
        "numbers": [hit.number for hit in best],
        "total": len(best),
        "at_least": len(hits) > RANKED_MAX,
        "unsure": not best or not confident(best[0].mass, mass),
    }


def _rows_of(reader: User, hits: Sequence[Hit]) -> list[Memory]:
    """The memories of a page that was just ranked, with what a row shows."""
    return _rows.rows(reader=reader.pk, **padded([hit.memory_id for hit in hits])) if hits else []


def best_matches(project: Project, reader: User, query: str) -> dict[int, int]:
    """By id, the place of the active memories that fit `query` best: what `focus` moves ahead."""
    hits, _ = _hits(project, reader, query, SearchFilter(include_superseded=False), RANKED_MAX)
    return {hit.memory_id: place for place, hit in enumerate(hits)}


def _hits(
    project: Project, reader: User, query: str, wanted: SearchFilter, limit: int
) -> tuple[list[Hit], float]:
    """The best hits, and the idf mass of the whole question."""
    terms = analyse_query(query)[:QUERY_MAX_TERMS]
    if not terms:
        return [], 0.0
    member = getattr(project, "role", None) is not None or reader.memberships.filter(project=project).exists()
    scopes = scopes_for(project.pk, reader.pk, member=member)
    with index_cursor() as open_cursor:
        exact, starts = needed(terms, scopes)
        question = weigh(terms, scopes, engine().frequencies(open_cursor, exact, starts))
        if not question.terms:
            return [], question.mass
        sql = _admitted_sql(project, reader, wanted)
        return engine().rank(open_cursor, question.terms, question.average, sql, limit), question.mass


def _admitted_sql(project: Project, reader: User, wanted: SearchFilter) -> tuple[str, Sequence[Any]]:
    """What may be a hit: (id, number, superseded). Most searches narrow nothing, and ask the same."""
    for usual, compiled in _USUAL:
        if wanted == usual:
            return compiled.sql(project=project.pk, reader=reader.pk)
    return _admitted(project, reader, wanted).query.sql_with_params()


def _admitted(project: Project, reader: User, wanted: SearchFilter) -> QuerySet[Memory, Any]:
    superseded = Case(
        When(status=Status.SUPERSEDED, then=Value(1)), default=Value(0), output_field=IntegerField()
    )
    seen = _seen(project, reader, wanted).order_by()
    return seen.annotate(superseded=superseded).values_list("id", "number", "superseded")


def _usual(wanted: SearchFilter) -> tuple[SearchFilter, Compiled[Any]]:
    return wanted, Compiled(lambda project, reader: _admitted(Project(pk=project), User(pk=reader), wanted))


_USUAL = [
    _usual(SearchFilter()),
    _usual(SearchFilter(types=[MEMORY])),
    _usual(SearchFilter(include_superseded=False)),
]


def _page(reader: int, **ids: int) -> MemoryQuerySet:
    user = User(pk=reader)
    return Memory.objects.visible_to(user).for_rows(user).filter(pk__in=list(ids.values()))


_rows = Compiled(_page)
