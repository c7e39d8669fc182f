"""What another store held: its day and its summary stay as they were, and only the operator brings it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from hygiene.services import report_of
from memories.models import Memory, Revision
from memories.search import SearchFilter, search_memories
from memories.services import bring_memory
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden, Invalid
from projects.models import Project, User
from tests.factories import agent, person

pytestmark = pytest.mark.django_db

THEN = dt.datetime(2025, 5, 4, 12, tzinfo=dt.UTC)


def bring(project: Project, user: User, summary: str, **given: Any) -> Memory:
    actor = Actor(user=user, door=Door.COMMAND)
    return bring_memory(
        actor=actor,
        project=project,
        at=THEN,
        title="A lamp",
        summary=summary,
        kind="fact",
        tags=["x"],
        **given,
    )


@pytest.mark.parametrize(
    ("summary", "rule"), [("", "missing_summary"), ("A long story. " * 30, "long_summary"), ("Short.", None)]
)
def test_it_keeps_its_day_and_its_summary(
    project: Project, alice: User, summary: str, rule: str | None
) -> None:
    memory = bring(project, alice, summary)
    assert memory.summary == summary
    assert memory.origin == "import"
    assert {memory.created_at, memory.updated_at, memory.touched_at, memory.summary_changed_at} == {THEN}
    first = Revision.objects.get(memory=memory)
    assert (first.created_at, first.fields["summary"]) == (THEN, summary)
    assert (rule is None) or rule in report_of(project).counts


def test_it_is_found_by_its_own_words_and_not_by_a_stand_in(project: Project, alice: User) -> None:
    memory = bring(project, alice, "Chandelier of forty arms. " * 20)

    def numbers(query: str) -> list[int]:
        return [hit.number for hit in search_memories(project, alice, query, SearchFilter(), limit=5).items]

    assert numbers("chandelier") == [memory.number]
    assert numbers("kept came") == []


def test_all_else_is_held_to_the_rules(project: Project, alice: User) -> None:
    with pytest.raises(Invalid):
        bring(project, alice, "# A heading")
    with pytest.raises(Invalid):
        bring(project, alice, "A line\nand another. " * 30)
    with pytest.raises(Invalid):
        bring(project, alice, "", parent=0, weight="nonsense")
    assert not Memory.objects.exists()


def test_only_the_operator_brings(project: Project, alice: User) -> None:
    for actor in (person(alice), agent(alice), person(alice, Door.ADMIN)):
        with pytest.raises(Forbidden):
            bring_memory(actor=actor, project=project, at=THEN, title="A lamp", summary="x", kind="fact")
    assert not Memory.objects.exists()
