"""The index on SQLite: an FTS5 table used as an inverted file.

An entry's tokens stand in the column that is named after how often they occur, so that
one row of `fts5vocab` is one posting with its frequency, without positions. FTS5's own
ranking and query language are not used.
"""

from __future__ import annotations

from collections.abc import Sequence

from memories.search.analyse import WORD_PUNCTUATION
from memories.search.ranking import (
    FREQUENCIES,
    Cursor,
    Stored,
    counted,
)
from memories.search.scopes import of_project
from memories.search.sqlite_asking import COLUMNS, TERMS, places
from memories.search.sqlite_asking import ask as ask
from memories.search.sqlite_asking import ask_frequencies as ask_frequencies

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
        f"SELECT rowid, {TERMS} FROM memories_search_fts WHERE rowid IN ({places('%s', len(ids))})",  # noqa: S608
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
