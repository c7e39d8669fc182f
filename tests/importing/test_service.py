"""`import_memory`: thin and long as it came, with its days, under the policy, and nobody learns by it."""

from __future__ import annotations

import datetime as dt
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from hygiene.services import report_of
from memories.models import Link, Memory, Review, Revision
from memories.services import (
    Applied,
    Brought,
    Pending,
    approve_review,
    erase_memory,
    import_memory,
    repair_memory,
    revise_memory,
)
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Forbidden, Invalid, NotFound
from projects.models import Project, User
from tests.factories import agent, person
from tests.importing.bringing import fates, imported, operator, planned, titled
from tests.importing.shapes import context_folder, decision, entity, json_lines

pytestmark = pytest.mark.django_db

THEN = dt.datetime(2025, 5, 4, 12, tzinfo=dt.UTC)
THIN: dict[str, Any] = {"kind": "decision", "title": "One writer", "details": {"why_chosen": "Simple."}}


def bring(actor: Actor, project: Project, brought: Brought | None = None, **given: Any) -> Applied | Pending:
    return import_memory(actor=actor, project=project, brought=brought or Brought(), **{**THIN, **given})


def test_what_is_thin_is_kept_until_an_edit_touches_it(project: Project, alice: User) -> None:
    result = bring(person(alice), project)
    assert isinstance(result, Applied)
    memory = Memory.objects.get(pk=result.memory.pk)
    assert (memory.origin, memory.summary) == ("import", "")
    assert {"missing_summary", "quality"} <= set(report_of(project).counts)
    with pytest.raises(Invalid):
        revise_memory(actor=person(alice), memory=memory, expected_version=1, details={"problem": "x"})
    revise_memory(actor=person(alice), memory=memory, expected_version=1, title="Another")


def test_a_constraint_may_come_without_hardness_and_a_summary_over_the_limit(
    project: Project, alice: User
) -> None:
    long = "It holds. " * 40
    assert isinstance(bring(person(alice), project, kind="constraint", details={}, summary=long), Applied)
    assert "long_summary" in report_of(project).counts
    for wrong in ("# A heading", "A line\nand more. " * 40, "x\x00"):
        with pytest.raises(Invalid):
            bring(person(alice), project, title="B", summary=wrong)


def test_days_in_the_future_count_as_now_and_stand_in_order(project: Project, alice: User) -> None:
    far = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
    bring(person(alice), project, Brought(created_at=far, updated_at=THEN, verified_at=far))
    memory = titled(project, "One writer")
    assert THEN < memory.created_at == memory.updated_at == memory.verified_at == memory.touched_at
    assert memory.created_at <= Revision.objects.get(memory=memory).created_at


def test_who_may_not_write_may_not_import(project: Project, rick: User, charlie: User, alice: User) -> None:
    with pytest.raises(Forbidden):
        bring(person(rick), project)
    with pytest.raises(NotFound):
        bring(person(charlie), project)
    assert not Memory.objects.exists()


def test_a_uid_that_somebody_else_has_is_not_given_twice_and_not_told(
    project: Project, alice: User, bob: User
) -> None:
    uid = str(uuid.uuid4())
    bring(person(alice), project, Brought(uid=uid), visibility="private")
    assert isinstance(bring(person(bob), project, Brought(uid=uid), title="Other"), Applied)
    assert str(titled(project, "One writer").uid) == uid != str(titled(project, "Other").uid)


def test_a_proposal_waits_with_its_past_and_an_approval_brings_it(
    project: Project, alice: User, bob: User
) -> None:
    project.review_policy = "agents"
    project.save()
    past = Brought(uid=str(uuid.uuid4()), created_at=THEN, archived="Never built.")
    result = bring(agent(bob), project, past)
    assert isinstance(result, Pending)
    assert not Memory.objects.exists()
    review = Review.objects.get(number=result.number)
    approve_review(actor=person(alice), review=review)
    memory = titled(project, "One writer")
    assert (memory.origin, memory.created_at, memory.status) == ("import", THEN, "archived")
    assert (str(memory.uid), memory.archive_reason, memory.details) == (
        past.uid,
        "Never built.",
        THIN["details"],
    )
    erase_memory(actor=person(alice), memory=memory)
    review.refresh_from_db()
    assert review.brought == {}


def test_what_was_erased_stays_so_and_others_private_ones_are_unknown(
    project: Project, alice: User, bob: User, tmp_path: Path
) -> None:
    root = context_folder(tmp_path, decisions=[decision("dec-1", "One"), decision("dec-2", "Two")])
    imported(root, project, alice, visibility="private")
    assert fates(planned(root, project, bob)) == {"new": 2}
    assert len(imported(root, project, bob, visibility="private").created) == 2
    mine = Memory.objects.get(author=alice, title="One")
    erase_memory(actor=person(alice), memory=mine)
    assert fates(planned(root, project, alice, visibility="private")) == {"known": 1, "erased": 1}
    assert fates(planned(root, project, bob, visibility="private")) == {"known": 2}


def test_what_says_the_same_or_nearly_is_named(project: Project, alice: User, tmp_path: Path) -> None:
    texts = ["Ann owns the billing queue.", "Nightly jobs run at two in the morning."]
    file = json_lines(tmp_path / "memory.jsonl", *(entity(f"Rule {n}", text) for n, text in enumerate(texts)))
    bring(person(alice), project, kind="fact", title="Rule 0", summary=texts[0], details={})
    bring(person(alice), project, kind="fact", title="Jobs", summary=texts[1], details={})
    plan = planned(file, project, alice)
    assert fates(plan) == {"same": 1, "new": 1}
    close = next(item for item in plan.items if item.close)
    assert close.close is not None
    assert close.close[0] == titled(project, "Jobs").number


def test_proposals_of_an_import_wait_once_and_are_linked_as_they_are_approved(
    project: Project, alice: User, bob: User, tmp_path: Path
) -> None:
    project.review_policy = "everyone"
    project.save()
    root = context_folder(
        tmp_path,
        decisions=[
            decision("dec-1", "One"),
            decision("dec-2", "Two", related_to=["dec-1"]),
            decision("dec-3", "Three", supersedes=["dec-1"]),
        ],
    )
    first = imported(root, project, bob, actor=person(bob))
    assert (len(first.waiting), first.created, first.linked) == (3, [], 0)
    assert sorted(imported(root, project, bob, actor=person(bob)).waiting) == sorted(first.waiting)
    two, *others = sorted(Review.objects.all(), key=lambda review: review.title != "Two")
    for review in (two, *sorted(others, key=lambda review: review.number)):
        approve_review(actor=person(alice), review=review)
    found = set(Link.objects.values_list("source__title", "type", "target__title"))
    assert found == {("One", "related", "Two"), ("Three", "supersedes", "One")}
    again = imported(root, project, bob, actor=operator(bob))
    assert (again.created, again.linked, again.waiting) == ([], 0, [])


def test_links_between_what_was_here_come_once_and_not_where_somebody_ended_them(
    project: Project, alice: User, tmp_path: Path
) -> None:
    alone = [decision("dec-1", "One"), decision("dec-2", "Two")]
    imported(context_folder(tmp_path / "a", decisions=alone), project, alice)
    linked = [decision("dec-1", "One"), decision("dec-2", "Two", related_to=["dec-1"])]
    root = context_folder(tmp_path / "b", decisions=linked)
    assert imported(root, project, alice).linked == 1
    one, two = titled(project, "One"), titled(project, "Two")
    revise_memory(
        actor=person(alice), memory=one, expected_version=one.version, unlink=[two.number], reason="No."
    )
    assert imported(root, project, alice).linked == 0


def test_a_repair_of_what_is_stored_moves_no_day_that_says_something(
    project: Project, alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    past = Brought(created_at=THEN, verified_at=THEN)
    broken = {"title": "a â€” b", "summary": "It holds â€” so far.", "details": {"why_chosen": "Ã©."}}
    bring(person(alice), project, past, **broken)
    call_command("repair_texts", "harbor")
    assert "#1: title, summary, details" in capsys.readouterr().out
    memory = titled(project, "a â€” b")
    assert "quality" in report_of(project).counts
    with pytest.raises(Forbidden):
        repair_memory(actor=person(alice), memory=memory, fields={"title": "x"}, reason="")
    call_command("repair_texts", "harbor", "--apply")
    memory.refresh_from_db()
    assert (memory.title, memory.summary, memory.details) == (
        "a — b",
        "It holds — so far.",
        {"why_chosen": "é."},
    )
    assert (memory.verified_at, memory.summary_changed_at, memory.version) == (THEN, THEN, 2)
    call_command("repair_texts", "harbor", "--apply")
    assert "Repaired 0 memories" in capsys.readouterr().out


def test_the_command_says_first_and_writes_when_told(
    project: Project, alice: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = context_folder(tmp_path, decisions=[decision("dec-1", "One"), decision("dec-2", "Two")])
    call_command("import_from", "harbor", str(root))
    assert "Nothing was written." in capsys.readouterr().out
    assert not Memory.objects.exists()
    call_command("import_from", "harbor", str(root), "--apply", "--visibility", "public")
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.endswith("2 created (#1 to #2), 0 links, 0 left as they are, 0 refused.")
    assert {memory.visibility for memory in Memory.objects.all()} == {"public"}
    with pytest.raises(CommandError, match="no file or folder"):
        call_command("import_from", "harbor", str(tmp_path / "nowhere"))
