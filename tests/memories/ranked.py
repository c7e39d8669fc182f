"""The ranking as plain Python: what both engines have to answer, computed without an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memories.models import Status
from memories.search.analyse import analyse_query
from memories.search.filters import SearchFilter
from memories.search.ranking import SCORE_DIGITS, idf, saturation, step
from memories.search.types import searched_types
from projects.models import Project
from tasks.models.task import FINISHED


def ranked(project: Project, scopes: Sequence[str], query: str, wanted: SearchFilter) -> list[int]:
    """The numbers of what answers a question, best first: all rows read, each scored by itself."""
    asked = [each for each in searched_types() if wanted.asks_for(each.name) and each.fits(wanted)]
    found = []
    for each in asked:
        for row in each.indexed(project):
            scope, tokens = each.words(row)
            if scope in scopes:
                found.append((each.name, row, Counter(tokens)))
    measured = next((name for name in (one.name for one in asked) if name in {f[0] for f in found}), "")
    lengths = [words.total() for name, _, words in found if name == measured]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    terms = [term.text for term in analyse_query(query) if not term.prefix]
    having = {term: sum(term in words for _, _, words in found) for term in terms}
    hits = []
    for _, row, words in found:
        score = sum(
            idf(len(found), having[term]) * saturation(step(words[term]), words.total(), average)
            for term in terms
            if term in words
        )
        if score:
            last = getattr(row, "status", "") in (Status.SUPERSEDED, *FINISHED)
            hits.append((-round(score, SCORE_DIGITS), last, -row.number))
    return [-number for _, _, number in sorted(hits)]
