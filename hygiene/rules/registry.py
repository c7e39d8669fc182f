"""Which rule is read by which function, and what a finding says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from hygiene.rules.scope import Row, Scope
from hygiene.rules.table import BY_NAME, RULES, Rule
from projects.models import User

Found = QuerySet[Any]


@dataclass(frozen=True)
class RuleReader:
    """A rule with its function, and the sentence of what to do about one row.

    With `seen_by` its rows are proposals, counted for everybody and shown to those who may see each.
    """

    rule: Rule
    find: Callable[[Scope], Found]
    advise: Callable[[Row], str]
    seen_by: Callable[[Found, User], Found] | None = None


_readers: dict[str, RuleReader] = {}


def reader(
    name: str,
    advise: Callable[[Row], str],
    *,
    seen_by: Callable[[Found, User], Found] | None = None,
) -> Callable[[Callable[[Scope], Found]], Callable[[Scope], Found]]:
    """Declare the reader of a rule of the table. `advise` says what to do about one of its rows."""

    def declare(find: Callable[[Scope], Found]) -> Callable[[Scope], Found]:
        _readers[name] = RuleReader(BY_NAME[name], find, advise, seen_by)
        return find

    return declare


def all_readers() -> list[RuleReader]:
    """Those that there are, in the order of the table."""
    return [_readers[rule.name] for rule in RULES if rule.name in _readers]


def readers_of_memories() -> list[RuleReader]:
    """Those whose findings are about memories: the others are about proposals."""
    return [each for each in all_readers() if each.seen_by is None]


def is_narrowed(name: str) -> bool:
    """Whether the findings of a rule are shown to some alone."""
    found = _readers.get(name)
    return found is not None and found.seen_by is not None
