"""Asking over all projects at once: one ranking of what a reader may see, as people search from any page.

Every project's words stand in scopes of one index, so all of them are asked in as many queries as one: the
weight of a word is counted over all that the reader sees. Public memories of other projects are among it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q

from memories.search.analyse import QueryTerm, analyse_query, unfinished_starts
from memories.search.engine import cursor as index_cursor
from memories.search.engine import engine, projects_with_public
from memories.search.ranking import RANKED_MAX, Hit, Weighted, confident, needed, order, weigh, within
from memories.search.types import Searched, searched_types
from memoryhub.kernel import cursors
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

# More projects than these are not looked through: each word is asked for in every scope of each.
PROJECTS_MAX = 200
TERMS_MAX = 24
# Words in scopes that one statement ranks by; SQLite takes some 32,000 parameters, six for each of these.
RANKED_BY_MAX = 5_000


@dataclass(frozen=True)
class Where:
    """What is searched, as ids: projects that the reader is in, and others of which he reads what is public.

    `left_out` is how many there are beyond `PROJECTS_MAX`; his own come first.
    """

    mine: Sequence[int]
    others: Sequence[int] = ()
    left_out: int = 0

    @classmethod
    def in_project(cls, project: Project) -> Where:
        """One that was loaded for its member."""
        return cls([project.pk])

    @classmethod
    def everywhere(cls, reader: User) -> Where:
        """All that he may see anything of, in two queries."""
        mine = list(reader.memberships.order_by("project").values_list("project", flat=True))
        with index_cursor() as open_cursor:
            public = projects_with_public(open_cursor)
        others = sorted(public - set(mine))
        room = max(PROJECTS_MAX - len(mine), 0)
        left_out = max(len(mine) + len(others) - PROJECTS_MAX, 0)
        return cls(mine[:PROJECTS_MAX], others[:room], left_out)

    def scopes(self, searched: Searched, reader: User) -> list[str]:
        """Where the words of a type stand that the reader sees."""
        asked = [(pk, True) for pk in self.mine] + [(pk, False) for pk in self.others]
        return [scope for pk, member in asked for scope in searched.scopes(pk, reader.pk, member=member)]


@dataclass(frozen=True)
class FoundAnywhere:
    """A page of hits, each with its project loaded. `total` is exact up to 200; past it there are at least
    200.
    """

    items: Sequence[Any] = ()
    total: int = 0
    at_least: bool = False
    next_cursor: str | None = None
    no_confident_match: bool = True
    where: Where = field(default_factory=lambda: Where([]))
    # What the question came down to: what is marked in what was found.
    terms: Sequence[QueryTerm] = ()


def search_anywhere(
    where: Where, reader: User, query: str, *, limit: int, cursor: str = "", unfinished: bool = False
) -> FoundAnywhere:
    """What answers a question best, of memories, tasks and receipts, wherever they are.

    Of an `unfinished` question the last word may be the beginning of one. Any text is a question; one
    without words finds nothing. What a finished one finds comes with all its texts. Raises BadCursor.
    """
    bound = ["anywhere", reader.pk, sorted(where.mine), query]
    with read_snapshot():
        if cursor:
            state = cursors.decode(cursor, bound)
            terms = analyse_query(query)[:TERMS_MAX]
            found = _left(reader, state["of"], state["places"][:limit])
        else:
            hits, mass, terms = _hits(where, reader, query, RANKED_MAX + 1, unfinished=unfinished)
            best = hits[:RANKED_MAX]
            page = best if len(best) <= limit else best[:limit]
            found = _loaded(reader, page, whole=not unfinished)
            state = {
                "total": len(best),
                "at_least": len(hits) > RANKED_MAX,
                "unsure": not best or not confident(best[0][1].mass, mass),
                **_places(reader, best, found, limit),
            }
    return FoundAnywhere(
        items=found,
        total=state["total"],
        at_least=state["at_least"],
        next_cursor=_cursor(state, limit, bound),
        no_confident_match=state["unsure"],
        where=where,
        terms=terms,
    )


# --- ranking ------------------------------------------------------------------------------


def _hits(
    where: Where, reader: User, query: str, limit: int, *, unfinished: bool
) -> tuple[list[tuple[Searched, Hit]], float, list[QueryTerm]]:
    """The best hits of all types in one order, the idf mass of the whole question, and its terms."""
    terms = analyse_query(query)[:TERMS_MAX]
    scopes = {each: own for each in searched_types() if (own := where.scopes(each, reader))}
    asked = [scope for own in scopes.values() for scope in own]
    if not terms or not asked:
        return [], 0.0, terms
    starts = unfinished_starts(query) if unfinished else []
    known = engine().ask_frequencies(*needed([*terms, *starts], asked))()
    terms = _with_start(terms, starts, asked, known)
    question = weigh(terms, asked, known, scopes.values())
    answers: list[tuple[Searched, Callable[[], list[Hit]]]] = []
    for searched, own in scopes.items():
        there = _bounded(within(question.terms, own, known))
        if there:
            sql = searched.anywhere(reader).query.sql_with_params()
            answers.append((searched, engine().ask(there, question.average, sql, limit, searched.first)))
    found = [(searched, hit) for searched, read in answers for hit in read()]
    return sorted(found, key=lambda ranked: order(ranked[1]))[:limit], question.mass, terms


def _bounded(terms: Sequence[Weighted]) -> list[Weighted]:
    """The rarest words, as many as one statement takes: what the commonest would add changes little."""
    kept: list[Weighted] = []
    many = 0
    for term in terms:
        many += len(term.tokens)
        if kept and many > RANKED_BY_MAX:
            break
        kept.append(term)
    return kept


def _with_start(
    terms: Sequence[QueryTerm], starts: Sequence[QueryTerm], scopes: Sequence[str], known: Mapping[str, int]
) -> list[QueryTerm]:
    """The terms with the last word taken as a beginning: the longest of `starts` that any word has."""
    for start in starts:
        if any(known.get(f"{scope}:{start.text}") for scope in scopes):
            return [*(term for term in terms if term.text != starts[0].text), start]
    return list(terms)


# --- loading ------------------------------------------------------------------------------


def _loaded(reader: User, hits: Sequence[tuple[Searched, Hit]], *, whole: bool) -> list[Any]:
    """What the rows of a page show, in the order of the hits."""
    ids: dict[Searched, list[int]] = {}
    for searched, hit in hits:
        ids.setdefault(searched, []).append(hit.pk)
    items = {
        (searched, item.pk): item
        for searched, own in ids.items()
        for item in searched.ranked(reader, own, whole=whole)
    }
    found = [items[searched, hit.pk] for searched, hit in hits if (searched, hit.pk) in items]
    return _with_projects(found)


def _with_projects(items: list[Any]) -> list[Any]:
    """Each with its project, in one query."""
    projects = Project.objects.in_bulk({item.project_id for item in items})
    for item in items:
        item.project = projects[item.project_id]
    return items


def _left(reader: User, of: Sequence[str], places: Sequence[Sequence[int]]) -> list[Any]:
    """What is left of a page that was ranked before: of numbers in projects, in their order."""
    if not places:
        return []
    named = functools.reduce(
        operator.or_, (Q(project__slug=of[place], number=number) for place, number in places)
    )
    items = [
        item
        for searched in searched_types()
        if (ids := list(searched.anywhere(reader).filter(named).values_list("pk", flat=True)))
        for item in searched.ranked(reader, ids, whole=True)
    ]
    by_place = {(item.project.slug, item.number): item for item in _with_projects(items)}
    wanted = ((of[place], number) for place, number in places)
    return [by_place[one] for one in wanted if one in by_place]


# --- cursors ------------------------------------------------------------------------------


def _places(
    reader: User, best: Sequence[tuple[Searched, Hit]], found: Sequence[Any], limit: int
) -> dict[str, Any]:
    """Where all hits are, as later pages find them: the number in a project, never an id of ours."""
    if len(best) <= limit:
        return {"of": [], "places": []}
    slugs: dict[tuple[Searched, int], str] = {}
    for searched in {searched for searched, _ in best}:
        ids = [hit.pk for one, hit in best if one is searched]
        rows = searched.anywhere(reader).filter(pk__in=ids).values_list("pk", "project__slug")
        slugs |= {(searched, pk): slug for pk, slug in rows}
    of = sorted(set(slugs.values()))
    at = {slug: place for place, slug in enumerate(of)}
    places = [[at[slugs[one, hit.pk]], hit.number] for one, hit in best if (one, hit.pk) in slugs]
    return {"of": of, "places": places}


def _cursor(state: dict[str, Any], limit: int, bound: object) -> str | None:
    """That of the next page. Long names of many projects may leave room for fewer than there are."""
    left = state["places"][limit:]
    while left:
        used = sorted({place for place, _ in left})
        again = {place: number for number, place in enumerate(used)}
        of = [state["of"][place] for place in used]
        places = [[again[place], number] for place, number in left]
        cursor = cursors.encode({**state, "of": of, "places": places}, bound)
        if len(cursor) <= cursors.MAX_LENGTH:
            return cursor
        left = left[: len(left) // 2]
    return None
