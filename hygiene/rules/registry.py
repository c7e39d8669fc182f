"""Which rule is read by which function, and what a finding says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import QuerySet

from hygiene.rules.scope import Row, Scope, Tables
from hygiene.rules.table import BY_NAME, RULES, Rule
from projects.models import User

Found = QuerySet[Any]
Finder = TypeVar("Finder", bound=Callable[[Scope], Tables])


def names_memories(row: Row) -> dict[str, Any]:
    """What most findings are about: one memory, or two."""
    memories = [{"number": row.number, "title": row.title}]
    if row.other:
        memories.append({"number": row.other, "title": row.other_title})
    return {"memories": memories}


@dataclass(frozen=True)
class RuleReader:
    """A rule with its function, and the sentence of what to do about one row.

    With `seen_by` its rows are proposals, counted for everybody and shown to those who may see each.
    """

    rule: Rule
    find: Callable[[Scope], Tables]
    advise: Callable[[Row], str]
    seen_by: Callable[[Found, User], Found] | None = None
    # What a row is about, as the answer says it.
    named: Callable[[Row], dict[str, Any]] = names_memories

    @property
    def is_about_memories(self) -> bool:
        return self.named is names_memories

    def shown(self, scope: Scope, user: User) -> Tables:
        """The rows that a user may see: all, but for rules that show theirs to some."""
        found = self.find(scope)
        if self.seen_by is None or isinstance(found, tuple):
            return found
        return self.seen_by(found, user)


_readers: dict[str, RuleReader] = {}


def reader(
    name: str,
    advise: Callable[[Row], str],
    *,
    seen_by: Callable[[Found, User], Found] | None = None,
    named: Callable[[Row], dict[str, Any]] = names_memories,
) -> Callable[[Finder], Finder]:
    """Declare the reader of a rule of the table. `advise` says what to do about one of its rows."""

    def declare(find: Finder) -> Finder:
        _readers[name] = RuleReader(BY_NAME[name], find, advise, seen_by, named)
        return find

    return declare


def all_readers() -> list[RuleReader]:
    """Those that there are, in the order of the table."""
    return [_readers[rule.name] for rule in RULES if rule.name in _readers]


def readers_of_memories() -> list[RuleReader]:
    """Those whose findings are about memories: others are about proposals, or about work in flight."""
    return [each for each in all_readers() if each.is_about_memories]


def is_narrowed(name: str) -> bool:
    """Whether the findings of a rule are shown to some alone."""
    found = _readers.get(name)
    return found is not None and found.seen_by is not None
