"""Search: one analyser, one formula, an engine module each for SQLite and PostgreSQL.

The index is kept in the transaction of the write (`index`, `unindex`); `search_memories` and
`best_matches` read it. Archived and erased memories are not in it. What other apps have to be found they
register (`register_searched`) and index themselves (`index_row`).
"""

from memories.search.analyse import QueryTerm
from memories.search.analyse import analyse_query as query_terms
from memories.search.everywhere import FoundAnywhere, Where, search_anywhere
from memories.search.filters import SearchFilter
from memories.search.indexing import (
    counted_together,
    document_tokens,
    forget,
    index,
    index_row,
    tokens_of,
    unindex,
)
from memories.search.of_memories import memory_rows
from memories.search.searching import QUERY_MAX_LENGTH, Found, best_matches, search_memories
from memories.search.spans import marks
from memories.search.summaries import summary_rows
from memories.search.types import MEMORY, RECEIPT, SEARCHED_TYPES, TASK, Searched, register_searched, type_of

__all__ = [
    "MEMORY",
    "QUERY_MAX_LENGTH",
    "RECEIPT",
    "SEARCHED_TYPES",
    "TASK",
    "Found",
    "FoundAnywhere",
    "QueryTerm",
    "SearchFilter",
    "Searched",
    "Where",
    "best_matches",
    "counted_together",
    "document_tokens",
    "forget",
    "index",
    "index_row",
    "marks",
    "memory_rows",
    "query_terms",
    "register_searched",
    "search_anywhere",
    "search_memories",
    "summary_rows",
    "tokens_of",
    "type_of",
    "unindex",
]
