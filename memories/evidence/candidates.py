"""Which memories a draft is compared with: at most twenty, from the index, in a fixed number of queries.

Rare words find them. *Informative* is a term that at most the larger of `INFORMATIVE_MIN` and 2 % of
the entries have. What those find comes first; what shares only common words fills the rest, so that a
memory of nothing but common words is found as well. Document frequencies are read in the scope of the
draft alone: other people's private memories change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.db.models import F

from memories.models import Memory, Visibility
from memories.querysets import MemoryQuerySet
from memories.search.analyse import QUERY_MAX_TERMS, QueryTerm
from memories.search.engine import cursor as index_cursor
from memories.search.engine import engine, scope_of
from memories.search.ranking import DOCUMENTS, Hit, idf, needed, unscoped, weigh
from memoryhub.kernel.compiled import Compiled, padded
from memoryhub.kernel.snapshots import answer_soon
from projects.models import Project

EVALUATED_MAX = 20
INFORMATIVE_MIN = 3
INFORMATIVE_PERCENT = 2
# Words are weighed as if there were at least so many entries: in a store of three, one that a memory has
# would weigh next to nothing beside one that none has.
WEIGHED_MIN = 20
# More terms of one draft are not looked up, and the search isn't exhaustive then.
TERMS_MAX = 300


@dataclass(frozen=True)
class Scope:
    """What a draft is compared with: the index's scopes, and the memories in use there."""

    indexed: tuple[str, ...]
    memories: MemoryQuerySet

    @classmethod
    def of(cls, project: Project, seen: MemoryQuerySet, visibility: str, author_id: int) -> Scope:
        """A private draft's: its author's private memories; any other's: shared and public ones.

        `seen` is what the actor may see of the project, and nothing else is ever compared.
        """
        if visibility == Visibility.PRIVATE:
            own = seen.active().filter(visibility=Visibility.PRIVATE, author=author_id)
            return cls((scope_of(project.pk, visibility, author_id),), own)
        open_ones = (Visibility.PUBLIC, Visibility.SHARED)
        indexed = tuple(scope_of(project.pk, each, author_id) for each in open_ones)
        return cls(indexed, seen.active().filter(visibility__in=open_ones))


@dataclass(frozen=True)
class Candidates:
    """What the index answered."""

    ids: tuple[int, ...] = ()
    # The informative terms matched no more than were evaluated, and no term was left out.
    exhaustive: bool = True
    # Of these ids more shared the draft's common words than were evaluated.
    of_many: frozenset[int] = frozenset()
    documents: int = 0
    frequencies: dict[str, int] = field(default_factory=dict)

    def weight(self, term: str) -> float:
        """The idf of a term of the draft; of any other word that of one that a single memory has."""
        return idf(max(self.documents, WEIGHED_MIN), self.frequencies.get(term, 1))


def find_candidates(terms: Sequence[str], scope: Scope) -> Candidates:
    """The memories that share most with `terms`, best first."""
    cut, terms = len(terms) > TERMS_MAX, terms[:TERMS_MAX]
    counted = engine().ask_frequencies(*needed([QueryTerm(term) for term in terms], scope.indexed))()
    documents = _count(counted, scope, DOCUMENTS)
    frequencies = {term: _count(counted, scope, term) for term in terms}
    if documents <= 0:
        return Candidates(frequencies=frequencies)
    limit = max(INFORMATIVE_MIN, documents * INFORMATIVE_PERCENT // 100)
    rare = [term for term in terms if frequencies[term] <= limit]
    finding = sorted((term for term in rare if frequencies[term]), key=lambda t: (frequencies[t], t))
    looked = finding[:QUERY_MAX_TERMS]
    found = _ranked(looked, scope, counted, EVALUATED_MAX + 1)
    ids = [hit.pk for hit in found[:EVALUATED_MAX]]
    of_many: frozenset[int] = frozenset()
    if len(ids) < EVALUATED_MAX:
        common = sorted((t for t in terms if frequencies[t] > limit), key=lambda t: (frequencies[t], t))
        more = _ranked(common[:QUERY_MAX_TERMS], scope, counted, EVALUATED_MAX + len(ids) + 1)
        others = [hit.pk for hit in more if hit.pk not in ids]
        if len(ids) + len(others) > EVALUATED_MAX:
            of_many = frozenset(others)
        ids += others[: EVALUATED_MAX - len(ids)]
    exhaustive = not cut and len(looked) == len(finding) and len(found) <= EVALUATED_MAX
    # With nothing informative in the draft there is no search that could have found everything.
    exhaustive = exhaustive and bool(rare or not of_many)
    return Candidates(tuple(ids), exhaustive, of_many, documents, frequencies)


def _count(counted: dict[str, int], scope: Scope, text: str) -> int:
    return sum(counted.get(f"{each}:{text}", 0) for each in scope.indexed)


def _ranked(terms: Sequence[str], scope: Scope, counted: dict[str, int], limit: int) -> list[Hit]:
    if not terms:
        return []
    question = weigh([QueryTerm(term) for term in terms], scope.indexed, counted)
    # `ask` orders equals by the third column before it prefers the newest: here by number. The
    # column is named as search names it, which puts superseded ones last by it.
    rows = scope.memories.order_by().annotate(superseded=F("number"))
    admitted = rows.values_list("id", "number", "superseded").query.sql_with_params()
    hits: list[Hit] = engine().ask(question.terms, question.average, admitted, limit)()
    return hits


def token_sets(ids: Sequence[int]) -> dict[int, frozenset[str]]:
    """The tokens of memories as the index holds them: stored on write, read by key on both engines."""
    if not ids:
        return {}
    with index_cursor() as cursor:
        rows = engine().terms_of(cursor, ids)
    return {memory_id: frozenset(unscoped(terms)) for memory_id, terms in rows}


# What is compared, what hints say of it, and by what `can_see` decides.
_COMPARED = ("project", "number", "kind", "title", "summary", "visibility", "author", "parent", "origin")
_by_id = Compiled(
    lambda **ids: (
        Memory.objects.filter(pk__in=list(ids.values()))
        .order_by()
        .only(*_COMPARED, "retrieval_hints")
        .prefetch_related("tags")
    )
)


def ask(ids: Sequence[int]) -> Callable[[], dict[int, Memory]]:
    """Asks for those memories with what is compared of them, no body, and gives what reads them, by id."""
    if not ids:
        return dict
    asked = _by_id.ask(**padded(ids)).with_parts_of(ids)
    answer_soon()
    return lambda: {memory.pk: memory for memory in asked.rows()}


def load(ids: Sequence[int]) -> list[Memory]:
    """The same at once, in this order."""
    by_id = ask(ids)()
    return [by_id[each] for each in ids if each in by_id]
