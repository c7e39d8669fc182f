"""The score, in integers, so that two engines agree. The formula is that of `design/hygiene.md`."""

from __future__ import annotations

from collections.abc import Mapping

from hygiene.rules.table import BY_NAME, Rule

# A point of the score in the unit of costs, points and the penalty.
POINT = 1000
WHOLE = 100 * POINT


def half_at(rule: Rule, memories: int) -> int:
    """s(r): so many findings cost half of the cap. `memories` is N, active shared and public ones."""
    return max(rule.t, -(-memories * rule.p // 100))


def cost(rule: Rule, findings: int, memories: int) -> int:
    """cost(r): it grows with each finding, less each time, and never reaches the cap."""
    if findings <= 0:
        return 0
    return POINT * rule.cap * findings // (findings + half_at(rule, memories))


def points(rule: Rule, findings: int, memories: int) -> int:
    """What one finding of these costs: the last one, whichever it is."""
    return cost(rule, findings, memories) - cost(rule, findings - 1, memories)


def penalty(counts: Mapping[str, int], memories: int) -> int:
    """What all findings cost together; `counts` by the name of the rule."""
    return sum(cost(BY_NAME[name], many, memories) for name, many in counts.items())


def score(penalty: int) -> int:
    """0 to 100."""
    return (WHOLE - penalty) // POINT
