"""The index on PostgreSQL: a tsvector of our own tokens under GIN.

Positions carry no place, only how often a token occurs: the n-th step of a frequency is
the positions 1 to n. `ts_rank` of one lexeme is then sum(1/i^2, i = 1..n) / (pi^2/6), from
which n comes back exactly, so that both engines compute the same score. Document
frequencies are kept in a table of their own: counting them at each question would read
every memory that has the word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memories.search.analyse import TOKEN_MAX_LENGTH
from memories.search.postgres_asking import CREATE_WEIGHED as CREATE_WEIGHED
from memories.search.postgres_asking import DROP_WEIGHED, as_text, quoted
from memories.search.postgres_asking import ask as ask
from memories.search.postgres_asking import ask_frequencies as ask_frequencies
from memories.search.ranking import (
    FREQUENCIES,
    Cursor,
    Stored,
    counted,
)
from memories.search.scopes import of_project

# PostgreSQL refuses a tsvector above 1 MB. A memory that has more goes into several
# parts: it has several rows, and no word of it is left out.
PART_MAX_BYTES = 900_000

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
CREATE_PARTS = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS memories_searchentry_parts"
    " ON memories_searchentry (memory_id) WHERE part = 2"
)

DROP = (
    # Those that servers of before ask, while an upgrade goes on.
    "DROP FUNCTION IF EXISTS memories_search_candidates(tsquery)",
    "DROP FUNCTION IF EXISTS memories_search_scored"
    "(tsquery, tsquery[], integer[], boolean[], float8[], float8[], float8)",
    DROP_WEIGHED,
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
    cursor.execute(_STORE, [memory_id, scope, length, parts, as_text(terms), scope, length])


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


_POSITIONS = {step: ",".join(map(str, range(1, step + 1))) for step in FREQUENCIES}


# What a token takes at most, with its scope.
_TOKEN_MAX_BYTES = 4 * TOKEN_MAX_LENGTH + 50 + 2 * max(FREQUENCIES)


def _parts(frequencies: dict[str, int]) -> Iterator[str]:
    """Text forms of the tsvectors that hold these tokens, each small enough."""
    if len(frequencies) * _TOKEN_MAX_BYTES <= PART_MAX_BYTES:
        yield " ".join([f"{quoted(token)}:{_POSITIONS[many]}" for token, many in frequencies.items()])
        return
    lexemes: list[str] = []
    size = 0
    for token, frequency in frequencies.items():
        # As `tsvectorin` counts: the bytes, aligned, the number of positions, and these.
        needed = len(token.encode()) + 4 + 2 * frequency
        if size + needed > PART_MAX_BYTES:
            yield " ".join(lexemes)
            lexemes, size = [], 0
        lexemes.append(f"{quoted(token)}:{_POSITIONS[frequency]}")
        size += needed
    yield " ".join(lexemes)
