"""The admin's door to work in flight: it agrees with the services and writes nothing by itself."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from memoryhub.kernel.actor import Door
from projects.models import Project, User
from tasks.lifecycle import compact
from tasks.models import Checkpoint, CheckpointEntry, CheckpointLoss, Receipt, Task, TaskRevision
from tasks.services import claim_task, revise_task, save_checkpoint
from tests.admin_client import act, errors, fill, said, signed_in, staff, url
from tests.factories import MemoryFactory, agent, person, receipt_in, task_in

pytestmark = pytest.mark.django_db


def test_a_task_is_added_and_changed_through_the_services(
    admin: Client, project: Project, root: User, bob: User
) -> None:
    first = task_in(project)
    response = fill(
        admin, url(Task, "add"), project=project.pk, title="Ports", summary="Open them.",
        description="One\r\nTwo", tags="a, b", parent=f"#{first.number}", blocked_by="1",
        assignee="bob", reason="Asked.",
    )  # fmt: skip
    assert errors(response) == {}
    task = Task.objects.get(title="Ports")
    assert (task.description, task.tag_names, task.parent, task.assignee) == (
        "One\nTwo",
        ["a", "b"],
        first,
        bob,
    )
    assert task.author == root
    response = fill(admin, url(Task, "change", task.pk), status="done", blocked_by="", assignee="", parent="")
    assert errors(response) == {}
    task = Task.objects.get(pk=task.pk)
    assert (task.status, task.blockers, task.assignee, task.parent, task.version) == (
        "done",
        [],
        None,
        None,
        2,
    )
    revision = TaskRevision.objects.get(task=task, version=2)
    assert (revision.door, set(revision.fields)) == (
        Door.ADMIN,
        {"status", "blocked_by", "assignee", "parent"},
    )
    assert errors(fill(admin, url(Task, "change", task.pk))) == {}
    assert Task.objects.get(pk=task.pk).version == 2


def test_refusals_stand_on_their_fields_and_lose_nothing(
    admin: Client, project: Project, alice: User
) -> None:
    task = task_in(project)
    bad = {"title": "", "summary": "# x", "tags": "No!", "parent": "x"}
    assert set(errors(fill(admin, url(Task, "change", task.pk), **bad))) == set(bad)
    assert set(errors(fill(admin, url(Task, "change", task.pk), assignee="nobody"))) == {"assignee"}
    assert set(errors(fill(admin, url(Task, "change", task.pk), blocked_by=f"{task.number}"))) == {
        "blocked_by"
    }
    revise_task(actor=person(alice), task=task, expected_version=1, title="Another")
    response = fill(admin, url(Task, "change", task.pk), title="Mine", expected_version=1)
    assert "now at version 2" in str(errors(response))
    assert Task.objects.get().title == "Another"


def test_claims_are_released_and_receipts_acknowledged(admin: Client, project: Project, bob: User) -> None:
    task = claim_task(actor=agent(bob), task=task_in(project))
    assert b"bob&#x27;s agent until" in admin.get(url(Task, "changelist")).content
    assert said(act(admin, Task, "release", task)) == ["1 released."]
    assert not Task.objects.get().is_claimed(timezone.now())
    receipt = receipt_in(project, bob, unsurfaced_results="Look.")
    assert said(act(admin, Receipt, "acknowledge", receipt)) == ["1 acknowledged."]
    assert Receipt.objects.get().acknowledger == "root"


def test_a_receipt_is_shown_and_never_changed(admin: Client, project: Project, alice: User) -> None:
    hidden = MemoryFactory(project=project, author=alice, visibility="private")
    receipt = receipt_in(
        project, alice, done="<script>x</script>", references={"branch": "b-1", "numbers": [hidden.number]}
    )
    page = admin.get(url(Receipt, "change", receipt.pk)).content.decode()
    assert "&lt;script&gt;" in page
    assert "b-1" in page
    assert f"#{hidden.number}" not in page
    before = Receipt.objects.values().get()
    admin.post(url(Receipt, "change", receipt.pk), {"title": "Mine", "done": "Mine"})
    assert Receipt.objects.values().get() == before


def test_a_checkpoint_is_changed_with_its_version(admin: Client, project: Project, bob: User) -> None:
    save_checkpoint(actor=agent(bob), project=project, objective="Go on.", key_decisions=["One"])
    there = url(Checkpoint, "change", Checkpoint.objects.get().pk)
    assert errors(fill(admin, there, objective="Other.", key_decisions="One\r\nTwo")) == {}
    now = Checkpoint.objects.get()
    assert (now.objective, now.key_decisions, now.version, now.actor_name) == (
        "Other.", ["One", "Two"], 2, "root",
    )  # fmt: skip
    assert set(errors(fill(admin, there, objective="x" * 501))) == {"objective"}
    assert "version 2" in str(errors(fill(admin, there, objective="Mine.", expected_version=1)))
    assert errors(fill(admin, there)) == {}
    assert (Checkpoint.objects.get().version, CheckpointEntry.objects.count()) == (2, 1)
    assert admin.get(url(CheckpointEntry, "change", CheckpointEntry.objects.get().pk)).status_code == 200


def test_what_was_lost_is_shown_and_never_changed(admin: Client, project: Project, bob: User) -> None:
    save_checkpoint(actor=agent(bob), project=project, objective="Go on.", blockers="<script>\u202e")
    compact(actor=agent(bob), project=project, blockers="")
    loss = CheckpointLoss.objects.get()
    page = admin.get(url(CheckpointLoss, "change", loss.pk)).content.decode()
    assert "blockers: &lt;script&gt;[U+202E]" in page
    assert admin.post(url(CheckpointLoss, "change", loss.pk), {"lost": "[]"}).status_code == 403
    assert admin.get(f"{url(CheckpointLoss, 'changelist')}?settled=no").context["cl"].result_count == 1
    assert admin.get(f"{url(CheckpointEntry, 'changelist')}?kind=kept").context["cl"].result_count == 0


def test_staff_that_may_only_see_writes_nothing(project: Project, bob: User) -> None:
    task = task_in(project)
    browser = signed_in(staff("sam", "tasks.view_task"))
    assert browser.get(url(Task, "changelist")).status_code == 200
    assert browser.post(url(Task, "change", task.pk), {"title": "Mine"}).status_code == 403
    changing = signed_in(staff("sally", "tasks.view_task", "tasks.change_task"))
    # The permission opens the page; the service still asks for the role.
    assert "no project" in str(errors(fill(changing, url(Task, "change", task.pk), title="Mine")))
    assert Task.objects.get().title == task.title


def test_lists_search_by_number_and_words(admin: Client, project: Project) -> None:
    for n in range(3):
        task_in(project, title=f"Task {n}")
    receipt_in(project, title="Handed")
    for model, query, many in ((Task, "#2", 1), (Task, "Task", 3), (Receipt, "4", 1)):
        response = admin.get(url(model, "changelist"), {"q": query})
        assert response.context["cl"].result_count == many, query
    for query in ("status=open", "priority=high", "project=harbor", "status=nonsense"):
        assert admin.get(f"{url(Task, 'changelist')}?{query}").status_code == 200
    for query in ("acknowledged=yes", "unsurfaced=no"):
        assert admin.get(f"{url(Receipt, 'changelist')}?{query}").status_code == 200
