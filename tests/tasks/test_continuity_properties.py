"""The budget and `not_shown` hold for any store: by random rows, and by random stores."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryhub.kernel.json_text import as_json
from projects.models import Project, User
from tasks.continuity import BUDGET_MAX, BUDGET_MIN, continuity_context
from tasks.continuity.packing import Parts, packed
from tasks.services import save_checkpoint
from tests.factories import MemoryFactory, agent, receipt_in, task_in

LISTS = ("memories", "tasks", "receipts")
# What JSON makes longer: quotes, marks of direction, letters of every script.
TEXT = st.text(alphabet='ab"\\\n\u202e\u2028é漢😀', max_size=120)
ROW = st.fixed_dictionaries({"number": st.integers(1, 10**9), "title": TEXT, "summary": TEXT})
ROWS = st.lists(ROW, max_size=12)


@given(
    rows=st.fixed_dictionaries(dict.fromkeys(LISTS, ROWS)),
    first=st.fixed_dictionaries({}, optional={"outcomes": ROWS, "streams": ROWS}),
    hidden=st.integers(0, 10**6),
    fields=st.dictionaries(st.sampled_from(["objective", "blockers", "next_action"]), TEXT),
    snapshot=TEXT,
    budget=st.integers(400, 6000),
)
def test_any_rows_are_packed_within_any_budget(
    rows: dict[str, Any],
    first: dict[str, Any],
    hidden: int,
    fields: dict[str, str],
    snapshot: str,
    budget: int,
) -> None:
    totals = {name: len(rows[name]) + hidden for name in LISTS} | {
        name: len(many) for name, many in first.items()
    }
    parts = Parts(
        head={"note": "Data.", "stream": "main"},
        checkpoint={"state": "active"},
        fields=fields,
        snapshots=[snapshot, snapshot[:20]] if snapshot else [],
        first=first,
        in_turn=rows,
        totals=totals,
    )
    answer = packed(parts, budget)
    assert len(as_json(answer)) <= budget
    for name, total in totals.items():
        assert answer["not_shown"][name] == total - len(answer[name])
        given_rows = [*rows.get(name, []), *first.get(name, [])]
        # Rows of the store, in its order, none twice.
        there = iter(given_rows)
        assert all(any(row == one for one in there) for row in answer[name])
    left_out = answer["checkpoint"].get("left_out", [])
    assert set(left_out) | (set(answer["checkpoint"]) & set(fields)) == set(fields)
    room = budget - len(as_json(answer))
    for name in LISTS:
        # What was skipped didn't fit, by more than what is reserved and not used in the end.
        for row in rows[name]:
            if row not in answer[name]:
                assert len(as_json(row)) + 1 > room - 150


@pytest.mark.django_db
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(alphabet='ab "\\é漢\u202e', min_size=1, max_size=100), max_size=8),
    budget=st.integers(BUDGET_MIN, BUDGET_MAX // 10),
    asked=st.integers(0, 12),
    full=st.booleans(),
)
def test_any_store_is_told_within_any_budget(
    project: Project, bob: User, texts: list[str], budget: int, asked: int, full: bool
) -> None:
    from django.db import transaction

    with transaction.atomic():
        for n, text in enumerate(texts):
            title = f"{n} {text}".strip()
            MemoryFactory(project=project, title=title, summary=f"s {text}")
            task_in(project, title=title, summary=f"s {text}", tags=["one"])
            receipt_in(project, title=title, summary=f"s {text}", done=text * 50)
        if texts:
            save_checkpoint(
                actor=agent(bob), project=project, objective=texts[0], key_decisions=["d " + texts[-1]]
            )
        answer = continuity_context(
            project, bob, full=full, budget=budget, memories=asked, tasks=asked, receipts=asked
        )
        transaction.set_rollback(True)
    assert len(as_json(answer)) <= budget
    for name in LISTS:
        assert answer["not_shown"][name] == len(texts) - len(answer[name])
        assert len(answer[name]) <= asked
