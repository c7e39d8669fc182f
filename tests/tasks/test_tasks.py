"""Tasks on the service: fields, versions, sub-tasks, what blocks what, retries, roles."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from django.utils import timezone

from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden, Invalid, SecretDetected
from projects.errors import NoSuchProject, ProjectArchived, RightMissing, RoleTooLow
from projects.models import Project, User
from projects.services import archive_project
from tasks.errors import NoSuchTask, TaskMovedOn, TaskRule
from tasks.models import Task, TaskRevision
from tasks.services import create_task, revise_task
from tests.factories import MemoryFactory, ProjectFactory, agent, person, receipt_in, task_in, token_for

pytestmark = pytest.mark.django_db
NEW = {"title": "Write the importer", "summary": "So that old stores come over."}


def now(task: Task) -> Task:
    return Task.objects.get(pk=task.pk)


def revise(user: User, task: Task, **given: Any) -> Task:
    return revise_task(actor=person(user), task=task, expected_version=now(task).version, **given).task


def ready(project: Project) -> list[int]:
    found = Task.objects.in_project(project).ready(timezone.now())
    return sorted(found.values_list("number", flat=True))


def test_a_task_has_a_number_of_the_one_sequence_and_a_first_revision(project: Project, bob: User) -> None:
    memory = MemoryFactory(project=project)
    task = create_task(
        actor=agent(bob), project=project, **NEW, tags=["Import", "import"], priority="high"
    ).task
    receipt = receipt_in(project, bob)
    assert [memory.number, task.number, receipt.number] == [1, 2, 3]
    kept = now(task)
    assert (kept.status, kept.priority, kept.version, kept.tag_names) == ("open", "high", 1, ["import"])
    assert kept.author == bob
    first = TaskRevision.objects.get(task=task)
    assert first.fields["title"] == NEW["title"]
    assert first.actor_name == "bob's agent"
    assert first.session == "session-1"


def test_every_bad_field_is_named_at_once_and_nothing_is_stored(project: Project, bob: User) -> None:
    given = {
        "title": "", "summary": "# a heading", "description": "x" * 100_001, "priority": "urgent",
        "tags": ["No Tag!"], "parent": -1, "blocked_by": ["2"], "colour": "red", "status": "done",
    }  # fmt: skip
    with pytest.raises(Invalid) as refused:
        create_task(actor=person(bob), project=project, **given)
    assert set(refused.value.details["fields"]) == set(given)
    assert not Task.objects.exists()
    assert Project.objects.get().last_number == 0


def test_title_and_summary_are_required(project: Project, bob: User) -> None:
    with pytest.raises(Invalid) as refused:
        create_task(actor=person(bob), project=project)
    assert set(refused.value.details["fields"]) == {"title", "summary"}


@pytest.mark.parametrize("field", ["title", "summary", "description", "reason"])
def test_a_secret_is_refused_in_every_text(project: Project, bob: User, field: str) -> None:
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    with pytest.raises(SecretDetected) as refused:
        create_task(actor=person(bob), project=project, **{**NEW, field: f"use {secret} here"})
    assert refused.value.details["field"] == field
    assert secret not in refused.value.message


def test_fields_not_named_stay_and_each_change_is_a_revision(project: Project, bob: User) -> None:
    task = task_in(project, description="Long.", tags=["one"])
    changed = revise(bob, task, title="Write the exporter", reason="The other way round.")
    assert (changed.version, changed.title) == (2, "Write the exporter")
    assert now(task).description == "Long."
    assert now(task).tag_names == ["one"]
    last = TaskRevision.objects.of(task).first()
    assert last is not None
    assert (last.fields, last.reason) == ({"title": "Write the exporter"}, "The other way round.")
    assert now(task).updated_at == last.created_at


def test_what_stands_already_changes_nothing(project: Project, bob: User) -> None:
    task = task_in(project, tags=["one"])
    same = revise(bob, task, title=task.title, tags=["one"], parent=0, blocked_by=[], assignee="")
    assert same.version == 1
    assert TaskRevision.objects.count() == 1


def test_an_old_version_is_a_conflict_that_names_what_changed(project: Project, bob: User) -> None:
    task = task_in(project)
    revise(bob, task, priority="low")
    with pytest.raises(TaskMovedOn) as refused:
        revise_task(actor=person(bob), task=task, expected_version=1, title="Mine")
    assert refused.value.details["current_version"] == 2
    assert refused.value.details["changed"] == ["priority"]
    assert now(task).title == task.title


def test_ready_is_open_unblocked_and_unclaimed(project: Project, bob: User) -> None:
    first, second = task_in(project), task_in(project, title="Second")
    last = task_in(project, title="Last", blocked_by=[first.number, second.number])
    assert ready(project) == [first.number, second.number]
    revise(bob, first, status="cancelled")
    done = revise_task(actor=person(bob), task=second, expected_version=1, status="done")
    assert ready(project) == [last.number]
    assert [(hint.type, hint.number) for hint in done.hints] == [("ready", last.number)]
    assert now(second).finished_at is not None
    revise(bob, second, status="open")
    assert now(second).finished_at is None
    assert ready(project) == [second.number]
    revise(bob, second, status="blocked")
    assert ready(project) == []


def test_sub_tasks_may_be_deep_and_never_go_in_circles(project: Project, bob: User) -> None:
    top = task_in(project)
    middle = task_in(project, title="Middle", parent=top.number)
    low = task_in(project, title="Low", parent=middle.number)
    for parent in (top, middle, low):
        with pytest.raises(TaskRule) as refused:
            revise(bob, top, parent=parent.number)
        assert refused.value.details["rule"] == "no_circles"
    assert now(top).parent is None
    finished = revise_task(actor=person(bob), task=middle, expected_version=1, status="done")
    assert [(hint.type, hint.number) for hint in finished.hints] == [("unfinished_sub_tasks", low.number)]
    assert revise(bob, low, parent=0).parent is None


def test_what_blocks_never_goes_in_circles(project: Project, bob: User) -> None:
    tasks = [task_in(project, title=f"Task {n}") for n in range(4)]
    for one, other in itertools.pairwise(tasks):
        revise(bob, one, blocked_by=[other.number])
    for task in tasks:
        with pytest.raises(TaskRule) as refused:
            revise(bob, tasks[-1], blocked_by=[task.number])
        assert set(refused.value.details["fields"]) == {"blocked_by"}
    assert now(tasks[-1]).blockers == []
    assert [one.number for one in now(tasks[0]).blockers] == [tasks[1].number]
    assert revise(bob, tasks[0], blocked_by=[]).blockers == []


def test_other_things_and_other_projects_are_no_tasks(project: Project, bob: User) -> None:
    memory, elsewhere = MemoryFactory(project=project), ProjectFactory()
    task_in(elsewhere), task_in(elsewhere)
    task = task_in(project)
    for name, value in (("parent", memory.number), ("blocked_by", [memory.number]), ("parent", 999)):
        with pytest.raises(NoSuchTask):
            revise(bob, task, **{name: value})
    assert now(task).version == 1


def test_only_a_member_is_an_assignee(project: Project, bob: User, charlie: User) -> None:
    task = task_in(project, assignee="BOB")
    assert task.assignee == bob
    for name in ("charlie", "nobody"):
        with pytest.raises(Invalid) as refused:
            revise(bob, task, assignee=name)
        assert refused.value.details["fields"] == {
            "assignee": "Nobody of this name is a member of the project."
        }
    assert revise(bob, task, assignee="").assignee is None


def test_the_same_call_of_the_same_session_is_stored_once(project: Project, bob: User) -> None:
    first = create_task(actor=agent(bob), project=project, **NEW)
    again = create_task(actor=agent(bob), project=project, **NEW)
    assert (again.task, again.duplicate, first.duplicate) == (first.task, True, False)
    other = create_task(actor=agent(bob, "another"), project=project, **NEW)
    in_person = [create_task(actor=person(bob), project=project, **NEW).task for _ in range(2)]
    assert len({first.task.pk, other.task.pk, *(task.pk for task in in_person)}) == 4


def test_who_may_not_write_is_refused(project: Project, bob: User, rick: User, charlie: User) -> None:
    task = task_in(project)
    token = token_for(bob, project, rights=("read",))[0]
    for actor, refusal in (
        (person(rick), RoleTooLow),
        (person(charlie), NoSuchProject),
        (agent(bob, token=token), RightMissing),
    ):
        with pytest.raises(refusal):
            create_task(actor=actor, project=project, **NEW)
        with pytest.raises(refusal):
            revise_task(actor=actor, task=task, expected_version=1, title="Mine")
    archive_project(by=None, project=project)
    with pytest.raises(ProjectArchived):
        create_task(actor=person(bob), project=project, **NEW)
    assert Task.objects.count() == 1


def test_the_operator_may_write(project: Project) -> None:
    task = create_task(actor=Actor(None, Door.COMMAND), project=project, **NEW).task
    assert now(task).author is None
    assert TaskRevision.objects.get().actor_name == "the operator"


def test_members_alone_see_tasks(project: Project, bob: User, rick: User, charlie: User) -> None:
    task_in(project)
    seen = {user.username: Task.objects.visible_to(user).count() for user in (bob, rick, charlie)}
    assert seen == {"bob": 1, "rick": 1, "charlie": 0}
    assert issubclass(RoleTooLow, Forbidden)
