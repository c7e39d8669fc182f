"""Asking SQLite's index: which entries have the words, and how well they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from memories.search.ranking import (
    DOCUMENTS,
    FREQUENCIES,
    K1,
    LENGTH,
    RANKED_MAX,
    SCORE_DIGITS,
    B,
    Cursor,
    Hit,
    Weighted,
    order,
    pruned,
)

COLUMNS = tuple(f"f{frequency}" for frequency in FREQUENCIES)

_POSTINGS = """
    SELECT {distinct} wanted.number, wanted.idf, wanted.mass, posting.doc AS memory_id,
           CASE wanted.prefix WHEN 0 THEN CAST(substr(posting.col, 2) AS integer) ELSE 1 END
             AS frequency
    FROM {wanted} AS wanted CROSS JOIN memories_search_postings AS posting
    WHERE posting.term >= wanted.first AND posting.term <= wanted.last"""
_RANK = """
WITH finder(number, first, last, prefix, idf, mass) AS ({finders}),
     adder(number, first, last, prefix, idf, mass) AS ({adders}),
     {posting},
     scored AS MATERIALIZED (
         SELECT posting.memory_id,
                round(sum(posting.idf * posting.frequency * {k1_and_1}
                      / (posting.frequency + {k1} * ({rest} + {b} * entry.length / %s))), {digits})
                  AS score,
                sum(posting.mass) AS mass
         FROM posting
         CROSS JOIN memories_searchentry AS entry ON entry.memory_id = posting.memory_id
         GROUP BY posting.memory_id
     )
SELECT admitted.id, admitted.number, scored.score, scored.mass, admitted.superseded
FROM scored CROSS JOIN ({admitted}) AS admitted ON admitted.id = {row}
WHERE scored.score >= coalesce((SELECT score FROM scored ORDER BY score DESC LIMIT 1 OFFSET %s), 0)
ORDER BY score DESC, admitted.superseded, admitted.number DESC
LIMIT %s
"""
TERMS = " || ' ' || ".join(COLUMNS)
# The terms of what is shown alone: each is read from a wide row.
_WITH_TERMS = """
SELECT ranked.*, (SELECT {terms} FROM memories_search_fts WHERE rowid = ranked.id + {first})
FROM ({ranked}) AS ranked
"""
_FOUND = "posting AS ({found})"
_FOUND_AND_ADDED = """
     found AS MATERIALIZED ({found}),
     posting AS (
         SELECT * FROM found
         UNION ALL
         SELECT * FROM ({added}) WHERE memory_id IN (SELECT memory_id FROM found)
     )"""
# Each that is asked about is a row of a wide table, and nearly all that are found may be shown: where there
# are this many times as many as are wanted, so many more are enough to ask about.
_MANY, _MARGIN = 3, 20
_EVERY = 1_000_000_000
# Statements of a few lengths, which a connection keeps, rather than one for every number of words, which it
# would have to compile each time: that takes as long as finding a common word. No word is empty.
_STEP = 8
_NONE = "SELECT 0, '', '', 0, 0.0, 0.0 WHERE 0"
_LAST = "\U0010ffff"


def ask_frequencies(
    scoped_terms: Sequence[str], scoped_starts: Sequence[str] = ()
) -> Callable[[], dict[str, int]]:
    """In how many entries each token is now, and of a scope what `*` and `**` stand for; to be called."""
    cursor: Any = connection.cursor()
    known = _frequencies(cursor, scoped_terms, scoped_starts)
    return lambda: known


def _frequencies(cursor: Cursor, scoped_terms: Sequence[str], scoped_starts: Sequence[str]) -> dict[str, int]:
    answer: dict[str, int] = {}
    scopes = sorted({term.partition(":")[0] for term in (*scoped_terms, *scoped_starts)})
    cursor.execute(
        "SELECT scope, documents, length FROM memories_searchtotal"  # noqa: S608
        f" WHERE documents > 0 AND scope IN ({', '.join(['%s'] * len(scopes))})",
        scopes,
    )
    for scope, documents, length in cursor.fetchall():
        answer[f"{scope}:{DOCUMENTS}"] = int(str(documents))
        answer[f"{scope}:{LENGTH}"] = int(str(length))
    # Asking the index for a word costs the same whether it is there or not.
    words = [term for term in scoped_terms if _has_documents(term, answer) and term not in answer]
    if words:
        words += [""] * (-len(words) % _STEP)
        cursor.execute(
            f"WITH wanted(name) AS (VALUES {places('(%s)', len(words))})"  # noqa: S608
            " SELECT wanted.name, term.doc FROM wanted"
            " CROSS JOIN memories_search_terms AS term WHERE term.term = wanted.name",
            words,
        )
        answer |= {str(name): int(str(documents)) for name, documents in cursor.fetchall()}
    starts = [(start, start, start + _LAST) for start in scoped_starts if _has_documents(start, answer)]
    if starts:
        cursor.execute(
            f"WITH wanted(name, first, last) AS (VALUES {', '.join(['(%s, %s, %s)'] * len(starts))})"  # noqa: S608
            " SELECT wanted.name, sum(term.doc) FROM wanted"
            " CROSS JOIN memories_search_terms AS term"
            " WHERE term.term >= wanted.first AND term.term <= wanted.last GROUP BY wanted.name",
            [value for row in starts for value in row],
        )
        answer |= {str(name): int(str(documents)) for name, documents in cursor.fetchall()}
    return answer


def _has_documents(term: str, answer: dict[str, int]) -> bool:
    return f"{term.partition(':')[0]}:{DOCUMENTS}" in answer


def ask(
    terms: Sequence[Weighted],
    average: float,
    admitted: tuple[str, Sequence[object]],
    limit: int = RANKED_MAX,
    first: int = 0,
    *,
    with_terms: bool = False,
) -> Callable[[], list[Hit]]:
    """Finds the best hits among the rows that `admitted` (id, number, superseded) lets through, at once, and
    gives what reads them; `first` is where the entries of their type begin, and every token is of that type.
    """

    def asked(number: int) -> Callable[[], list[Hit]]:
        hits = _rank(terms, number, average, admitted, limit, first, with_terms)
        return lambda: hits

    return pruned(terms, limit, asked)


def _rank(
    terms: Sequence[Weighted],
    number: int,
    average: float,
    admitted: tuple[str, Sequence[object]],
    limit: int,
    first: int,
    with_terms: bool,
) -> list[Hit]:
    finders_sql, finders_params, finders_distinct = _wanted(terms[:number])
    adders_sql, adders_params, adders_distinct = _wanted(terms[number:])
    posting = (_FOUND_AND_ADDED if adders_params else _FOUND).format(
        found=_POSTINGS.format(wanted="finder", distinct=finders_distinct),
        added=_POSTINGS.format(wanted="adder", distinct=adders_distinct),
    )
    sql = _RANK.format(
        finders=finders_sql,
        adders=adders_sql,
        posting=posting,
        admitted=admitted[0],
        row=f"scored.memory_id - {first}" if first else "scored.memory_id",
        k1=K1,
        k1_and_1=K1 + 1,
        rest=1 - B,
        b=B,
        digits=SCORE_DIGITS,
    )
    if with_terms:
        sql = _WITH_TERMS.format(terms=TERMS, first=first, ranked=sql)

    def asked(best: int) -> list[Hit]:
        params = [*finders_params, *adders_params, average, *admitted[1], best, limit]
        with connection.cursor() as cursor:
            cursor.execute(sql, params)  # type: ignore[arg-type]
            hits = [Hit(*row) for row in cursor.fetchall()]
        # What stands around the ranking needn't keep its order.
        return sorted(hits, key=order) if with_terms else hits

    if sum(term.documents for term in terms[:number]) > _MANY * limit:
        hits = asked(limit + _MARGIN)
        if len(hits) >= limit:
            return hits
    return asked(_EVERY)


def _wanted(terms: Sequence[Weighted]) -> tuple[str, list[object], str]:
    """Rows of (number, first, last, prefix, idf, mass), and whether postings may repeat."""
    params: list[object] = []
    rows = 0
    for number, term in enumerate(terms):
        for token in term.tokens:
            last = token + _LAST if term.prefix else token
            params += [number, token, last, int(term.prefix), term.idf, term.mass]
            rows += 1
    if not rows:
        return _NONE, [], ""
    missing = -rows % _STEP
    params += [0, "", "", 0, 0.0, 0.0] * missing
    distinct = "DISTINCT" if any(term.prefix for term in terms) else ""
    return f"VALUES {places('(%s, %s, %s, %s, %s, %s)', rows + missing)}", params, distinct


def places(one: str, many: int) -> str:
    return ", ".join([one] * many)
