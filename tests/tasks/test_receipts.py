"""Receipts on the service: stored once, never changed but acknowledged, naming what their author sees."""

from __future__ import annotations

import pytest

from memories.errors import NoSuchNumber
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden, Invalid, SecretDetected
from projects.errors import NoSuchProject, RoleTooLow
from projects.models import Project, User
from tasks.errors import NoSuchReceipt
from tasks.models import Receipt
from tasks.services import acknowledge_receipt, write_handoff
from tests.factories import MemoryFactory, ProjectFactory, agent, person, receipt_in, task_in

pytestmark = pytest.mark.django_db


def test_a_receipt_keeps_what_was_handed_over(project: Project, bob: User) -> None:
    memory, task = MemoryFactory(project=project), task_in(project)
    texts = {name: f"**{name}**\r\nand more" for name in Receipt.TEXTS}
    references = {"branch": "feature/x", "commit": "abc123", "numbers": [task.number, memory.number]}
    done = write_handoff(
        actor=agent(bob),
        project=project,
        summary="Half is done.",
        tags=["Import"],
        references=references,
        **texts,
    )
    receipt = Receipt.objects.get(pk=done.receipt.pk)
    assert (receipt.number, receipt.title, receipt.tags) == (3, "Half is done.", ["import"])
    assert receipt.done == "**done**\nand more"
    assert receipt.references == {**references, "numbers": [1, 2]}
    assert (receipt.session, receipt.author, receipt.is_unsurfaced) == ("session-1", bob, True)


def test_a_title_is_cut_from_the_summary_with_a_mark(project: Project, bob: User) -> None:
    title = receipt_in(project, bob, summary="word " * 50).title
    assert len(title) == Receipt.TITLE_FROM_SUMMARY
    assert title.endswith("…")
    assert receipt_in(project, bob, title="Mine").title == "Mine"


@pytest.mark.parametrize("said", ["", "None", "none.", "N/A", "  - ", "TBD", "<results>"])
def test_a_placeholder_is_no_unsurfaced_result(project: Project, bob: User, said: str) -> None:
    assert not receipt_in(project, bob, unsurfaced_results=said).is_unsurfaced
    assert Receipt.objects.get().unsurfaced_results == said


def test_every_bad_field_is_named_at_once(project: Project, bob: User) -> None:
    given = {
        "title": "x" * 121, "summary": "- a list", "done": "x" * 20_001, "tags": "one", "decisions": 3,
        "references": {"colour": "red", "branch": "a\nb", "numbers": "5"}, "acknowledges": [0],
    }  # fmt: skip
    with pytest.raises(Invalid) as refused:
        write_handoff(actor=agent(bob), project=project, **given)
    assert set(refused.value.details["fields"]) == {
        *(set(given) - {"references"}), "references.colour", "references.branch", "references.numbers",
    }  # fmt: skip
    with pytest.raises(Invalid) as refused:
        write_handoff(actor=agent(bob), project=project)
    assert set(refused.value.details["fields"]) == {"summary"}
    assert not Receipt.objects.exists()


@pytest.mark.parametrize("field", [*Receipt.TEXTS, "title", "summary"])
def test_a_secret_is_refused_in_every_text(project: Project, bob: User, field: str) -> None:
    with pytest.raises(SecretDetected):
        receipt_in(project, bob, **{field: "AKIA" + "QYLPMN5HHHFPZAM2"})


def test_it_names_nothing_that_its_author_may_not_see(project: Project, bob: User, alice: User) -> None:
    hidden = MemoryFactory(project=project, author=alice, visibility="private")
    said = set()
    for number in (hidden.number, 999):
        with pytest.raises(NoSuchNumber) as refused:
            receipt_in(project, bob, references={"numbers": [number]})
        said.add(refused.value.message.replace(str(number), "N"))
    assert len(said) == 1
    assert receipt_in(project, alice, references={"numbers": [hidden.number]}).number == 2


def test_the_same_call_of_the_same_session_is_stored_once(project: Project, bob: User) -> None:
    left = receipt_in(project)
    given = {"summary": "Done.", "acknowledges": [left.number]}
    first = write_handoff(actor=agent(bob), project=project, **given)
    again = write_handoff(actor=agent(bob), project=project, **given)
    assert (again.receipt, again.duplicate, again.acknowledged) == (first.receipt, True, [left.number])
    assert write_handoff(actor=agent(bob, "two"), project=project, **given).receipt != first.receipt


def test_acknowledging_keeps_who_was_first(project: Project, bob: User, alice: User, rita: User) -> None:
    left = receipt_in(project, alice)
    done = write_handoff(actor=agent(bob), project=project, summary="Taken over.", acknowledges=[left.number])
    assert done.acknowledged == [left.number]
    acknowledge_receipt(actor=person(rita), receipt=left)
    kept = Receipt.objects.get(pk=left.pk)
    assert (kept.acknowledger, kept.acknowledged_by) == ("bob's agent", bob)
    counter = Project.objects.get().change_counter
    acknowledge_receipt(actor=person(rita), receipt=left)
    assert Project.objects.get().change_counter == counter


def test_acknowledging_what_is_not_there_stores_nothing(project: Project, bob: User) -> None:
    left, elsewhere = receipt_in(project), ProjectFactory()
    for _ in range(4):
        receipt_in(elsewhere)
    for number in (task_in(project).number, 4, 999):
        with pytest.raises(NoSuchReceipt):
            write_handoff(
                actor=agent(bob), project=project, summary="Over.", acknowledges=[left.number, number]
            )
    assert Receipt.objects.in_project(project).get() == left
    assert not Receipt.objects.get(pk=left.pk).is_acknowledged


def test_who_may_not_write_is_refused(project: Project, rick: User, charlie: User) -> None:
    left = receipt_in(project)
    for actor, refusal in (
        (person(rick), RoleTooLow),
        (person(charlie), NoSuchProject),
        (Actor(None, Door.COMMAND), Forbidden),
    ):
        with pytest.raises(refusal):
            write_handoff(actor=actor, project=project, summary="Mine.")
        if actor.user:
            with pytest.raises(refusal):
                acknowledge_receipt(actor=actor, receipt=left)
    assert Receipt.objects.visible_to(rick).count() == 1
    assert Receipt.objects.visible_to(charlie).count() == 0
