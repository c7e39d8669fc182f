"""What a report says: its numbers, and findings as doors show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hygiene.rules import RuleReader, is_narrowed
from hygiene.rules.scope import Row
from hygiene.rules.table import BY_NAME, RULES, Rule
from hygiene.scoring import cost, points


@dataclass(frozen=True)
class RuleCount:
    """How many findings a rule has, and what they cost together."""

    rule: Rule
    count: int
    points: int

    def as_dict(self) -> dict[str, Any]:
        return {"rule": self.rule.name, "count": self.count, "points": self.points}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> RuleCount:
        return cls(BY_NAME[stored["rule"]], stored["count"], stored["points"])


@dataclass(frozen=True)
class HygieneReport:
    """A project's hygiene on one day: the same for every member, but for the reader's `private` part."""

    score: int
    penalty: int
    memories: int
    rules: tuple[RuleCount, ...]
    # The first findings in order, as many as a page takes; the rest is read when asked for.
    findings: Sequence[dict[str, Any]] = ()
    # The same of the reader's own private memories; they cost nothing and nobody else sees them.
    private: tuple[RuleCount, ...] = ()
    private_findings: Sequence[dict[str, Any]] = ()
    # Of rules that are counted for everybody and shown to some: how many the reader sees, and the first.
    seen: Mapping[str, int] = field(default_factory=dict)
    seen_findings: Sequence[dict[str, Any]] = ()

    @property
    def counts(self) -> dict[str, int]:
        return {each.rule.name: each.count for each in self.rules}

    def total(self, rule: str = "") -> int:
        """How many findings the reader sees, of all rules or of one."""
        mine = sum(each.count for each in self.private if not rule or each.rule.name == rule)
        return mine + sum(many for name, many in self.shown.items() if not rule or name == rule)

    @property
    def shown(self) -> dict[str, int]:
        """By rule, how many of those that cost something the reader sees."""
        return {
            each.rule.name: self.seen.get(each.rule.name, 0) if is_narrowed(each.rule.name) else each.count
            for each in self.rules
        }

    @property
    def first(self) -> list[dict[str, Any]]:
        """The first of those, in the order of the table."""
        order = list(BY_NAME)
        return sorted([*self.findings, *self.seen_findings], key=lambda each: order.index(each["rule"]))

    def costliest(self, most: int) -> list[RuleCount]:
        """Where most points are to be won, in the order of the table among equals."""
        return sorted(self.rules, key=lambda each: -each.points)[:most]


def answered(item: Mapping[str, Any]) -> dict[str, Any]:
    """A finding as agents get it: its sentence says what the note holds."""
    return {name: value for name, value in item.items() if name != "note"}


def finding(reader: RuleReader, row: Row, worth: int) -> dict[str, Any]:
    """One finding as doors answer it, but for its `note`. What is private costs nothing and is marked."""
    said: dict[str, Any] = {
        "rule": reader.rule.name,
        **reader.named(row),
        "do": reader.advise(row),
        "points": 0 if row.hidden else worth,
        "note": row.note,
    }
    return said | ({"private": True} if row.hidden else {})


def counts_of(tally: Mapping[tuple[str, int], int], memories: int, *, hidden: int) -> list[RuleCount]:
    """The rules with findings of one sort, in the order of the table. What is private costs nothing."""
    return [
        RuleCount(rule, many, 0 if hidden else cost(rule, many, memories))
        for rule in RULES
        if (many := tally.get((rule.name, hidden), 0))
    ]


def worth_of(rule: Rule, many: int, memories: int, *, hidden: bool) -> int:
    return 0 if hidden else points(rule, many, memories)
