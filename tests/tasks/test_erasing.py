"""Erasing work in flight: the text is gone from wherever it stood, and the number stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core import serializers
from django.db import connection
from django.test import Client

from hygiene.models import Report
from hygiene.services import report_of
from memories.errors import NoSuchNumber
from memories.numbered import numbered
from memories.search import SearchFilter, search_memories
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden, NotFound
from memoryhub.kernel.json_text import as_json
from projects.errors import ProjectArchived, RoleTooLow
from projects.models import Project, Role, User
from projects.services import archive_project
from tasks.continuity import continuity_context
from tasks.errors import NoSuchReceipt, NoSuchTask
from tasks.models import Blocker, Checkpoint, CheckpointEntry, Receipt, Task, TaskRevision, TaskTag
from tasks.services import (
    acknowledge_receipt,
    claim_task,
    create_task,
    erase_checkpoint,
    erase_receipt,
    erase_task,
    revise_task,
    save_checkpoint,
    write_handoff,
)
from tests.admin_client import act, said, signed_in, staff, url
from tests.factories import MembershipFactory, ProjectFactory, agent, member, person, receipt_in, task_in
from tests.memories.test_upkeep import doctor

pytestmark = pytest.mark.django_db

# No stem is shorter, and their ends are like nothing else.
WORDS = ("kwyjiboqqvx", "frobnitzwwvx", "xyzzyplughhvx")
TABLES: tuple[Any, ...] = (
    Task,
    TaskRevision,
    TaskTag,
    Receipt,
    Checkpoint,
    CheckpointEntry,
    Report,
    LogEntry,
)


def by(user: User, word: str) -> Actor:
    """Somebody's agent, in a session and on a branch of that name."""
    actor = agent(user, word)
    return Actor(
        user=user, door=Door.MCP, context=type(actor.context)(session=word, branch=word, commit=word)
    )


def task_of_words(project: Project, user: User) -> Task:
    """A task with a word of its own in every text, and a history."""
    first, second, third = WORDS
    texts = {"title": first, "summary": first, "description": f"{first} {'x ' * 5000}", "tags": [first]}
    task = create_task(actor=by(user, first), project=project, reason=first, **texts).task
    other = {"title": second, "tags": [second], "description": f"{second} {'y ' * 5000}"}
    task = revise_task(actor=by(user, second), task=task, expected_version=1, reason=second, **other).task
    return claim_task(actor=by(user, third), task=task)


def receipt_of_words(project: Project, user: User) -> Receipt:
    first, second, third = WORDS
    texts = dict.fromkeys(Receipt.TEXTS, f"{second} {'x ' * 3000}")
    named = {"branch": third, "commit": third}
    return write_handoff(
        actor=by(user, first), project=project, title=first, summary=first, tags=[third], references=named,
        **texts,
    ).receipt  # fmt: skip


def checkpoint_of_words(project: Project, user: User) -> Checkpoint:
    first, second, third = WORDS
    save_checkpoint(actor=by(user, first), project=project, stream=first, objective=first)
    given = {"blockers": second, "key_decisions": [second], "next_action": "x"}
    save_checkpoint(actor=by(user, second), project=project, stream=first, expected_version=1, **given)
    return save_checkpoint(
        actor=by(user, third), project=project, stream=first, expected_version=2, current_step=third
    ).checkpoint


MAKE: dict[str, Callable[[Project, User], Any]] = {
    "task": task_of_words,
    "receipt": receipt_of_words,
    "checkpoint": checkpoint_of_words,
}


def erase(actor: Actor, row: Any) -> None:
    """By the verb of its type."""
    if isinstance(row, Task):
        erase_task(actor=actor, task=row)
    elif isinstance(row, Receipt):
        erase_receipt(actor=actor, receipt=row)
    else:
        erase_checkpoint(actor=actor, checkpoint=row)


def whole_store() -> str:
    """Every row of every table that holds anything of work in flight, as text."""
    rows = [row for table in TABLES for row in table.objects.all()]
    return serializers.serialize("json", rows)


@pytest.mark.parametrize("what", MAKE)
def test_the_text_is_gone_from_every_table_and_every_answer(
    project: Project, alice: User, bob: User, what: str
) -> None:
    row = MAKE[what](project, bob)
    report_of(project)
    stored = whole_store()
    assert all(word in stored for word in WORDS)
    erase(person(alice), row)
    assert not [word for word in WORDS if word in whole_store()]
    report_of(project)
    told = as_json(continuity_context(project, bob, full=True))
    assert not [word for word in WORDS if word in told]
    for word in WORDS:
        assert search_memories(project, bob, word, SearchFilter(), limit=9).total == 0
    assert doctor() == (0, "All holds in 1 projects.\n")
    erase(person(alice), row)  # again changes nothing


def test_a_task_keeps_its_number_and_who_wrote_it_and_holds_nothing_up(
    project: Project, alice: User, bob: User
) -> None:
    above, blocker = task_in(project), task_in(project)
    task = task_of_words(project, bob)
    links = {"parent": above.number, "blocked_by": [blocker.number], "assignee": "bob"}
    task = revise_task(actor=person(bob), task=task, expected_version=2, **links).task
    part = task_in(project, parent=task.number, blocked_by=[task.number, blocker.number])
    waiting = task_in(project, blocked_by=[task.number])
    erase_task(actor=person(alice), task=task)
    gone = Task.objects.get(pk=task.pk)
    assert (gone.number, gone.title, gone.status, gone.version) == (3, "(erased)", "cancelled", 4)
    assert (gone.parent, gone.assignee, gone.claim_until, gone.author) == (None, None, None, bob)
    assert gone.erased_at == gone.updated_at == gone.finished_at
    revisions = list(TaskRevision.objects.filter(task=task).order_by("version"))
    assert [revision.fields for revision in revisions] == [{}, {}, {}, {"erased": True}]
    assert [revision.actor for revision in revisions] == [bob, bob, bob, alice]
    part.refresh_from_db()
    assert (part.parent, part.blockers, part.version) == (None, [blocker], 2)
    assert TaskRevision.objects.get(task=part, version=2).fields == {
        "parent": 0, "blocked_by": [blocker.number],
    }  # fmt: skip
    assert TaskRevision.objects.get(task=waiting, version=2).fields == {"blocked_by": []}
    assert list(Blocker.objects.values_list("task__number", "blocker__number")) == [(part.number, 2)]
    assert task_in(project).number == 6


def test_a_done_task_stays_done(project: Project, alice: User) -> None:
    task = revise_task(actor=person(alice), task=task_in(project), expected_version=1, status="done").task
    erase_task(actor=person(alice), task=task)
    assert Task.objects.get().status == "done"


def test_no_verb_reaches_what_was_erased(project: Project, alice: User, bob: User) -> None:
    task, receipt = task_of_words(project, bob), receipt_of_words(project, bob)
    erase(person(alice), task)
    erase(person(alice), receipt)
    for user in (alice, bob):
        assert not Task.objects.visible_to(user).exists()
        assert not Receipt.objects.visible_to(user).exists()
        assert not TaskRevision.objects.visible_to(user).exists()
    reached: list[tuple[type[Exception], Callable[[], Any]]] = [
        (NoSuchTask, lambda: revise_task(actor=person(bob), task=task, expected_version=3, title="Back")),
        (NoSuchTask, lambda: claim_task(actor=person(bob), task=task)),
        (NoSuchTask, lambda: task_in(project, parent=task.number)),
        (NoSuchTask, lambda: task_in(project, blocked_by=[task.number])),
        (NoSuchReceipt, lambda: acknowledge_receipt(actor=person(bob), receipt=receipt)),
        (NoSuchReceipt, lambda: receipt_in(project, acknowledges=[receipt.number])),
        (NoSuchNumber, lambda: receipt_in(project, references={"numbers": [task.number]})),
        (NoSuchNumber, lambda: numbered(project, bob, task.number)),
        (NoSuchNumber, lambda: numbered(project, bob, receipt.number)),
    ]
    for error, verb in reached:
        with pytest.raises(error):
            verb()


def test_the_same_call_again_is_no_retry_of_what_was_erased(project: Project, alice: User, bob: User) -> None:
    row = receipt_of_words(project, bob)
    erase(person(alice), row)
    assert receipt_of_words(project, bob).number == row.number + 1


def test_a_stream_begins_anew_and_its_old_version_is_a_conflict(
    project: Project, alice: User, bob: User
) -> None:
    other = save_checkpoint(actor=agent(bob), project=project, objective="Stays.").checkpoint
    erase(person(alice), checkpoint_of_words(project, bob))
    assert list(Checkpoint.objects.all()) == [other]
    saved = save_checkpoint(actor=agent(bob), project=project, stream=WORDS[0], objective="Anew.")
    assert saved.checkpoint.version == 1


@pytest.mark.parametrize("what", MAKE)
def test_only_an_owner_or_a_superuser_erases_and_never_an_agent(
    project: Project, alice: User, bob: User, rita: User, rick: User, charlie: User, what: str
) -> None:
    row = MAKE[what](project, bob)
    before = whole_store()
    for user in (bob, rita, rick):
        with pytest.raises(RoleTooLow):
            erase(person(user), row)
    for user in (charlie, member(ProjectFactory(), "erin", Role.OWNER)):
        with pytest.raises(NotFound):
            erase(person(user), row)
    with pytest.raises(Forbidden):
        erase(agent(alice), row)
    assert whole_store() == before
    charlie.is_superuser = True
    charlie.save()
    erase(person(charlie, Door.ADMIN), row)
    assert WORDS[0] not in whole_store()


def test_the_operator_erases_and_an_archived_project_is_restored_first(project: Project, alice: User) -> None:
    task = task_in(project)
    erase_task(actor=Actor(user=None, door=Door.COMMAND), task=task)
    receipt = receipt_in(project)
    archive_project(by=alice, project=project)
    with pytest.raises(ProjectArchived):
        erase_receipt(actor=person(alice), receipt=receipt)


def test_the_doctor_names_text_that_is_left_of_what_was_erased(project: Project, alice: User) -> None:
    task = task_in(project)
    erase_task(actor=person(alice), task=task)
    TaskRevision.objects.filter(task=task, version=1).update(fields={"title": "Left"})
    code, told = doctor()
    assert (code, told) == (2, "harbor #1 was erased and keeps text in its history.\n")


@pytest.mark.parametrize("what", MAKE)
def test_the_admin_asks_and_erases(admin: Client, project: Project, root: User, bob: User, what: str) -> None:
    row = MAKE[what](project, bob)
    model = type(row)
    shown = admin.get(url(model, "change", row.pk)).content.decode()
    assert url(model, "erase", row.pk) in shown
    asked = admin.get(url(model, "erase", row.pk)).content.decode()
    assert "Erase for good" in asked
    assert getattr(row, "title", WORDS[0]) in asked
    LogEntry.objects.create(
        user=root, content_type_id=_type_of(model), object_id=row.pk, object_repr=WORDS[0], action_flag=2
    )
    assert WORDS[0] in whole_store()
    response = admin.post(url(model, "erase", row.pk), follow=True)
    assert "is erased" in " ".join(said(response))
    assert not [word for word in WORDS if word in whole_store()]
    assert admin.get(url(model, "erase", row.pk)).status_code == 404
    listed = admin.get(url(model, "changelist")).content.decode()
    assert f"#{getattr(row, 'number', 'none')}" not in listed
    assert "(erased)" not in listed
    assert "(erased)" not in admin.get(url(TaskRevision, "changelist")).content.decode()


def _type_of(model: type) -> int:
    from django.contrib.contenttypes.models import ContentType

    return int(ContentType.objects.get_for_model(model).pk)  # type: ignore[arg-type]


def test_staff_that_owns_nothing_here_erases_nothing_in_the_admin(project: Project, bob: User) -> None:
    rights = ("view", "change")
    names = [f"tasks.{right}_{what}" for right in rights for what in MAKE]
    somebody = staff("sam", *names)
    MembershipFactory(project=project, user=somebody, role=Role.REVIEWER)
    rows = [make(project, bob) for make in MAKE.values()]
    before = whole_store()
    for row in rows:
        for method in ("get", "post"):
            answer = getattr(signed_in(somebody), method)(url(type(row), "erase", row.pk))
            assert answer.status_code == 403
    assert whole_store() == before
    project.memberships.filter(user=somebody).update(role=Role.OWNER)
    for row in rows:
        signed_in(somebody).post(url(type(row), "erase", row.pk))
    assert not [word for word in WORDS if word in whole_store()]


def test_the_admins_log_never_says_what_a_task_says(admin: Client, project: Project, bob: User) -> None:
    task = task_of_words(project, bob)
    act(admin, Task, "release", task)
    assert [str(entry.object_repr) for entry in LogEntry.objects.all()] == [f"#{task.number} in harbor"]


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL's vacuum takes care of old rows")
@pytest.mark.django_db(transaction=True)
def test_the_files_hold_no_trace_of_it() -> None:
    project = ProjectFactory()
    alice = member(project, "alice", Role.OWNER)
    for n in range(20):
        task_in(project, title=f"Other {n}", description=f"word{n} " * 300)
        receipt_in(project, summary=f"Other {n}.", done=f"word{n} " * 300)
    rows = [make(project, alice) for make in MAKE.values()]
    for n in range(20):
        task_in(project, title=f"More {n}", description=f"word{n} " * 300)

    def traces() -> dict[str, list[str]]:
        """In which files what words are."""
        database = Path(connection.settings_dict["NAME"])
        held = {
            path.name: path.read_bytes() for path in (database, *database.parent.glob(f"{database.name}-wal"))
        }
        # The index keeps of a word what the one before it hasn't: the last letters will do.
        ends = [word[5:] for word in WORDS]
        found = {end: [name for name, held_by in held.items() if end.encode() in held_by] for end in ends}
        return {end: names for end, names in found.items() if names}

    assert len(traces()) == 3
    for row in rows:
        erase(person(alice), row)
    assert traces() == {}


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL keeps long texts beside the row")
@pytest.mark.parametrize(("table", "many"), [("tasks_task", 1), ("tasks_receipt", len(Receipt.TEXTS))])
def test_no_column_stands_behind_the_long_texts(table: str, many: int) -> None:
    """Whether a row was erased is asked in every reading: SQLite would read its texts to get there."""
    with connection.cursor() as cursor:
        columns = [column.name for column in connection.introspection.get_table_description(cursor, table)]
    assert set(columns[-many:]) <= {"description", *Receipt.TEXTS}
