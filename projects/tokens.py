"""Pages of access tokens, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memoryhub.kernel import cursors
from memoryhub.kernel.cursors import BadCursor
from projects.models import AccessToken, User
from projects.querysets import AccessTokenQuerySet

PAGE = 50


@dataclass(frozen=True)
class TokenPage:
    """A page of tokens, each with its user and those of its projects that the reader is in."""

    items: Sequence[AccessToken]
    next_cursor: str | None = None
    is_first: bool = True


def tokens_page(tokens: AccessTokenQuerySet, reader: User, cursor: str = "", *, bound: str = "") -> TokenPage:
    """A page of these tokens. A cursor of another list or reader opens page one."""
    binding = ["tokens", reader.pk, bound]
    rows = tokens.for_rows(reader)
    try:
        rows = rows.older_than(cursors.decode(cursor, binding)) if cursor else rows
    except BadCursor:
        cursor = ""
    found = list(rows[: PAGE + 1])
    more = cursors.encode(found[PAGE - 1].pk, binding) if len(found) > PAGE else None
    return TokenPage(found[:PAGE], more, is_first=not cursor)
