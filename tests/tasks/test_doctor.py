"""What can't be of work in flight, and is reported when it is."""

from __future__ import annotations

import pytest

from memories.overview import overview_of
from projects.models import Project, User
from tasks.doctor import check_numbers, check_tasks
from tasks.models import Blocker, Receipt, Task, TaskRevision
from tasks.services import revise_task
from tests.factories import MemoryFactory, ProjectFactory, person, receipt_in, task_in

pytestmark = pytest.mark.django_db


def found(project: Project) -> list[str]:
    project = Project.objects.get(pk=project.pk)
    return [finding.sentence for check in (check_numbers, check_tasks) for finding in check(project)]


def test_a_store_that_the_services_wrote_is_sound(project: Project, bob: User) -> None:
    MemoryFactory(project=project)
    first = task_in(project)
    second = task_in(project, parent=first.number, blocked_by=[first.number])
    task_in(project, blocked_by=[first.number, second.number])
    revise_task(actor=person(bob), task=first, expected_version=1, status="done")
    receipt_in(project)
    assert found(project) == []


def test_each_thing_that_cant_be_is_named(project: Project) -> None:
    memory = MemoryFactory(project=project)
    tasks = [task_in(project, title=f"Task {n}") for n in range(4)]
    elsewhere = task_in(ProjectFactory(slug="other"))
    Receipt.objects.filter(pk=receipt_in(project).pk).update(number=memory.number)
    Project.objects.filter(pk=project.pk).update(last_number=4)
    TaskRevision.objects.filter(task=tasks[3]).update(version=2)
    Task.objects.filter(pk=tasks[0].pk).update(parent=tasks[1])
    Task.objects.filter(pk=tasks[1].pk).update(parent=tasks[0])
    Task.objects.filter(pk=tasks[2].pk).update(parent=elsewhere)
    for one, other in ((0, 1), (1, 2), (2, 1)):
        Blocker.objects.create(task=tasks[one], blocker=tasks[other])
    Blocker.objects.create(task=tasks[3], blocker=elsewhere)
    assert sorted(found(project)) == [
        "harbor #1 names more than one thing.",
        "harbor #2 is a part of itself, through others.",
        "harbor #2 waits for itself, through others.",
        "harbor #3 is a part of itself, through others.",
        "harbor #3 waits for itself, through others.",
        "harbor #4 is a part of a task of another project.",
        "harbor #4 waits for itself, through others.",
        "harbor #5 has no revision of its version.",
        "harbor #5 waits for a task of another project.",
        "harbor has #5, past its last number 4.",
    ]


def test_the_overview_counts_what_is_in_flight(project: Project, bob: User, charlie: User) -> None:
    assert "tasks" not in overview_of(project, bob)
    first = task_in(project)
    task_in(project, blocked_by=[first.number])
    receipt_in(project, unsurfaced_results="Look.")
    said = {"unfinished": 2, "ready": 1, "unfinished_handoffs": 1}
    assert overview_of(project, bob)["tasks"] == said
    assert "tasks" not in overview_of(project, charlie)
