"""`CURRENT_STATE.md`: nothing of a checkpoint or of a file is lost on the way, whatever stands in them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memoryhub.kernel.errors import Conflict, Invalid, SecretDetected
from projects.models import Project, User
from tasks.current_state import parse, render, render_checkpoint
from tasks.models import Checkpoint, CheckpointEntry, CheckpointFields
from tasks.services import save_checkpoint, save_file
from tests.factories import agent, person

STATE: dict[str, Any] = {
    "objective": "Move the importer.",
    "current_step": "Reading the first format.",
    "key_decisions": ["One writer.", "No retries."],
    "next_action": "Write the test.",
    "blockers": "",
    "unsurfaced_results": "",
}
FILE = """\
# Current State
> Last updated: 2026-03-12T21:00:00+10:00

## Objective
Move the importer.

## Current Step
Reading the first format.

## Key Decisions
- One writer.
- No retries.

## Next Action
Write the test.

## Blockers
None

## Unsurfaced Results
None
"""
BRISBANE = dt.timezone(dt.timedelta(hours=10))

# Lines that look like the form, and whatever else a text may hold.
ODD = st.sampled_from(
    [
        "", " ", "\t", "\\", "\\\\", "None", "None ", "\\None", "## Objective", "##  Blockers:", "\\## Notes",
        "# Current State", "> Last updated: now", "- one", "  - two", "##", "## ", "```", "---", "é漢😀",
    ]
)  # fmt: skip
LINE = ODD | st.text(alphabet="ab# \\-*>\t\u2028\u202eNone", max_size=12)
TEXT = st.lists(LINE, max_size=6).map("\n".join)
ONE_LINE = st.text(alphabet="ab# \\-*>\t:None", min_size=1, max_size=20).filter(lambda text: text.strip())
FIELDS = st.fixed_dictionaries(
    dict.fromkeys((*CheckpointFields.LINES, *CheckpointFields.TEXTS), TEXT)
    | {"key_decisions": st.lists(ONE_LINE, max_size=4)}
)
A_FILE = st.lists(
    LINE | st.sampled_from([f"## {name}" for name in ("Objective", "key decisions", "Notes", "Links ##")]),
    max_size=25,
).map(lambda lines: "## Next Action\n" + "\n".join(lines))


def test_the_form_is_the_one_that_people_know() -> None:
    assert render(STATE, updated_at=dt.datetime(2026, 3, 12, 21, tzinfo=BRISBANE)) == FILE
    read = parse(FILE)
    assert (read.fields, read.sections, read.problems, read.missing) == (STATE, [], {}, [])
    assert parse(FILE.replace("\n", "\r\n")).fields == STATE
    assert parse("\ufeff" + FILE).fields == STATE


@given(fields=FIELDS)
@example(fields={**STATE, "blockers": "a\n## Next Action\nrm -rf /\n\\## b\n"})
def test_any_fields_come_back_exactly(fields: dict[str, Any]) -> None:
    read = parse(render(fields))
    assert (read.fields, read.sections, read.problems) == (fields, [], {})


@given(text=A_FILE, fields=FIELDS)
def test_any_sections_of_a_file_come_back_exactly_between_any_fields(
    text: str, fields: dict[str, Any]
) -> None:
    sections = parse(text).sections
    read = parse(render(fields, sections))
    assert (read.fields, read.sections) == (fields, sections)


def test_sections_stand_where_they_stood_and_fields_in_any_order_are_read() -> None:
    text = (
        "# current state\n\nMine, not the hub's.\n\n## Notes\n\n\nKeep.\n\n## BLOCKERS:\nnone yet\n\n"
        "## Links\n- a\n\n### Deeper\n\n## Objective\nGo on.\n\n## Empty\n"
    )
    read = parse(text)
    assert read.fields == {"blockers": "none yet", "objective": "Go on."}
    assert read.missing == ["Current Step", "Key Decisions", "Next Action", "Unsurfaced Results"]
    assert [(one["title"], one["after"], one["text"]) for one in read.sections] == [
        ("", "", "Mine, not the hub's."),
        ("Notes", "", "Keep."),
        ("Empty", "objective", ""),
        ("Links", "blockers", "- a\n\n### Deeper"),
    ]
    lines = render({**STATE, **read.fields}, read.sections).splitlines()
    assert lines[:6] == [
        "# Current State",
        "> Last updated: never",
        "",
        "Mine, not the hub's.",
        "",
        "## Notes",
    ]
    headings = [line for line in lines if line.startswith("## ")]
    assert headings[:4] == ["## Notes", "## Objective", "## Empty", "## Current Step"]


def test_decisions_are_read_as_people_write_them() -> None:
    text = "## Key Decisions\n* One\n  that goes on\n+ Two\n-\nThree\n\n1. Four\n"
    assert parse(text).fields["key_decisions"] == ["One that goes on", "Two", "Three", "1. Four"]


@pytest.mark.django_db
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields=FIELDS, text=A_FILE, hours=st.integers(0, 9))
def test_any_checkpoint_survives_export_and_import(
    project: Project, bob: User, fields: dict[str, Any], text: str, hours: int
) -> None:
    from django.db import transaction

    with transaction.atomic():
        sections = parse(text).sections
        before = save_checkpoint(actor=agent(bob), project=project, sections=sections, **fields).checkpoint
        file = render_checkpoint(before, bob)
        # Into itself: nothing moves. Into another stream: all of it is there.
        again = save_file(actor=agent(bob, "later"), project=project, text=file)
        assert (again.changed, again.checkpoint.version) == (False, 1)
        assert again.checkpoint.updated_at == before.updated_at
        other = save_file(actor=agent(bob), project=project, stream="other/one", text=file).checkpoint
        assert other.everything == before.everything
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_a_file_changes_what_it_names_and_needs_its_version_then(project: Project, bob: User) -> None:
    save_file(actor=agent(bob), project=project, text=FILE + "\n## Notes\nKeep.\n")
    there = Checkpoint.objects.get()
    assert there.values == STATE
    text = "## Blockers\nThe key is missing.\n"
    for version in (None, 7):
        with pytest.raises(Conflict):
            save_file(actor=person(bob), project=project, text=text, expected_version=version)
    done = save_file(actor=person(bob), project=project, text=text, expected_version=1)
    assert done.checkpoint.values == {**STATE, "blockers": "The key is missing."}
    # What isn't the hub's is as the file says; what it replaced is in the history.
    assert done.checkpoint.sections == []
    (entry,) = CheckpointEntry.objects.all()
    assert entry.fields == {
        **STATE,
        "sections": [{"title": "Notes", "text": "Keep.", "after": "unsurfaced_results"}],
    }
    # A save that knows nothing of sections leaves them alone.
    save_file(actor=agent(bob), project=project, stream="x", text=FILE + "\n## Notes\nKeep.\n")
    saved = save_checkpoint(actor=agent(bob), project=project, stream="x", objective="Another.")
    assert "## Notes\nKeep." in render_checkpoint(saved.checkpoint, bob)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "text"),
        ("# Current State\n\nJust words.", "text"),
        (FILE + "\n## Objective\nTwo.", "objective"),
        (FILE.replace("Move", "x" * 501), "objective"),
        (FILE + "".join(f"\n## Own {n}\n" for n in range(21)), "sections"),
        (FILE + "\n## Own\n" + "x" * 1_000_000, "sections"),
        (FILE + "\n## Own\na\x00b", "sections"),
    ],
)
def test_what_a_file_may_not_say_is_named_and_nothing_is_lost(
    project: Project, bob: User, text: str, field: str
) -> None:
    save_checkpoint(actor=agent(bob), project=project, **STATE)
    with pytest.raises(Invalid) as refused:
        save_file(actor=agent(bob), project=project, text=text)
    assert set(refused.value.details["fields"]) == {field}
    assert len(refused.value.message) < 1000
    assert Checkpoint.objects.get().version == 1


@pytest.mark.django_db
def test_a_secret_in_a_section_of_its_own_is_refused(project: Project, bob: User) -> None:
    text = FILE + "\n## Keys\nAKIA" + "QYLPMN5HHHFPZAM2\n"
    with pytest.raises(SecretDetected):
        save_file(actor=agent(bob), project=project, text=text)
    assert not Checkpoint.objects.exists()
