"""Asking the index: ranked lists that page without repeating or skipping."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet

from memories.search import of_memories  # noqa: F401 - registers what is always there
from memories.search.analyse import QUERY_MAX_TERMS, analyse_query
from memories.search.engine import engine
from memories.search.filters import SearchFilter
from memories.search.ranking import RANKED_MAX, Hit, confident, needed, order, weigh, within
from memories.search.types import MEMORY, Searched, searched_types, type_of
from memoryhub.kernel import cursors
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

QUERY_MAX_LENGTH = 2000
MODE = "lexical"


@dataclass(frozen=True)
class Found:
    """A page of hits. `total` is exact up to 200; past it there are at least 200."""

    # Memories, tasks and receipts, in the order of the ranking.
    items: Sequence[Any]
    total: int
    at_least: bool
    next_cursor: str | None
    no_confident_match: bool

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The items as rows of a list, each marked with its type."""
        return [type_of(item).row(item) for item in self.items]

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


class _Ranked(NamedTuple):
    """A hit and the type that it is of."""

    searched: Searched
    hit: Hit


def search_memories(
    project: Project, reader: User, query: str, wanted: SearchFilter, *, limit: int, cursor: str = ""
) -> Found:
    """The memories, tasks and receipts that answer a question best, of those the reader may see, in one
    ranking; `wanted.types` may ask for memories alone.

    The first page ranks; its cursor carries the order of the rest, so that later pages hold whatever
    is written meanwhile. Any text is a question; one without words finds nothing. Raises Invalid.
    """
    if not query.strip():
        raise Invalid(fields={"query": "Required: words or a question."})
    bound = ["search", reader.pk, project.pk, query, asdict(wanted)]
    with read_snapshot(ahead=True):
        if cursor:
            state = cursors.decode(cursor, bound)
            page = _left(project, reader, wanted, state["numbers"][:limit])
        else:
            hits, state = _ranked(project, reader, query, wanted)
            page = _loaded(reader, hits[:limit])
        numbers = state["numbers"]
        rows = {item.number: item for item in page}
    left = numbers[limit:]
    return Found(
        items=[rows[number] for number in numbers[:limit] if number in rows],
        total=state["total"],
        at_least=state["at_least"],
        next_cursor=cursors.encode({**state, "numbers": left}, bound) if left else None,
        no_confident_match=state["unsure"],
    )


def best_matches(project: Project, reader: User, query: str) -> dict[int, int]:
    """By id, the place of the active memories that fit `query` best: what `focus` moves ahead."""
    wanted = SearchFilter(types=[MEMORY], include_superseded=False)
    hits, _ = _hits(project, reader, query, wanted, RANKED_MAX)
    return {ranked.hit.pk: place for place, ranked in enumerate(hits)}


def _ranked(
    project: Project, reader: User, query: str, wanted: SearchFilter
) -> tuple[list[_Ranked], dict[str, Any]]:
    """The best 200, and their order as numbers with what the answer says of them."""
    hits, mass = _hits(project, reader, query, wanted, RANKED_MAX + 1)
    best = hits[:RANKED_MAX]
    return best, {
        "numbers": [ranked.hit.number for ranked in best],
        "total": len(best),
        "at_least": len(hits) > RANKED_MAX,
        "unsure": not best or not confident(best[0].hit.mass, mass),
    }


def _loaded(reader: User, hits: Sequence[_Ranked]) -> list[Any]:
    """What a page that was just ranked shows."""
    ids: dict[Searched, list[int]] = {}
    for searched, hit in hits:
        ids.setdefault(searched, []).append(hit.pk)
    asked = [searched.ask_rows(reader, own) for searched, own in ids.items()]
    return [item for fetched in [each.fetch() for each in asked] for item in fetched.rows()]


def _left(project: Project, reader: User, wanted: SearchFilter, numbers: Sequence[int]) -> list[Any]:
    """What is left of a page that was ranked before."""
    return [
        item for searched in _asked_for(wanted) for item in searched.left(project, reader, wanted, numbers)
    ]


def _asked_for(wanted: SearchFilter) -> list[Searched]:
    """The types that are looked through: of the others no word counts."""
    return [each for each in searched_types() if wanted.asks_for(each.name) and each.fits(wanted)]


def _hits(
    project: Project, reader: User, query: str, wanted: SearchFilter, limit: int
) -> tuple[list[_Ranked], float]:
    """The best hits of all types in one order, and the idf mass of the whole question."""
    terms = analyse_query(query)[:QUERY_MAX_TERMS]
    if not terms:
        return [], 0.0
    member = getattr(project, "role", None) is not None or reader.memberships.filter(project=project).exists()
    scopes = {each: each.scopes(project.pk, reader.pk, member=member) for each in _asked_for(wanted)}
    asked = [scope for own in scopes.values() for scope in own]
    if not asked:
        return [], 0.0
    known = engine().ask_frequencies(*needed(terms, asked))()
    question = weigh(terms, asked, known, scopes.values())
    answers: list[tuple[Searched, Callable[[], list[Hit]]]] = []
    for searched, own in scopes.items():
        there = within(question.terms, own, known)
        sql = _admitted(searched, project, reader, wanted) if there else None
        if sql is not None:
            answers.append((searched, engine().ask(there, question.average, sql, limit, searched.first)))
    # Each type's come best first.
    found = [map(partial(_Ranked, searched), read()) for searched, read in answers]
    merged = heapq.merge(*found, key=lambda ranked: order(ranked.hit))
    return list(islice(merged, limit)), question.mass


def _admitted(
    searched: Searched, project: Project, reader: User, wanted: SearchFilter
) -> tuple[str, Sequence[object]] | None:
    """What of a type may be a hit; None where no row can be."""
    try:
        return searched.admitted_sql(project, reader, wanted)
    except EmptyResultSet:
        return None
