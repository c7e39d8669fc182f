"""Search: one analyser, one formula, an engine module each for SQLite and PostgreSQL.

The index is kept in the transaction of the write (`index`, `unindex`); `search_memories` and
`best_matches` read it. Archived and erased memories are not in it.
"""

from memories.search.analyse import analyse_query as query_terms
from memories.search.analyse import marks
from memories.search.indexing import forget, index, unindex
from memories.search.searching import QUERY_MAX_LENGTH, Found, SearchFilter, best_matches, search_memories
from memories.search.types import SEARCHED_TYPES

__all__ = [
    "QUERY_MAX_LENGTH",
    "SEARCHED_TYPES",
    "Found",
    "SearchFilter",
    "best_matches",
    "forget",
    "index",
    "marks",
    "query_terms",
    "search_memories",
    "unindex",
]
