"""The command that writes and reads `CURRENT_STATE.md`, and what the doctor says of checkpoints and files."""

from __future__ import annotations

import datetime as dt
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from projects.models import Project, User
from tasks.checkup import check_checkpoints
from tasks.models import Checkpoint, CheckpointEntry
from tasks.services import claim_task, save_checkpoint
from tests.factories import ProjectFactory, agent, task_in
from tests.tasks.test_current_state import FILE, STATE

pytestmark = pytest.mark.django_db


def command(*arguments: Any) -> str:
    out = StringIO()
    call_command("checkpoint", *arguments, stdout=out)
    return out.getvalue()


def doctor(*arguments: Any) -> tuple[int, list[str]]:
    out = StringIO()
    with pytest.raises(SystemExit) as stopped:
        call_command("doctor", *arguments, stdout=out)
    return int(stopped.value.code or 0), out.getvalue().splitlines()


def written_names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_export_then_import_changes_nothing(project: Project, bob: User, tmp_path: Path) -> None:
    save_checkpoint(actor=agent(bob), project=project, stream="feature/x #2", **STATE)
    before = Checkpoint.objects.values().get()
    there = tmp_path / "CURRENT_STATE.md"
    there.write_text("older")
    there.chmod(0o640)
    said = command("export", "harbor", there, "--stream", "feature/x #2")
    assert said == f"Wrote {there}: 'feature/x #2' of bob at version 1.\n"
    assert there.stat().st_mode & 0o777 == 0o640
    assert written_names(tmp_path) == ["CURRENT_STATE.md"]
    assert there.read_text().splitlines()[2:] == FILE.splitlines()[2:]
    for _ in range(2):
        said = command("import", "harbor", there, "--stream", "feature/x #2", "--user", "BOB")
        assert said == "Unchanged: 'feature/x #2' of bob at version 1.\n"
    assert Checkpoint.objects.values().get() == before
    assert not CheckpointEntry.objects.exists()


def test_a_changed_file_is_saved_for_the_version_that_it_was_made_from(
    project: Project, bob: User, alice: User, tmp_path: Path
) -> None:
    there = tmp_path / "state.md"
    there.write_text(FILE)
    with pytest.raises(CommandError, match="--user"):
        command("import", "harbor", there)
    assert "Saved 'main' of bob at version 1" in command("import", "harbor", there, "--user", "bob")
    there.write_text(FILE.replace("Reading", "Writing"))
    with pytest.raises(CommandError, match="version 1"):
        command("import", "harbor", there, "--user", "bob")
    command("import", "harbor", there, "--user", "bob", "--expected-version", "1")
    checkpoint = Checkpoint.objects.get()
    assert (checkpoint.version, checkpoint.current_step) == (2, "Writing the first format.")
    assert (checkpoint.door, checkpoint.saved_by) == ("command", bob)
    with pytest.raises(CommandError, match="no checkpoint 'main' of alice"):
        command("export", "harbor", tmp_path / "x.md", "--user", "alice")


def test_what_is_no_plain_file_is_refused_and_left_alone(project: Project, bob: User, tmp_path: Path) -> None:
    save_checkpoint(actor=agent(bob), project=project, **STATE)
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("Mine.")
    link.symlink_to(target)
    os.mkfifo(pipe)
    before = written_names(tmp_path)
    refusals = [
        ("link", link, "is a link"),
        ("a link to nothing", tmp_path / "link2", "is a link"),
        ("a folder", tmp_path, "is a folder"),
        ("a pipe", pipe, "no plain file"),
    ]
    (tmp_path / "link2").symlink_to(tmp_path / "nowhere")
    for _, path, why in refusals:
        for way in ("export", "import"):
            with pytest.raises(CommandError, match=why):
                command(way, "harbor", path)
    with pytest.raises(CommandError, match="can't be written"):
        command("export", "harbor", tmp_path / "no" / "folder.md")
    with pytest.raises(CommandError, match="There is no"):
        command("import", "harbor", tmp_path / "nothing.md")
    for data, why in (
        (b"\xff\xfe", "isn't UTF-8"),
        (b"x" * 1_100_000, "more than"),
        (b"words", "no section"),
    ):
        target.write_bytes(data)
        with pytest.raises(CommandError, match=why):
            command("import", "harbor", target)
    assert written_names(tmp_path) == sorted([*before, "link2"])
    assert Checkpoint.objects.get().version == 1


def findings(project: Project) -> list[str]:
    return [finding.sentence for finding in check_checkpoints(project)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, []),
        ({"objective": "Done", "next_action": ""}, []),
        ({"objective": "", "current_step": "None", "next_action": "-", "key_decisions": []}, []),
        ({"objective": ""}, ["has steps and no objective: no session is told of it."]),
        ({"objective": "<objective>"}, ["has placeholders in Objective."]),
        ({"current_step": "TBD", "blockers": "…"}, ["has placeholders in Current Step, Blockers."]),
        ({"next_action": "None", "blockers": "None"}, ["has no next action."]),
        (
            {"objective": "done", "unsurfaced_results": "Two of each."},
            ["has unsurfaced results: tell them to a person, then empty them."],
        ),
    ],
)
def test_the_doctor_says_which_checkpoints_nobody_could_go_on_with(
    project: Project, bob: User, given: dict[str, Any], said: list[str]
) -> None:
    save_checkpoint(actor=agent(bob), project=project, **{**STATE, **given})
    assert findings(project) == [f"harbor: the checkpoint 'main' of bob {one}" for one in said]
    code, lines = doctor("harbor")
    assert (code, len(lines)) == (1, len(said)) if said else (0, 1)


def test_the_doctor_names_what_is_stale_or_missing_and_repairs_nothing(
    project: Project, bob: User, alice: User
) -> None:
    save_checkpoint(actor=agent(bob), project=project, **STATE)
    for user in (bob, alice):
        claim_task(actor=agent(user), task=task_in(project))
    Checkpoint.objects.update(updated_at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    before = Checkpoint.objects.values().get()
    said = findings(project)
    assert said[0].startswith("harbor: the checkpoint 'main' of bob is stale: last saved on 2026-01-02.")
    assert said[1:] == ["harbor: alice's agent claimed a task, and alice has no checkpoint."]
    assert Checkpoint.objects.values().get() == before
    bob.memberships.all().delete()
    assert not [one for one in findings(project) if "bob" in one]


def test_the_doctor_reads_a_file(project: Project, tmp_path: Path) -> None:
    there = tmp_path / "state.md"
    assert doctor("harbor", "--file", there) == (
        1,
        [f"{there} is missing. Write it with: manage.py checkpoint export."],
    )
    now = timezone.now().isoformat(timespec="seconds")
    fresh = FILE.replace("2026-03-12T21:00:00+10:00", now)
    told = [
        (fresh, 0, ["is in order."]),
        (FILE.replace("2026-03", "2020-03"), 1, ["is stale: last saved on 2020-03-12."]),
        (fresh.replace("## Blockers\nNone", "").replace(now, "today"), 1, ["no section Blockers", "a zone"]),
        (fresh.replace("Write the test.", "<next action>"), 1, ["has placeholders in Next Action."]),
        ("Nothing.", 2, ["text: Has no section"]),
        (fresh + "\n## Blockers\n" + "x" * 501, 2, ["blockers: The section 'Blockers' stands twice."]),
        (fresh.replace("Move", "x" * 501), 2, ["objective: Has 5"]),
    ]
    for text, code, lines in told:
        there.write_text(text)
        found = doctor("harbor", "--file", there)
        assert (found[0], len(found[1])) == (code, len(lines)), found
        assert all(part in line for part, line in zip(lines, found[1], strict=True)), found
        assert there.read_text() == text
    ProjectFactory(slug="other")
    with pytest.raises(CommandError, match="Name the project"):
        call_command("doctor", "--file", there)
