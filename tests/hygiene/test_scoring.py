"""The formula, and the properties that hold of it whatever the numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hygiene.rules import all_readers
from hygiene.rules.table import RULES
from hygiene.scoring import POINT, WHOLE, cost, half_at, penalty, points, score
from memoryhub.reference import SLIP_AMONG

SIZES = st.integers(0, 1_000_000)
FINDINGS = st.integers(0, 100_000)
rules = st.sampled_from(RULES)
COUNTS = st.fixed_dictionaries({rule.name: FINDINGS for rule in RULES})


def test_the_caps_are_those_of_the_design_and_add_up_to_100() -> None:
    caps = {
        "stale_bag": 16,
        "similar_memories": 12,
        "old_session_summaries": 12,
        "missing_summary": 10,
        "long_summary": 7,
        "crowded_top_level": 7,
        "too_many_critical": 7,
        "unverified": 7,
        "contradiction": 6,
        "quality": 5,
        "superseded_still_active": 4,
        "drifted": 3,
        "review_backlog": 2,
        "unfinished_handoff": 2,
    }
    assert {rule.name: rule.cap for rule in RULES} == caps
    assert sum(caps.values()) == 100


def test_reports_follow_the_order_of_the_table() -> None:
    names = [rule.name for rule in RULES]
    readers = [reader.rule.name for reader in all_readers()]
    assert len(readers) == 14
    assert readers == sorted(readers, key=names.index)


def test_one_slip_in_a_project_of_30_costs_one_to_four_points() -> None:
    for rule in RULES:
        assert POINT <= cost(rule, 1, SLIP_AMONG) <= 4 * POINT, rule.name


@given(rules, SIZES)
def test_one_slip_never_costs_more_than_four_points(rule: object, memories: int) -> None:
    assert cost(rule, 1, memories) <= 4 * POINT  # type: ignore[arg-type]


def test_the_formula_by_hand() -> None:
    bags = next(rule for rule in RULES if rule.name == "stale_bag")
    assert half_at(bags, 30) == 4  # max(4, ceil(0.6))
    assert half_at(bags, 201) == 5  # ceil(4.02)
    assert cost(bags, 3, 30) == 1000 * 16 * 3 // 7 == 6857
    assert points(bags, 3, 30) == 6857 - 1000 * 16 * 2 // 6
    assert penalty({"stale_bag": 3}, 30) == 6857
    assert score(6857) == 93
    assert score(0) == 100


@given(COUNTS, SIZES)
def test_the_score_is_0_to_100_and_nothing_is_clamped(counts: dict[str, int], memories: int) -> None:
    lost = penalty(counts, memories)
    assert 0 <= lost < WHOLE
    assert 0 <= score(lost) <= 100


@given(COUNTS, SIZES, rules)
def test_another_finding_never_lowers_the_penalty(
    counts: dict[str, int], memories: int, rule: object
) -> None:
    name = rule.name  # type: ignore[attr-defined]
    more = {**counts, name: counts[name] + 1}
    before, after = penalty(counts, memories), penalty(more, memories)
    assert after >= before
    # And the fix of one lowers it by exactly what it said.
    assert after - before == points(rule, more[name], memories)  # type: ignore[arg-type]


@given(rules, st.integers(1, 1000), SIZES)
def test_later_fixes_count_more_but_for_rounding(rule: object, many: int, memories: int) -> None:
    assert points(rule, many, memories) >= points(rule, many + 1, memories) - 1  # type: ignore[arg-type]
