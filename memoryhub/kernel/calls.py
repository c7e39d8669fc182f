"""What is noted of a call while it is answered: who called what, how it ended, how long it took.

Never what was asked or answered: no argument, no text, no address beyond its route.
"""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from memoryhub.kernel.errors import (
    Conflict,
    DomainError,
    Forbidden,
    Invalid,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthenticated,
)

OK = "ok"
# A bug of ours: it has no code of the closed list.
FAILED = "failed"

_BY_STATUS = {
    error.status: error.code
    for error in (NotFound, Invalid, Conflict, Forbidden, TooLarge, RateLimited, Unauthenticated)
}


@dataclass(slots=True)
class Note:
    """One call. Whoever learns something of it fills it in; `door` decides whether it is kept."""

    door: str = ""
    name: str = ""
    user: int | None = None
    token: int | None = None
    token_name: str = ""
    project: str = ""
    outcome: str = ""
    milliseconds: float = 0.0
    at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))
    began: float = field(default_factory=time.perf_counter)

    def by(self, token: Any) -> None:
        """It came with this access token."""
        self.user, self.token, self.token_name = token.user_id, token.pk, token.name

    def refused(self, refusal: DomainError) -> None:
        """It was refused; the code alone is kept."""
        self.outcome = refusal.code

    def end(self, status: int = 200) -> None:
        """It is answered, with this HTTP status: what nobody noted follows from it."""
        self.milliseconds = round((time.perf_counter() - self.began) * 1000, 1)
        if not self.outcome:
            self.outcome = outcome_of(status)


def outcome_of(status: int) -> str:
    """What a status alone tells."""
    if status < 400:
        return OK
    return FAILED if status >= 500 else _BY_STATUS.get(status, Invalid.code)


def note_of(request: HttpRequest) -> Note:
    """The note of this request; one that nobody keeps where none was begun."""
    found: Note | None = getattr(request, "call", None)
    return found if found is not None else Note()
