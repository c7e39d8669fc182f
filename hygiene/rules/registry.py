"""Which rule is read by which function, and what a finding says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from hygiene.rules.scope import Row, Scope
from hygiene.rules.table import BY_NAME, RULES, Rule

Found = QuerySet[Any]


@dataclass(frozen=True)
class RuleReader:
    """A rule with its function, and the sentence of what to do about one row."""

    rule: Rule
    find: Callable[[Scope], Found]
    advise: Callable[[Row], str]


_readers: dict[str, RuleReader] = {}


def reader(
    name: str, advise: Callable[[Row], str]
) -> Callable[[Callable[[Scope], Found]], Callable[[Scope], Found]]:
    """Declare the reader of a rule of the table. `advise` says what to do about one of its rows."""

    def declare(find: Callable[[Scope], Found]) -> Callable[[Scope], Found]:
        _readers[name] = RuleReader(BY_NAME[name], find, advise)
        return find

    return declare


def all_readers() -> list[RuleReader]:
    """Those that there are, in the order of the table."""
    return [_readers[rule.name] for rule in RULES if rule.name in _readers]


def find_reader(name: str) -> RuleReader | None:
    return _readers.get(name)
