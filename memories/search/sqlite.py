"""The index on SQLite: an FTS5 table used as an inverted file.

An entry's tokens stand in the column that is named after how often they occur, so that
one row of `fts5vocab` is one posting with its frequency, without positions. FTS5's own
ranking and query language are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.db import connection

from memories.search.analyse import WORD_PUNCTUATION
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
    Stored,
    Weighted,
    counted,
    order,
    pruned,
)
from memories.search.scopes import of_project

COLUMNS = tuple(f"f{frequency}" for frequency in FREQUENCIES)

# Each write leaves a segment, and each word is looked for in every segment. Four are merged into one, where
# FTS5 would wait for sixteen: a write costs the same over time, and a look at the index a quarter less.
MERGE_EARLY = "INSERT INTO memories_search_fts (memories_search_fts, rank) VALUES ('crisismerge', 4)"

# Of the index, written in one transaction: some 10 ms, for which writers hardly wait.
MERGED_PAGES = 64

# `ascii` takes every character beyond ASCII as part of a token, and folds only ASCII,
# where ours are lower case already.
CREATE = (
    "CREATE TABLE memories_searchentry"
    " (memory_id integer PRIMARY KEY, scope text NOT NULL, length integer NOT NULL)",
    "CREATE TABLE memories_searchtotal (scope text PRIMARY KEY,"
    " documents integer NOT NULL, length integer NOT NULL) WITHOUT ROWID",
    f"CREATE VIRTUAL TABLE memories_search_fts USING fts5({', '.join(COLUMNS)},"
    f" detail=column, columnsize=0, tokenize=\"ascii tokenchars '{WORD_PUNCTUATION}'\")",
    MERGE_EARLY,
    "CREATE VIRTUAL TABLE memories_search_terms USING fts5vocab(memories_search_fts, row)",
    "CREATE VIRTUAL TABLE memories_search_postings USING fts5vocab(memories_search_fts, instance)",
)
DROP = (
    "DROP TABLE IF EXISTS memories_search_postings",
    "DROP TABLE IF EXISTS memories_search_terms",
    "DROP TABLE IF EXISTS memories_search_fts",
    "DROP TABLE IF EXISTS memories_searchtotal",
    "DROP TABLE IF EXISTS memories_searchentry",
)

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
_TERMS = " || ' ' || ".join(COLUMNS)
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


def create(cursor: Cursor) -> None:
    for statement in CREATE:
        cursor.execute(statement)


def drop(cursor: Cursor) -> None:
    for statement in DROP:
        cursor.execute(statement)


def store(
    cursor: Cursor, memory_id: int, scoped_terms: Sequence[str], length: int, *, is_counted: bool = True
) -> None:
    """Index a memory under what `ranking.scoped` gives for it. Nothing of it is there yet.

    Uncounted ones want a `recount` before the transaction ends.
    """
    scope = scoped_terms[0].partition(":")[0]
    columns: dict[int, list[str]] = {frequency: [] for frequency in FREQUENCIES}
    for token, frequency in counted(scoped_terms[1:]).items():
        columns[frequency].append(token)
    cursor.execute(
        "INSERT INTO memories_searchentry (memory_id, scope, length) VALUES (%s, %s, %s)",
        [memory_id, scope, length],
    )
    if is_counted:
        cursor.execute(
            "INSERT INTO memories_searchtotal (scope, documents, length) VALUES (%s, 1, %s)"
            " ON CONFLICT (scope) DO UPDATE SET documents = documents + 1,"
            " length = length + excluded.length",
            [scope, length],
        )
    cursor.execute(
        f"INSERT INTO memories_search_fts (rowid, {', '.join(COLUMNS)})"  # noqa: S608
        f" VALUES ({', '.join(['%s'] * (len(COLUMNS) + 1))})",
        [memory_id, *(" ".join(tokens) for tokens in columns.values())],
    )


def remove(cursor: Cursor, memory_id: int, *, is_counted: bool = True) -> None:
    """Take a memory out of the index. Uncounted, a `recount` follows before the transaction ends."""
    cursor.execute("SELECT scope, length FROM memories_searchentry WHERE memory_id = %s", [memory_id])
    entry = cursor.fetchone()
    if entry is None:
        return
    scope, length = entry
    cursor.execute("DELETE FROM memories_searchentry WHERE memory_id = %s", [memory_id])
    cursor.execute("DELETE FROM memories_search_fts WHERE rowid = %s", [memory_id])
    if is_counted:
        cursor.execute(
            "UPDATE memories_searchtotal SET documents = documents - 1, length = length - %s"
            " WHERE scope = %s",
            [length, scope],
        )


def purge(cursor: Cursor) -> None:
    """Leave no trace of what was removed: FTS5 keeps a word until its segment is merged."""
    cursor.execute("INSERT INTO memories_search_fts (memories_search_fts) VALUES ('optimize')")


def tidied(cursor: Cursor, *, first: bool) -> bool:
    """One small step of merging all that writes left into one segment, in which words are found five times as
    fast; `first` begins anew. False where nothing is left to do.
    """
    before = _changes(cursor)
    cursor.execute(
        "INSERT INTO memories_search_fts (memories_search_fts, rank) VALUES ('merge', %s)",
        [-MERGED_PAGES if first else MERGED_PAGES],
    )
    # The statement itself counts as one: https://www.sqlite.org/fts5.html#the_merge_command
    return _changes(cursor) - before > 1


def _changes(cursor: Cursor) -> int:
    cursor.execute("SELECT total_changes()")
    [changes] = cursor.fetchone() or (0,)
    return int(str(changes))


def stored(cursor: Cursor, memory_id: int) -> Stored | None:
    """What the index holds of a memory, to compare with what it should hold."""
    cursor.execute("SELECT scope, length FROM memories_searchentry WHERE memory_id = %s", [memory_id])
    entry = cursor.fetchone()
    cursor.execute(
        f"SELECT {', '.join(COLUMNS)} FROM memories_search_fts WHERE rowid = %s",  # noqa: S608
        [memory_id],
    )
    row = cursor.fetchone()
    if entry is None or row is None:
        return None
    held = {token: step for step, text in zip(FREQUENCIES, row, strict=True) for token in str(text).split()}
    return Stored(str(entry[0]), int(str(entry[1])), held)


def terms_of(cursor: Cursor, ids: Sequence[int]) -> list[tuple[int, str]]:
    """The scoped terms of some entries, in one text each."""
    cursor.execute(
        f"SELECT rowid, {_TERMS} FROM memories_search_fts WHERE rowid IN ({_places('%s', len(ids))})",  # noqa: S608
        ids,
    )
    return [(int(str(entry_id)), str(terms)) for entry_id, terms in cursor.fetchall()]


def known(cursor: Cursor) -> set[int]:
    """The ids of all entries."""
    cursor.execute("SELECT memory_id FROM memories_searchentry")
    return {int(str(memory_id)) for (memory_id,) in cursor.fetchall()}


def totals(cursor: Cursor, project_id: int | None = None) -> set[tuple[str, int, int]]:
    """The scopes, of one project or all, whose kept totals are off: by how many documents, by what length."""
    within, params = of_project("scope", project_id)
    cursor.execute(
        "SELECT scope, sum(documents), sum(length) FROM ("  # noqa: S608 (conditions of ours)
        f" SELECT scope, documents, length FROM memories_searchtotal WHERE {within} UNION ALL"
        f" SELECT scope, -1, -length FROM memories_searchentry WHERE {within}"
        ") AS both_sides GROUP BY scope HAVING sum(documents) <> 0 OR sum(length) <> 0",
        [*params, *params],
    )
    return {(str(scope), int(str(many)), int(str(length))) for scope, many, length in cursor.fetchall()}


def recount(cursor: Cursor, project_id: int | None = None) -> None:
    """Count the totals of all scopes anew, or of one project's, whose lock the caller holds."""
    within, params = of_project("scope", project_id)
    cursor.execute(f"DELETE FROM memories_searchtotal WHERE {within}", params)  # noqa: S608
    cursor.execute(
        "INSERT INTO memories_searchtotal (scope, documents, length)"  # noqa: S608
        f" SELECT scope, count(*), sum(length) FROM memories_searchentry WHERE {within} GROUP BY scope",
        params,
    )


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
            f"WITH wanted(name) AS (VALUES {_places('(%s)', len(words))})"  # noqa: S608
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
    """What reads the best hits among the rows that `admitted` (id, number, superseded) lets through, to be
    called once; `first` is where the entries of their type begin, and every token is of that type.
    """

    def asked(number: int) -> Callable[[], list[Hit]]:
        return partial(_rank, terms, number, average, admitted, limit, first, with_terms)

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
        sql = _WITH_TERMS.format(terms=_TERMS, first=first, ranked=sql)

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
    return f"VALUES {_places('(%s, %s, %s, %s, %s, %s)', rows + missing)}", params, distinct


def _places(one: str, many: int) -> str:
    return ", ".join([one] * many)
