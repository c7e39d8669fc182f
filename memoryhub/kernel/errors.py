"""Why a rule of ours said no: one shape for every door.

`code` is API and comes from a closed list; the sentence is for people and may change.
Doors translate once (REST handler, web middleware, MCP dispatcher); services raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from memoryhub.kernel.text import as_sentence


def one_by_one(fields: Mapping[str, str]) -> str:
    """What is wrong with each field, a sentence each: `title: Is empty. kind: Required.`"""
    return " ".join(f"{name}: {as_sentence(text)}" for name, text in fields.items())


class DomainError(Exception):
    """A refusal: `code` for programs, `message` for people, `details` for both."""

    code: ClassVar[str] = "invalid"
    status: ClassVar[int] = 400

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = {name: value for name, value in details.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """The one shape that every door answers with."""
        return {"code": self.code, "message": self.message, "details": self.details}


class NotFound(DomainError):
    """It isn't there, or this reader may not know that it is: the two are never told apart."""

    code = "not_found"
    status = 404


class Invalid(DomainError):
    """Input that breaks rules. `details.fields` names every bad field, `details.rule` a broken rule."""

    code = "invalid"
    status = 422

    def __init__(
        self, message: str = "", *, fields: dict[str, str] | None = None, rule: str | None = None
    ) -> None:
        if not message:
            message = one_by_one(fields or {})
        super().__init__(message, fields=fields, rule=rule)


class SecretDetected(DomainError):
    """A text looks like a credential. Names the field and the line, never the text."""

    code = "secret_detected"
    status = 422


class Duplicate(DomainError):
    """The same thing is already stored: `details.number`."""

    code = "duplicate"
    status = 409


class Conflict(DomainError):
    """The thing moved on since it was read: `details.current_version` and what changed."""

    code = "conflict"
    status = 409


class Forbidden(DomainError):
    """Visible, but not allowed: the sentence says who may."""

    code = "forbidden"
    status = 403


class AlreadyDecided(DomainError):
    """Somebody decided this review before."""

    code = "already_decided"
    status = 409


class AlreadyClaimed(DomainError):
    """Another session holds the claim."""

    code = "already_claimed"
    status = 409


class TooLarge(DomainError):
    """More than the endpoint takes."""

    code = "too_large"
    status = 413


class RateLimited(DomainError):
    """Too many calls in a minute: `details.retry_after` in seconds."""

    code = "rate_limited"
    status = 429


class Unauthenticated(DomainError):
    """No token, or one that isn't good any more."""

    code = "unauthenticated"
    status = 401


class Unavailable(DomainError):
    """The store is away, restarting or full; nothing is half stored. `details.retry_after` in seconds."""

    code = "unavailable"
    status = 503


ALL_ERRORS: tuple[type[DomainError], ...] = (
    NotFound,
    Invalid,
    Duplicate,
    Conflict,
    Forbidden,
    AlreadyDecided,
    AlreadyClaimed,
    SecretDetected,
    TooLarge,
    RateLimited,
    Unauthenticated,
    Unavailable,
)


class Problems:
    """Collects what is wrong with several fields, so that one refusal names them all."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self._secret: tuple[str, int] | None = None

    def add(self, field: str, sentence: str | None) -> None:
        """Remember the first thing that is wrong with a field; None is nothing."""
        if sentence:
            self.fields.setdefault(field, sentence)

    def add_secret(self, field: str, line: int, kind: str) -> None:
        """A credential outranks other problems: the refusal takes its code."""
        self.add(
            field, f"Line {line} looks like a secret ({kind}). Remove it, and change it where it is used."
        )
        self._secret = self._secret or (field, line)

    @property
    def has_secret(self) -> bool:
        """Whether one of them is a credential."""
        return self._secret is not None

    def __bool__(self) -> bool:
        return bool(self.fields)

    def raise_if_any(self) -> None:
        """Raise `SecretDetected` or `Invalid` with every bad field."""
        if not self.fields:
            return
        if self._secret:
            field, line = self._secret
            raise SecretDetected(one_by_one(self.fields), field=field, line=line, fields=self.fields)
        raise Invalid(fields=self.fields)
