"""The filters of the list of tasks: what each choice would leave, whatever else is chosen."""

from __future__ import annotations

import pytest
from django.http import QueryDict
from django.test import Client

from projects.models import Project, User
from tasks.browsing import browse_tasks
from tasks.filters import TaskFilterSet
from tasks.services import claim_task, revise_task
from tests.factories import agent, person, task_in
from tests.memories.pages import read
from tests.tasks.pages import TASKS

pytestmark = pytest.mark.django_db


@pytest.fixture
def varied(project: Project, alice: User, bob: User) -> Project:
    """Tasks of every status, ready and not, with and without an assignee, a claim, tags."""
    first = task_in(project, tags=["net", "api"])
    task_in(project, assignee="bob", blocked_by=[first.number], tags=["net"])
    claim_task(actor=agent(bob), task=task_in(project, tags=["api"]))
    for status in ("in_progress", "done", "cancelled", "blocked"):
        task = task_in(project, assignee="alice" if status == "done" else "bob", tags=["net"])
        revise_task(actor=person(alice), task=task, expected_version=1, status=status)
    return project


def filters_of(given: QueryDict) -> TaskFilterSet:
    filters = TaskFilterSet(given)
    assert filters.is_valid(), filters.errors
    return filters


def test_every_choice_says_how_many_it_would_leave(client: Client, varied: Project, bob: User) -> None:
    for given in ("", "status=any&tag=net", "ready=no&assignee=BOB", "mine=yes"):
        filters = filters_of(QueryDict(given))
        browse_tasks(varied, bob, filters, "")
        facets = filters.facets
        choices = {
            "status": ["open", "done", "any"],
            "ready": ["yes", "no"],
            "mine": ["yes"],
            "assignee": [name for name, _ in facets.assignees],
        }
        offered = {
            (name, value): facets.counts.by_choice[name].get(value, 0)
            for name in choices
            for value in choices[name]
        }
        offered |= {("tag", f"{filters.sent('tag')} {tag}"): many for tag, many in facets.tags}
        for (name, value), many in offered.items():
            asked = QueryDict(given, mutable=True)
            asked[name] = value
            board = browse_tasks(varied, bob, filters_of(asked), "")
            assert board.shown == board.total == many, (given, name, value)
    # The page says them.
    page = read(client, bob, TASKS)
    for said in (
        "unfinished (5)",
        "done (1)",
        "any status (7)",
        ">ready (1)",
        "not ready (4)",
        "mine: assigned or claimed (4)",
        '<option value="bob">3</option>',
        '<option value="net">4</option>',
        f'href="{TASKS}?tag=net"',
    ):
        assert said in page, said
    page = read(client, bob, f"{TASKS}?tag=net&status=any")
    assert f'href="{TASKS}?status=any&amp;tag=net+api"' in page
