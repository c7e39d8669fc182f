"""The index on PostgreSQL: a tsvector of our own tokens under GIN.

Positions carry no place, only how often a token occurs: the n-th step of a frequency is
the positions 1 to n. `ts_rank` of one lexeme is then sum(1/i^2, i = 1..n) / (pi^2/6), from
which n comes back exactly, so that both engines compute the same score. Document
frequencies are kept in a table of their own: counting them at each question would read
every memory that has the word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memories.search.ranking import (
    DOCUMENTS,
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

# PostgreSQL refuses a tsvector above 1 MB. A memory that has more goes into several
# parts: it has several rows, and no word of it is left out.
PART_MAX_BYTES = 900_000

_ARGUMENTS = (
    "asked_any tsquery, asked_each tsquery[], asked_tokens integer[], asked_prefix boolean[],"
    " asked_idf float8[], asked_mass float8[], asked_average float8"
)
# The entries that have any of the words, scored by all of them. Every row that matches is read once, where
# the index found it; of the few memories with several parts the others come along.
_SCORED = f"""
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest(asked_each, asked_tokens, asked_prefix, asked_idf, asked_mass)
        AS each(query, tokens, prefix, idf, mass)
)
SELECT entry.memory_id,
       round(sum(term.idf * term.frequency * {K1 + 1}::float8
             / (term.frequency
                + {K1}::float8 * ({1 - B}::float8 + {B}::float8 * entry.length / asked_average))
           )::numeric, {SCORE_DIGITS})::float8,
       sum(term.mass)
FROM (
    SELECT matching.memory_id, matching.length, matching.terms
    FROM memories_searchentry AS matching WHERE matching.terms @@ asked_any
    UNION ALL
    SELECT part.memory_id, part.length, part.terms
    FROM memories_searchentry AS second
    JOIN memories_searchentry AS part ON part.memory_id = second.memory_id AND NOT part.terms @@ asked_any
    WHERE second.part = 2 AND EXISTS (
        SELECT FROM memories_searchentry AS matching
        WHERE matching.memory_id = second.memory_id AND matching.terms @@ asked_any
    )
) AS entry
-- All terms of one memory after the other: its tsvector is long, and is read once.
CROSS JOIN LATERAL (
    SELECT matched.idf, matched.mass, CASE WHEN matched.prefix THEN 1.0::float8
        -- sum(1/i^2, i = 1..n) is pi^2/6 - 1/(n + 1/2) but for less than rounding takes away
        ELSE round(1 / (1.6449340668482264 * (1 - matched.rank::float8)) - 0.5) END AS frequency
    FROM (
        SELECT each.idf, each.mass, each.prefix,
               each.tokens * ts_rank('{{1,1,1,1}}', entry.terms, each.query) AS rank
        FROM wanted AS each
        OFFSET 0
    ) AS matched WHERE matched.rank > 0
    OFFSET 0
) AS term
GROUP BY entry.memory_id
"""  # noqa: S608 (constants of ours)

CREATE = (
    "CREATE TABLE memories_searchentry (memory_id bigint NOT NULL, part smallint NOT NULL,"
    ' scope text COLLATE "C" NOT NULL, length integer NOT NULL, terms tsvector NOT NULL,'
    " PRIMARY KEY (memory_id, part)) WITH (toast_tuple_target = 8160)",
    "ALTER TABLE memories_searchentry ALTER terms SET STORAGE EXTERNAL",
    # Without fastupdate a search never has to read a list of what is not indexed yet.
    "CREATE INDEX memories_searchentry_terms ON memories_searchentry"
    " USING gin (terms) WITH (fastupdate = off)",
    'CREATE TABLE memories_searchterm (term text COLLATE "C" PRIMARY KEY,'
    " documents integer NOT NULL) WITH (fillfactor = 70)",
    'CREATE TABLE memories_searchtotal (scope text COLLATE "C" PRIMARY KEY,'
    " documents integer NOT NULL, length bigint NOT NULL) WITH (fillfactor = 50)",
)
# What came later than the tables, by a migration of its own. The planner takes reading a tsvector for cheap,
# and would rather read them all.
CREATE_SCORED = (
    f"CREATE OR REPLACE FUNCTION memories_search_scored({_ARGUMENTS})"
    " RETURNS TABLE (memory_id bigint, score float8, mass float8)"
    " LANGUAGE sql STABLE ROWS 500 SET enable_seqscan = off SET enable_indexscan = off"
    f" SET enable_indexonlyscan = off AS $body${_SCORED}$body$"
)
CREATE_PARTS = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS memories_searchentry_parts"
    " ON memories_searchentry (memory_id) WHERE part = 2"
)

DROP = (
    "DROP FUNCTION IF EXISTS memories_search_candidates(tsquery)",
    f"DROP FUNCTION IF EXISTS memories_search_scored({_ARGUMENTS})",
    "DROP TABLE IF EXISTS memories_searchtotal",
    "DROP TABLE IF EXISTS memories_searchterm",
    "DROP TABLE IF EXISTS memories_searchentry",
)

_ENTER = """
INSERT INTO memories_searchentry (memory_id, part, scope, length, terms)
SELECT %s::bigint, part.number, %s::text, %s::integer, part.terms
FROM unnest(%s::text[]::tsvector[]) WITH ORDINALITY AS part(terms, number)
"""
_STORE = f"""
WITH entry AS ({_ENTER}), term AS (
    INSERT INTO memories_searchterm (term, documents)
    SELECT term, 1 FROM unnest(%s::text[]) AS new(term)
    ON CONFLICT (term) DO UPDATE SET documents = memories_searchterm.documents + 1
)
INSERT INTO memories_searchtotal (scope, documents, length) VALUES (%s, 1, %s)
ON CONFLICT (scope) DO UPDATE SET
    documents = memories_searchtotal.documents + 1,
    length = memories_searchtotal.length + excluded.length
"""  # noqa: S608 (constants of ours)
_LEAVE = "DELETE FROM memories_searchentry WHERE memory_id = %s"
_REMOVE = f"""
WITH gone AS (
    {_LEAVE} RETURNING part, scope, length, terms
), word AS (
    SELECT unnest(tsvector_to_array(terms)) AS term FROM gone
), dropped AS (
    DELETE FROM memories_searchterm AS known USING word
    WHERE known.term = word.term AND known.documents <= 1
), lowered AS (
    UPDATE memories_searchterm AS known SET documents = known.documents - 1 FROM word
    WHERE known.term = word.term AND known.documents > 1
)
UPDATE memories_searchtotal AS total
SET documents = total.documents - 1, length = total.length - gone.length
FROM gone WHERE gone.part = 1 AND total.scope = gone.scope
"""  # noqa: S608 (constants of ours)
_FREQUENCIES = """
SELECT term, documents FROM memories_searchterm WHERE term = ANY(%s)
UNION ALL
SELECT wanted.start, found.documents FROM unnest(%s::text[]) AS wanted(start)
CROSS JOIN LATERAL (
    SELECT sum(documents)::bigint AS documents FROM memories_searchterm
    WHERE term >= wanted.start AND term <= wanted.start || U&'\\+10FFFF'
) AS found WHERE found.documents IS NOT NULL
UNION ALL
SELECT scope || %s::text, documents FROM memories_searchtotal WHERE scope = ANY(%s)
UNION ALL
SELECT scope || %s::text, length FROM memories_searchtotal WHERE scope = ANY(%s)
"""
# Each best one is looked up by its key, and no more than are wanted: a plan that is kept for any parameters
# would rather read all memories of the project first.
_RANK = """
SELECT admitted.id, admitted.number, best.score, best.mass, admitted.superseded
FROM (
    SELECT * FROM memories_search_scored(%s::tsquery, %s::tsquery[], %s::integer[], %s::boolean[],
                                         %s::float8[], %s::float8[], %s::float8)
    ORDER BY score DESC OFFSET 0
) AS best
CROSS JOIN LATERAL (
    SELECT one.* FROM ({admitted}) AS one WHERE one.id = {row} OFFSET 0
) AS admitted
ORDER BY best.score DESC FETCH FIRST %s ROWS WITH TIES
"""


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

    The caller holds the project's lock: two writers of one project would wait for each
    other's terms. Uncounted ones want a `recount` before the transaction ends.
    """
    scope = scoped_terms[0].partition(":")[0]
    frequencies = counted(scoped_terms[1:])
    parts = list(_parts(frequencies))
    if not is_counted:
        cursor.execute(_ENTER, [memory_id, scope, length, parts])
        return
    terms = sorted(frequencies)
    cursor.execute(_STORE, [memory_id, scope, length, parts, terms, scope, length])


def remove(cursor: Cursor, memory_id: int, *, is_counted: bool = True) -> None:
    """Take a memory out of the index. Uncounted, a `recount` follows before the transaction ends."""
    cursor.execute(_REMOVE if is_counted else _LEAVE, [memory_id])


def purge(cursor: Cursor) -> None:
    """Nothing to do: `remove` deletes rows, and vacuum what is left of them."""


def tidied(cursor: Cursor, *, first: bool) -> bool:
    """Nothing is left to do: the index is kept whole by every write, and vacuum does the rest."""
    return False


def stored(cursor: Cursor, memory_id: int) -> Stored | None:
    """What the index holds of a memory, to compare with what it should hold."""
    cursor.execute(
        "SELECT entry.scope, entry.length, word.lexeme, cardinality(word.positions)"
        " FROM memories_searchentry AS entry LEFT JOIN LATERAL unnest(entry.terms) AS word ON true"
        " WHERE entry.memory_id = %s",
        [memory_id],
    )
    rows = cursor.fetchall()
    if not rows:
        return None
    held = {str(lexeme): int(str(many)) for _, _, lexeme, many in rows if lexeme is not None}
    return Stored(str(rows[0][0]), int(str(rows[0][1])), held)


def known(cursor: Cursor) -> set[int]:
    """The ids of all entries."""
    cursor.execute("SELECT DISTINCT memory_id FROM memories_searchentry")
    return {int(str(memory_id)) for (memory_id,) in cursor.fetchall()}


def totals(cursor: Cursor, project_id: int | None = None) -> set[tuple[str, int, int]]:
    """Scopes and terms, of one project or all, whose kept totals differ from what is stored: name,
    documents, length.
    """
    scopes, params = of_project("scope", project_id)
    terms, _ = of_project("term", project_id)
    cursor.execute(
        "SELECT scope, sum(documents), sum(length) FROM ("  # noqa: S608 (conditions of ours)
        f" SELECT scope, documents, length FROM memories_searchtotal WHERE {scopes} UNION ALL"
        f" SELECT scope, -1, -length FROM memories_searchentry WHERE part = 1 AND {scopes}"
        ") AS both_sides GROUP BY scope HAVING sum(documents) <> 0 OR sum(length) <> 0"
        " UNION ALL "
        "SELECT term, sum(documents), 0 FROM ("
        f" SELECT term, documents FROM memories_searchterm WHERE {terms} UNION ALL"
        f" SELECT unnest(tsvector_to_array(terms)), -1 FROM memories_searchentry WHERE {scopes}"
        ") AS both_sides GROUP BY term HAVING sum(documents) <> 0",
        params * 4,
    )
    return {(str(name), int(str(many)), int(str(length))) for name, many, length in cursor.fetchall()}


def recount(cursor: Cursor, project_id: int | None = None) -> None:
    """Count the totals of all scopes and terms anew, or of one project's, whose lock the caller holds.

    For all of them every writer waits for the moment that this takes.
    """
    if project_id is None:
        cursor.execute("LOCK TABLE memories_searchentry IN SHARE MODE")
    scopes, params = of_project("scope", project_id)
    terms, _ = of_project("term", project_id)
    cursor.execute(f"DELETE FROM memories_searchtotal WHERE {scopes}", params)  # noqa: S608
    cursor.execute(
        "INSERT INTO memories_searchtotal (scope, documents, length)"  # noqa: S608
        " SELECT scope, count(*), sum(length) FROM memories_searchentry"
        f" WHERE part = 1 AND {scopes} GROUP BY scope",
        params,
    )
    cursor.execute(f"DELETE FROM memories_searchterm WHERE {terms}", params)  # noqa: S608
    cursor.execute(
        "INSERT INTO memories_searchterm (term, documents) SELECT term, count(*) FROM"  # noqa: S608
        " (SELECT unnest(tsvector_to_array(terms)) AS term"
        f" FROM memories_searchentry WHERE {scopes}) AS word GROUP BY term",
        params,
    )


def frequencies(
    cursor: Cursor, scoped_terms: Sequence[str], scoped_starts: Sequence[str] = ()
) -> dict[str, int]:
    """In how many memories each token is, and of a scope what `*` and `**` stand for."""
    totals, terms = [], []
    for term in scoped_terms:
        scope, _, token = term.partition(":")
        if token in (DOCUMENTS, LENGTH):
            totals.append(scope)
        else:
            terms.append(term)
    cursor.execute(
        _FREQUENCIES,
        [terms, list(scoped_starts), f":{DOCUMENTS}", totals, f":{LENGTH}", totals],
    )
    return {str(term): int(str(documents)) for term, documents in cursor.fetchall()}


def rank(
    cursor: Cursor,
    terms: Sequence[Weighted],
    average: float,
    admitted: tuple[str, Sequence[object]],
    limit: int = RANKED_MAX,
    first: int = 0,
) -> list[Hit]:
    """The best hits among the rows that `admitted` (id, number, superseded) lets through; `first` is where
    the entries of their type begin, and every token is of that type.
    """
    return pruned(terms, limit, lambda number: _rank(cursor, terms, number, average, admitted, limit, first))


def _rank(
    cursor: Cursor,
    terms: Sequence[Weighted],
    number: int,
    average: float,
    admitted: tuple[str, Sequence[object]],
    limit: int,
    first: int,
) -> list[Hit]:
    queries = [_query(term) for term in terms]
    cursor.execute(
        _RANK.format(admitted=admitted[0], row=f"best.memory_id - {first}" if first else "best.memory_id"),
        [
            " | ".join(queries[:number]),
            queries,
            [len(term.tokens) for term in terms],
            [term.prefix for term in terms],
            [term.idf for term in terms],
            [term.mass for term in terms],
            average,
            *admitted[1],
            limit,
        ],
    )
    # Ties came along: which of them are first is told by what is known of them now.
    hits = [Hit(*row) for row in cursor.fetchall()]  # type: ignore[arg-type]
    return sorted(hits, key=order)[:limit]


def _query(term: Weighted) -> str:
    return " | ".join(_quoted(token) + (":*" if term.prefix else "") for token in term.tokens)


def _quoted(token: str) -> str:
    return "'" + token.replace("\\", "\\\\") + "'"


def _parts(frequencies: dict[str, int]) -> Iterator[str]:
    """Text forms of the tsvectors that hold these tokens, each small enough."""
    lexemes: list[str] = []
    size = 0
    for token, frequency in frequencies.items():
        # As `tsvectorin` counts: the bytes, aligned, the number of positions, and these.
        needed = len(token.encode()) + 4 + 2 * frequency
        if size + needed > PART_MAX_BYTES:
            yield " ".join(lexemes)
            lexemes, size = [], 0
        lexemes.append(f"{_quoted(token)}:{','.join(map(str, range(1, frequency + 1)))}")
        size += needed
    yield " ".join(lexemes)
