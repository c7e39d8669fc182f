"""Keeping the index in step: called in the transaction that changes a memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from memories.search.analyse import analyse
from memories.search.engine import cursor, engine, scope_of
from memories.search.ranking import Cursor, scoped
from memories.search.summaries import drop_summary, keep_summary
from memories.search.types import Searched

if TYPE_CHECKING:
    from memories.models import Memory
    from projects.models import Project


_is_counted: ContextVar[bool] = ContextVar("is_counted", default=True)


@contextmanager
def counted_together(project: Project) -> Iterator[None]:
    """Around very many rows of one project that come in one transaction, under the lock of the project: their
    words are counted once, at its end.

    To PostgreSQL a row that is changed a hundred thousand times in a transaction is as many rows, and each
    change passes by all before it.
    """
    before = _is_counted.set(False)
    try:
        yield
    finally:
        _is_counted.reset(before)
    with cursor() as open_cursor:
        engine().recount(open_cursor, project.pk)


def index(
    memory: Memory,
    *,
    tags: Sequence[str] | None = None,
    tokens: Sequence[str] | None = None,
    is_new: bool = False,
    summary_is_kept: bool = False,
) -> frozenset[str]:
    """Index a memory as it is now, and give its words; one that is archived or erased leaves the index.

    `tags`, or all of its `document_tokens`, may be given where they are known, which saves a query, as
    `is_new` does: nothing of it is in the index yet. `summary_is_kept` where its `summary_rows` were stored.
    """
    if memory.status == "archived" or memory.erased_at is not None:
        unindex(memory)
        return frozenset()
    if tokens is None:
        names = memory.tags.values_list("name", flat=True) if tags is None else tags
        tokens = document_tokens(memory, list(names))
    scope = scope_of(memory.project_id, memory.visibility, memory.author_id)
    with cursor() as open_cursor:
        if not is_new:
            engine().remove(open_cursor, memory.pk, is_counted=_is_counted.get())
        _store(open_cursor, memory.pk, scope, tokens)
    if not summary_is_kept:
        keep_summary(memory)
    return frozenset(tokens)


def unindex(memory: Memory) -> None:
    """Take a memory out of the index."""
    with cursor() as open_cursor:
        engine().remove(open_cursor, memory.pk, is_counted=_is_counted.get())
    drop_summary(memory)


def index_row(searched: Searched, row: Any, *, is_new: bool = False) -> None:
    """Index a row of another type than memories, as it is now. One that `words` has nothing of leaves it."""
    entry_id = searched.first + row.pk
    scope, tokens = searched.words(row)
    with cursor() as open_cursor:
        if not is_new:
            engine().remove(open_cursor, entry_id, is_counted=_is_counted.get())
        if tokens:
            _store(open_cursor, entry_id, scope, tokens)


def _store(open_cursor: Cursor, entry_id: int, scope: str, tokens: Sequence[str]) -> None:
    terms, length = scoped(scope, tokens), len(tokens)
    engine().store(open_cursor, entry_id, terms, length, is_counted=_is_counted.get())


def forget() -> None:
    """Leave no trace of words that were taken out of the index before; after an erase."""
    with cursor() as open_cursor:
        engine().purge(open_cursor)


def document_tokens(memory: Memory, tags: Sequence[str]) -> list[str]:
    """The words of a memory: the whole of its texts, with its hints and tags.

    A title that the summary begins with is said once: it was cut from it, and its words are all there.
    """
    title, summary, *rest = texts_of(memory, tags)
    named, tokens = analyse(title), analyse(summary)
    return [*(() if tokens[: len(named)] == named else named), *tokens, *tokens_of(rest)]


def texts_of(memory: Memory, tags: Sequence[str]) -> list[str]:
    """All that a memory says: its title, its summary, and the rest."""
    rest = (memory.body, *_texts(memory.details), *memory.retrieval_hints, *tags)
    return [memory.title, memory.summary, *rest]


def tokens_of(texts: Iterable[str]) -> list[str]:
    """The tokens of several texts, one after the other."""
    return [token for text in texts for token in analyse(text)]


def _texts(value: Any) -> list[str]:
    """All texts in the details of a kind."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
