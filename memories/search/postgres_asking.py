"""Asking PostgreSQL's index: which entries have the words, and how well they fit.

What is asked goes out at once, and is read when it is wanted: where PostgreSQL isn't waited for
(`snapshots.unanswered`), several questions cost one wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from django.db import connection

from memories.search.ranking import (
    DOCUMENTS,
    K1,
    LENGTH,
    RANKED_MAX,
    SCORE_DIGITS,
    B,
    Hit,
    Weighted,
    order,
    pruned,
)
from memoryhub.kernel.snapshots import answer_soon

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

# What came later than the tables, by a migration of its own. The planner takes reading a tsvector for cheap,
# and would rather read them all. Planning takes as long as a small search: one plan is kept and serves all.
CREATE_WEIGHED = (
    f"CREATE OR REPLACE FUNCTION memories_search_weighed({_ARGUMENTS})"
    " RETURNS TABLE (memory_id bigint, score float8, mass float8)"
    " LANGUAGE plpgsql STABLE ROWS 500 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off"
    " SET enable_indexscan = off SET enable_indexonlyscan = off"
    f" AS $body$#variable_conflict use_column\nBEGIN RETURN QUERY {_WEIGHED}; END$body$"
)
DROP_WEIGHED = f"DROP FUNCTION IF EXISTS memories_search_weighed({_ARGUMENTS})"

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
# would rather read all memories of the project first. The limit stands in it, so that such a plan is kept.
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
ORDER BY best.score DESC FETCH FIRST {limit} ROWS WITH TIES
"""
# The terms of what is shown alone; a very long memory has several parts.
_WITH_TERMS = """
SELECT ranked.*, (
    SELECT string_agg(strip(entry.terms)::text, ' ')
    FROM memories_searchentry AS entry WHERE entry.memory_id = ranked.id + {first}
) FROM ({ranked}) AS ranked
"""


def ask_frequencies(
    scoped_terms: Sequence[str], scoped_starts: Sequence[str] = ()
) -> Callable[[], dict[str, int]]:
    """Asks in how many entries each token is, and of a scope what `*` and `**` stand for; gives what reads
    that, to be called once.
    """
    scopes = dict.fromkeys(term.partition(":")[0] for term in (*scoped_terms, *scoped_starts))
    cursor = connection.cursor()
    cursor.execute(_FREQUENCIES, [as_text(scoped_terms), as_text(scopes)])
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
    row = f"best.memory_id - {first}" if first else "best.memory_id"
    sql = _RANK.format(admitted=admitted[0], row=row, limit=int(limit))
    if with_terms:
        sql = _WITH_TERMS.format(first=first, ranked=sql)
    cursor = connection.cursor()
    cursor.execute(
        sql,
        [
            " | ".join(queries[:number]),
            "\n".join(queries),
            as_text(len(term.tokens) for term in terms),
            as_text(term.prefix for term in terms),
            as_text(term.idf for term in terms),
            as_text(term.mass for term in terms),
            average,
            number,
            *admitted[1],  # type: ignore[list-item]
        ],
    )
    answer_soon()

    def read() -> list[Hit]:
        with cursor:
            rows = cursor.fetchall()
        # Ties came along: which of them are first is told by what is known of them now.
        hits = sorted((Hit(*row) for row in rows), key=order)[:limit]
        return [hit._replace(terms=_plain(hit.terms)) for hit in hits] if with_terms else hits

    return read


def as_text(values: Iterable[object]) -> str:
    """Numbers, or terms, none empty or with a space: a list costs the driver several times as much."""
    return " ".join(map(str, values))


def _plain(terms: str) -> str:
    """The tokens of a tsvector as it is written, which takes PostgreSQL a tenth of taking it apart. No token
    has a quotation mark.
    """
    plain = terms.replace("'", "")
    return plain.replace("\\\\", "\\") if "\\" in plain else plain


def _query(term: Weighted) -> str:
    return " | ".join(quoted(token) + (":*" if term.prefix else "") for token in term.tokens)


def quoted(token: str) -> str:
    return "'" + token.replace("\\", "\\\\") + "'" if "\\" in token else f"'{token}'"
