"""Checkpoints on the service: one current a stream, versions, what a save replaced."""

from __future__ import annotations

import datetime as dt

import pytest

from memoryhub.kernel.errors import Conflict, Forbidden, Invalid, SecretDetected
from projects.errors import NoSuchProject, RoleTooLow
from projects.models import Project, User
from tasks.models import Checkpoint, CheckpointEntry, CheckpointFields
from tasks.placeholders import is_idle, is_placeholder
from tasks.services import revise_checkpoint, save_checkpoint
from tests.factories import agent, person

pytestmark = pytest.mark.django_db
STATE = {"objective": "Move the importer.", "current_step": "Reading.", "key_decisions": ["One writer."]}


def current(user: User, stream: str = "main") -> Checkpoint:
    return Checkpoint.objects.visible_to(user).of_stream(stream).get()


def test_a_save_overwrites_and_keeps_what_it_replaced(project: Project, bob: User) -> None:
    save_checkpoint(actor=agent(bob), project=project, **STATE)
    done = save_checkpoint(actor=agent(bob), project=project, current_step="Writing.\r\nSlowly.")
    assert (done.checkpoint.version, done.changed) == (2, True)
    now = current(bob)
    empty = dict.fromkeys(("next_action", "blockers", "unsurfaced_results"), "")
    assert now.values == {**STATE, "current_step": "Writing.\nSlowly.", **empty}
    entry = CheckpointEntry.objects.get()
    assert (entry.version, entry.fields["current_step"], entry.session) == (1, "Reading.", "session-1")
    assert Checkpoint.objects.count() == 1
    save_checkpoint(actor=agent(bob), project=project, key_decisions=[], objective="")
    assert (current(bob).key_decisions, current(bob).objective) == ([], "")


def test_each_user_and_stream_has_its_own(project: Project, bob: User, alice: User) -> None:
    for user in (bob, alice):
        for stream in ("main", "feature/importer #2"):
            save_checkpoint(actor=agent(user), project=project, stream=stream, objective=f"{user} {stream}")
    assert current(bob, "feature/importer #2").objective == "bob feature/importer #2"
    assert Checkpoint.objects.visible_to(bob).count() == 2
    assert Checkpoint.objects.count() == 4


def test_the_version_may_be_left_out_by_the_session_that_saved_last(project: Project, bob: User) -> None:
    save_checkpoint(actor=agent(bob, "one"), project=project, **STATE)
    for expected in (None, 2, 7):
        with pytest.raises(Conflict) as refused:
            save_checkpoint(
                actor=agent(bob, "two"), project=project, expected_version=expected, objective="Mine."
            )
        assert refused.value.details["current_version"] == 1
    with pytest.raises(Conflict):
        save_checkpoint(actor=agent(bob, "one"), project=project, expected_version=7, objective="Mine.")
    assert current(bob).objective == STATE["objective"]
    done = save_checkpoint(actor=agent(bob, "two"), project=project, expected_version=1, objective="Mine.")
    assert done.checkpoint.version == 2
    with pytest.raises(Conflict):
        save_checkpoint(actor=agent(bob, "one"), project=project, objective="Again mine.")
    # In person there is no session: the version is always needed.
    save_checkpoint(actor=person(bob), project=project, expected_version=2, objective="By hand.")
    with pytest.raises(Conflict):
        save_checkpoint(actor=person(bob), project=project, objective="By hand again.")


def test_a_version_of_what_is_not_there_yet_is_a_conflict(project: Project, bob: User) -> None:
    with pytest.raises(Conflict) as refused:
        save_checkpoint(actor=agent(bob), project=project, expected_version=1, **STATE)
    assert refused.value.details["current_version"] == 0


def test_saying_the_same_moves_the_date_alone_and_a_retry_is_none(project: Project, bob: User) -> None:
    save_checkpoint(actor=agent(bob), project=project, **STATE)
    Checkpoint.objects.update(updated_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    again = save_checkpoint(actor=agent(bob), project=project, **STATE)
    assert (again.changed, again.checkpoint.version) == (False, 1)
    assert current(bob).updated_at.year > 2025
    assert not CheckpointEntry.objects.exists()
    save_checkpoint(actor=agent(bob), project=project, expected_version=1, current_step="Two.")
    retried = save_checkpoint(actor=agent(bob), project=project, expected_version=1, current_step="Two.")
    assert (retried.changed, retried.checkpoint.version) == (False, 2)


def test_what_is_too_large_is_named_field_by_field_and_nothing_is_lost(project: Project, bob: User) -> None:
    save_checkpoint(actor=agent(bob), project=project, **STATE)
    big = "x" * 1_000_000
    given = {name: [big] if name == "key_decisions" else big for name in CheckpointFields.ALL}
    with pytest.raises(Invalid) as refused:
        save_checkpoint(actor=agent(bob), project=project, stream=big, **given)
    assert set(refused.value.details["fields"]) == {*CheckpointFields.ALL, "stream"}
    assert len(refused.value.message) < 2000
    for wrong in ({"key_decisions": ["x"] * 11}, {"key_decisions": "one"}, {"objective": "a\x00b"}, {}):
        with pytest.raises(Invalid):
            save_checkpoint(actor=agent(bob), project=project, **wrong)
    assert current(bob).version == 1


@pytest.mark.parametrize("stream", ["", " ", "a\nb", "x" * 81, 5])
def test_a_stream_has_a_name_of_one_line(project: Project, bob: User, stream: str) -> None:
    with pytest.raises(Invalid) as refused:
        save_checkpoint(actor=agent(bob), project=project, stream=stream, **STATE)
    assert set(refused.value.details["fields"]) == {"stream"}


@pytest.mark.parametrize("field", [*CheckpointFields.ALL, "stream"])
def test_a_secret_is_refused_in_every_text(project: Project, bob: User, field: str) -> None:
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    given = {**STATE, field: [secret] if field == "key_decisions" else secret}
    with pytest.raises(SecretDetected):
        save_checkpoint(actor=agent(bob), project=project, **given)


def test_who_may_not_write_saves_nothing(project: Project, rick: User, charlie: User) -> None:
    for user, refusal in ((rick, RoleTooLow), (charlie, NoSuchProject)):
        with pytest.raises(refusal):
            save_checkpoint(actor=agent(user), project=project, **STATE)
    assert not Checkpoint.objects.exists()


def test_an_owner_may_change_somebodys_in_person(
    project: Project, alice: User, rita: User, bob: User
) -> None:
    save_checkpoint(actor=agent(bob), project=project, **STATE)
    there = current(bob)
    for actor, refusal in ((person(rita), RoleTooLow), (agent(alice), Forbidden)):
        with pytest.raises(refusal):
            revise_checkpoint(actor=actor, checkpoint=there, expected_version=1, objective="Other.")
    with pytest.raises(Conflict):
        revise_checkpoint(actor=person(alice), checkpoint=there, expected_version=2, objective="Other.")
    revise_checkpoint(actor=person(alice), checkpoint=there, expected_version=1, objective="Other.")
    assert (current(bob).objective, current(bob).actor_name) == ("Other.", "alice")
    assert not Checkpoint.objects.visible_to(alice).exists()


def test_a_save_leaves_the_caches_of_memories_alone(project: Project, bob: User) -> None:
    before = Project.objects.get().change_counter
    save_checkpoint(actor=agent(bob), project=project, **STATE)
    assert Project.objects.get().change_counter == before


@pytest.mark.parametrize(
    "text", ["", " ", "None", "none.", "TBD", "…", "- ", "<objective>", "[what]", "{{x}}"]
)
def test_words_that_stand_for_nothing(text: str) -> None:
    assert is_placeholder(text)
    assert is_idle(text)


@pytest.mark.parametrize("text", ["done", "Done.", "COMPLETED", "Idle", "(finished)"])
def test_words_that_end_work(text: str) -> None:
    assert is_idle(text)
    assert not is_placeholder(text)


@pytest.mark.parametrize("text", ["Get the importer done", "Do nothing else than this", "x" * 300])
def test_an_objective_is_none_of_them(text: str) -> None:
    assert not is_idle(text)
