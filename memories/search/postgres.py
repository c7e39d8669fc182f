"""The index on PostgreSQL: a tsvector of our own tokens under GIN.

Positions carry no place, only how often a token occurs: the n-th step of a frequency is
the positions 1 to n. `ts_rank` of one lexeme is then sum(1/i^2, i = 1..n) / (pi^2/6), from
which n comes back exactly, so that both engines compute the same score. Document
frequencies are kept in a table of their own: counting them at each question would read
every memory that has the word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

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
    Stored,
    Weighted,
    counted,
    order,
    pruned,
)
from memories.search.scopes import of_project
from memoryhub.kernel.snapshots import answer_soon

# PostgreSQL refuses a tsvector above 1 MB. A memory that has more goes into several
# parts: it has several rows, and no word of it is left out.
PART_MAX_BYTES = 900_000

_ARGUMENTS = (
    "asked_any tsquery, asked_each tsquery[], asked_tokens integer[], asked_prefix boolean[],"
    " asked_idf float8[], asked_mass float8[], asked_average float8, asked_finders integer"
)
# The entries that have any of the finders, scored by all words. The index finds the entries of each finder,
# so that a word is looked for in a tsvector that has it; what the others add is looked for in each entry.
_WEIGHED = f"""
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest(asked_each, asked_tokens, asked_prefix, asked_idf, asked_mass) WITH ORDINALITY
        AS each(query, tokens, prefix, idf, mass, number)
)
SELECT term.memory_id,
       round({10**SCORE_DIGITS} * sum(term.idf * term.frequency * {K1 + 1}::float8
             / (term.frequency
                + {K1}::float8 * ({1 - B}::float8 + {B}::float8 * term.length / asked_average))
           )) / {10**SCORE_DIGITS},
       sum(term.mass)
FROM (
    SELECT matched.memory_id, matched.length, matched.idf, matched.mass,
           CASE WHEN matched.prefix THEN 1.0::float8
           -- sum(1/i^2, i = 1..n) is pi^2/6 - 1/(n + 1/2) but for less than rounding takes away
           ELSE round(1 / (1.6449340668482264 * (1 - matched.rank::float8)) - 0.5) END AS frequency
    FROM (
        SELECT found.memory_id, found.length, finder.idf, finder.mass, finder.prefix,
               finder.tokens * ts_rank('{{1,1,1,1}}', found.terms, finder.query) AS rank
        FROM (SELECT * FROM wanted WHERE wanted.number <= asked_finders) AS finder
        JOIN memories_searchentry AS found ON found.terms @@ finder.query
        UNION ALL
        SELECT entry.memory_id, entry.length, added.idf, added.mass, added.prefix, added.rank
        FROM (
            SELECT matching.memory_id, matching.length, matching.terms
            FROM memories_searchentry AS matching WHERE matching.terms @@ asked_any
            UNION ALL
            -- Of the few memories with several parts the others come along.
            SELECT part.memory_id, part.length, part.terms
            FROM memories_searchentry AS second
            JOIN memories_searchentry AS part
                ON part.memory_id = second.memory_id AND NOT part.terms @@ asked_any
            WHERE second.part = 2 AND EXISTS (
                SELECT FROM memories_searchentry AS matching
                WHERE matching.memory_id = second.memory_id AND matching.terms @@ asked_any
            )
        ) AS entry
        -- All terms of one memory after the other: its tsvector is long, and is read once.
        CROSS JOIN LATERAL (
            SELECT adder.idf, adder.mass, adder.prefix,
                   adder.tokens * ts_rank('{{1,1,1,1}}', entry.terms, adder.query) AS rank
            FROM wanted AS adder WHERE adder.number > asked_finders
            OFFSET 0
        ) AS added
        WHERE added.rank > 0 AND asked_finders < cardinality(asked_tokens)
    ) AS matched
) AS term
GROUP BY term.memory_id
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
CREATE_WEIGHED = (
    f"CREATE OR REPLACE FUNCTION memories_search_weighed({_ARGUMENTS})"
    " RETURNS TABLE (memory_id bigint, score float8, mass float8)"
    " LANGUAGE sql STABLE ROWS 500 SET enable_seqscan = off SET enable_indexscan = off"
    f" SET enable_indexonlyscan = off AS $body${_WEIGHED}$body$"
)
CREATE_PARTS = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS memories_searchentry_parts"
    " ON memories_searchentry (memory_id) WHERE part = 2"
)

DROP = (
    # Those that servers of before ask, while an upgrade goes on.
    "DROP FUNCTION IF EXISTS memories_search_candidates(tsquery)",
    "DROP FUNCTION IF EXISTS memories_search_scored"
    "(tsquery, tsquery[], integer[], boolean[], float8[], float8[], float8)",
    f"DROP FUNCTION IF EXISTS memories_search_weighed({_ARGUMENTS})",
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
    SELECT term, 1 FROM unnest(string_to_array(%s, ' ')) AS new(term)
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
SELECT term, documents, 0::bigint FROM memories_searchterm WHERE term = ANY(string_to_array(%s, ' '))
UNION ALL
SELECT scope, documents, length FROM memories_searchtotal WHERE scope = ANY(string_to_array(%s, ' '))
"""
_BEGINNINGS = """
SELECT wanted.start, found.documents FROM unnest(%s::text[]) AS wanted(start)
CROSS JOIN LATERAL (
    SELECT sum(documents)::bigint AS documents FROM memories_searchterm
    WHERE term >= wanted.start AND term <= wanted.start || U&'\\+10FFFF'
) AS found WHERE found.documents IS NOT NULL
"""
# Each best one is looked up by its key, and no more than are wanted: a plan that is kept for any parameters
# would rather read all memories of the project first.
_RANK = """
SELECT admitted.id, admitted.number, best.score, best.mass, admitted.superseded
FROM (
    SELECT * FROM memories_search_weighed(
        %s::tsquery,
        string_to_array(%s, '\n')::tsquery[],
        string_to_array(%s, ' ')::integer[],
        string_to_array(%s, ' ')::boolean[],
        string_to_array(%s, ' ')::float8[],
        string_to_array(%s, ' ')::float8[],
        %s::float8,
        %s::integer
    )
    ORDER BY score DESC OFFSET 0
) AS best
CROSS JOIN LATERAL (
    SELECT one.* FROM ({admitted}) AS one WHERE one.id = {row} OFFSET 0
) AS admitted
ORDER BY best.score DESC FETCH FIRST %s ROWS WITH TIES
"""
# The terms of what is shown alone; a very long memory has several parts.
_WITH_TERMS = """
SELECT ranked.*, (
    SELECT string_agg(array_to_string(tsvector_to_array(entry.terms), ' '), ' ')
    FROM memories_searchentry AS entry WHERE entry.memory_id = ranked.id + {first}
) FROM ({ranked}) AS ranked
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
    cursor.execute(_STORE, [memory_id, scope, length, parts, _as_text(terms), scope, length])


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


def terms_of(cursor: Cursor, ids: Sequence[int]) -> list[tuple[int, str]]:
    """The scoped terms of some entries, in one text each."""
    cursor.execute(
        "SELECT entry.memory_id, string_agg(array_to_string(tsvector_to_array(entry.terms), ' '), ' ')"
        " FROM memories_searchentry AS entry WHERE entry.memory_id = ANY(%s) GROUP BY entry.memory_id",
        [list(ids)],
    )
    return [(int(str(entry_id)), str(terms)) for entry_id, terms in cursor.fetchall()]


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


def ask_frequencies(
    scoped_terms: Sequence[str], scoped_starts: Sequence[str] = ()
) -> Callable[[], dict[str, int]]:
    """Asks in how many entries each token is, and of a scope what `*` and `**` stand for; gives what reads
    that, to be called once.
    """
    scopes = dict.fromkeys(term.partition(":")[0] for term in (*scoped_terms, *scoped_starts))
    cursor = connection.cursor()
    cursor.execute(_FREQUENCIES, [_as_text(scoped_terms), _as_text(scopes)])
    answer_soon()

    def read() -> dict[str, int]:
        answer: dict[str, int] = {}
        with cursor:
            for name, documents, length in cursor.fetchall():
                if name in scopes:
                    answer[f"{name}:{DOCUMENTS}"], answer[f"{name}:{LENGTH}"] = documents, length
                else:
                    answer[name] = documents
            if scoped_starts:
                cursor.execute(_BEGINNINGS, [list(scoped_starts)])
                answer |= dict(cursor.fetchall())
        return answer

    return read


def ask(
    terms: Sequence[Weighted],
    average: float,
    admitted: tuple[str, Sequence[object]],
    limit: int = RANKED_MAX,
    first: int = 0,
    *,
    with_terms: bool = False,
) -> Callable[[], list[Hit]]:
    """Asks for the best hits among the rows that `admitted` (id, number, superseded) lets through, and gives
    what reads them, to be called once; `first` is where the entries of their type begin, and every token is
    of that type.
    """

    def asked(number: int) -> Callable[[], list[Hit]]:
        return _asked(terms, number, average, admitted, limit, first, with_terms)

    return pruned(terms, limit, asked)


def _asked(
    terms: Sequence[Weighted],
    number: int,
    average: float,
    admitted: tuple[str, Sequence[object]],
    limit: int,
    first: int,
    with_terms: bool,
) -> Callable[[], list[Hit]]:
    queries = [_query(term) for term in terms]
    sql = _RANK.format(admitted=admitted[0], row=f"best.memory_id - {first}" if first else "best.memory_id")
    if with_terms:
        sql = _WITH_TERMS.format(first=first, ranked=sql)
    cursor = connection.cursor()
    cursor.execute(
        sql,
        [
            " | ".join(queries[:number]),
            "\n".join(queries),
            _as_text(len(term.tokens) for term in terms),
            _as_text(term.prefix for term in terms),
            _as_text(term.idf for term in terms),
            _as_text(term.mass for term in terms),
            average,
            number,
            *admitted[1],  # type: ignore[list-item]
            limit,
        ],
    )

    def read() -> list[Hit]:
        with cursor:
            # Ties came along: which of them are first is told by what is known of them now.
            return sorted((Hit(*row) for row in cursor.fetchall()), key=order)[:limit]

    return read


def _as_text(values: Iterable[object]) -> str:
    """Numbers, or terms, none empty or with a space: a list costs the driver several times as much."""
    return " ".join(map(str, values))


def _query(term: Weighted) -> str:
    return " | ".join(_quoted(token) + (":*" if term.prefix else "") for token in term.tokens)


def _quoted(token: str) -> str:
    return "'" + token.replace("\\", "\\\\") + "'" if "\\" in token else f"'{token}'"


_POSITIONS = {step: ",".join(map(str, range(1, step + 1))) for step in FREQUENCIES}


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
        lexemes.append(f"{_quoted(token)}:{_POSITIONS[frequency]}")
        size += needed
    yield " ".join(lexemes)
