"""A checkpoint's page: its file to edit, conflicts that lose nothing, a new stream, its history."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from projects.models import Project, Role, User
from projects.services import change_role
from tasks.current_state import render_checkpoint
from tasks.models import Checkpoint
from tasks.services import save_checkpoint
from tests.factories import agent
from tests.memories.pages import read
from tests.tasks.pages import CHECKPOINT, buttons, checkpoint_in, words

pytestmark = pytest.mark.django_db


def now(checkpoint: Checkpoint) -> Checkpoint:
    return Checkpoint.objects.get(pk=checkpoint.pk)


def typed(page: str) -> str:
    """What stands in the file's field."""
    found = re.search(r'<textarea name="text"[^>]*>\n?(.*?)</textarea>', page, re.DOTALL)
    assert found
    return html.unescape(found.group(1))


def version_in(page: str) -> str:
    return re.findall(r'name="expected_version" value="(\d*)"', page)[-1]


def test_the_file_is_what_the_checkpoint_says_and_saving_it_so_changes_nothing(
    client: Client, project: Project, bob: User
) -> None:
    saved = checkpoint_in(
        project, bob, "docs/x&y", objective="## Not a heading\nNone", key_decisions=["One", "None"]
    )
    page = read(client, bob, CHECKPOINT, stream="docs/x&y")
    text = render_checkpoint(saved, bob)
    assert typed(page) == text
    sent = {"stream": "docs/x&y", "text": text.replace("\n", "\r\n"), "expected_version": version_in(page)}
    response = client.post(CHECKPOINT, sent)
    assert response["Location"] == f"{CHECKPOINT}?stream=docs%2Fx%26y"
    assert "Nothing was changed." in client.get(response["Location"]).content.decode()
    assert now(saved).version == 1
    response = client.get(f"{CHECKPOINT}file/", {"stream": "docs/x&y"})
    assert response.content.decode() == text
    assert response["Content-Disposition"] == 'attachment; filename="CURRENT_STATE.md"'


def test_an_edit_is_saved_with_sections_of_ones_own(client: Client, project: Project, bob: User) -> None:
    saved = checkpoint_in(project, bob)
    text = (
        render_checkpoint(saved, bob)
        .replace("Ask", "Ask & wait")
        .replace("## Blockers", "## Links\nhttps://x\n\n## Blockers")
    )
    client.force_login(bob)
    client.post(CHECKPOINT, {"stream": "main", "text": text, "expected_version": "1"})
    after = now(saved)
    assert (after.version, after.next_action, after.door) == (2, "Ask & wait", "web")
    page = read(client, bob, CHECKPOINT)
    assert "## Links\nhttps://x" in typed(page)
    assert re.findall(r'past__version">v(\d+)', page) == ["2", "1"]
    assert "<ins> &amp; wait</ins>" in page
    assert "Other sections" in page


def test_a_conflict_shows_both_and_keeps_what_was_typed(client: Client, project: Project, bob: User) -> None:
    saved = checkpoint_in(project, bob, blockers="None yet", current_step="First")
    began = render_checkpoint(saved, bob)
    save_checkpoint(
        actor=agent(bob), project=project, objective="What the agent finds", blockers="The disk is full"
    )
    mine = began.replace("Find out whether it holds", "What I find").replace("First", "Second")
    client.force_login(bob)
    response = client.post(CHECKPOINT, {"stream": "main", "text": mine, "expected_version": "1"})
    page = response.content.decode()
    assert response.status_code == 409
    assert now(saved).version == 2
    assert typed(page) == mine
    assert version_in(page) == "2"
    both, _, theirs = page.partition("They alone changed")
    assert "<del> the agent finds</del><ins> I find</ins>" in both
    assert "<ins>The disk is full</ins>" in theirs.partition("The whole file")[0]
    # My step changed what nobody else did: it differs from what stands, and is no surprise.
    assert "<del>First</del><ins>Second</ins>" in both
    assert "What the agent finds" in words(page.partition("The whole file as it stands now")[2])
    # Sending it again says: over version 2.
    assert "Save over version 2" in buttons(page)
    client.post(CHECKPOINT, {"stream": "main", "text": mine, "expected_version": "2"})
    after = now(saved)
    assert (after.version, after.objective, after.current_step) == (3, "What I find", "Second")
    assert [entry.version for entry in after.entries.all()] == [2, 1]


def test_what_is_wrong_is_said_under_its_heading_and_the_text_is_kept(
    client: Client, project: Project, bob: User
) -> None:
    saved = checkpoint_in(project, bob)
    client.force_login(bob)
    for text, said in (
        ("", "Has no section of a checkpoint"),
        (f"## Objective\n{'x' * 501}\n\n## Next Action\n{'y' * 501}", "Next action: Has 501 characters"),
        ("## Objective\none\n\n## Objective\ntwo", "stands twice"),
        ("## Key Decisions\n" + "- one\n" * 11, "Has 11 decisions"),
        ("## Blockers\nThe key is AKIAIOSFODNN7EXAMPLQ.", "looks like a secret"),
        ("## Blockers\nx" + "y" * 1_000_000, "at most 2000"),
        ("## Blockers\n\x01", "control character"),
    ):
        for address, more in ((CHECKPOINT, {"expected_version": "1"}), (f"{CHECKPOINT}new/", {})):
            stream = "main" if more else "another"
            response = client.post(address, {"stream": stream, "text": text, **more})
            page = response.content.decode()
            assert response.status_code == 422, said
            assert said in words(page), said
            assert typed(page).strip() == text.strip()
    assert now(saved).version == Checkpoint.objects.count() == 1
    # Without its version nothing is overwritten.
    changed = {"stream": "main", "text": "## Objective\nanother"}
    assert client.post(CHECKPOINT, changed).status_code == 409
    assert client.post(CHECKPOINT, {**changed, "expected_version": "x"}).status_code == 422


def test_a_new_stream(client: Client, project: Project, bob: User) -> None:
    client.force_login(bob)
    page = client.get(f"{CHECKPOINT}new/").content.decode()
    assert "## Unsurfaced Results\nNone" in typed(page)
    text = typed(page).replace("## Objective\nNone", "## Objective\nWrite it down")
    response = client.post(f"{CHECKPOINT}new/", {"stream": "feature/x y", "text": text})
    assert response["Location"] == f"{CHECKPOINT}?stream=feature%2Fx+y"
    assert Checkpoint.objects.get().objective == "Write it down"
    # One that is there already is a conflict, not an overwriting.
    other = text.replace("Write it down", "Another thing")
    response = client.post(f"{CHECKPOINT}new/", {"stream": "feature/x y", "text": other})
    assert response.status_code == 409
    assert "Another thing" in typed(response.content.decode())
    assert Checkpoint.objects.get().version == 1
    for stream, said in (("", "Is empty"), ("x" * 81, "at most 80"), ("a\nb", "Must be one line")):
        response = client.post(f"{CHECKPOINT}new/", {"stream": stream, "text": text})
        assert response.status_code == 422
        assert said in words(response.content.decode())


def test_a_stale_one_that_still_holds_is_fresh_again(client: Client, project: Project, bob: User) -> None:
    saved = checkpoint_in(project, bob, "docs/x", days=30)
    page = read(client, bob, CHECKPOINT, stream="docs/x")
    assert "It still holds" in buttons(page)
    assert "CONTINUITY SNAPSHOT" not in page
    sent = {"stream": "docs/x", "expected_version": "1"}
    assert client.post(f"{CHECKPOINT}still-so/", {**sent, "expected_version": "7"}).status_code == 409
    client.post(f"{CHECKPOINT}still-so/", sent)
    assert now(saved).version == 1
    page = read(client, bob, CHECKPOINT, stream="docs/x")
    assert "CONTINUITY SNAPSHOT" in page
    assert "It still holds" not in buttons(page)


def test_somebody_elses_is_not_there(
    client: Client, project: Project, alice: User, bob: User, rick: User
) -> None:
    checkpoint_in(project, bob, "of-bob")
    sent = {"stream": "of-bob", "text": "## Objective\nMine now", "expected_version": "1"}
    for user in (alice, rick):
        client.force_login(user)
        gets = [client.get(f"{CHECKPOINT}{more}", {"stream": "of-bob"}) for more in ("", "file/")]
        posts = [client.post(f"{CHECKPOINT}{more}", sent) for more in ("", "still-so/")]
        missing = client.get(CHECKPOINT, {"stream": "no-such"})
        for response in (*gets, *posts, missing):
            assert response.status_code == 404
        assert words(gets[0].content.decode()).replace("of-bob", "no-such") == words(missing.content.decode())
    for stream in ("x" * 81, "\x00", "a\nb"):
        assert client.get(CHECKPOINT, {"stream": stream}).status_code == 404
    # Who may only read by now still reads their own.
    membership = project.memberships.get(user=bob)
    change_role(by=alice, membership=membership, role=Role.READER)
    page = read(client, bob, CHECKPOINT, stream="of-bob")
    assert "You read here." in page
    assert "Save" not in buttons(page)
    assert client.post(CHECKPOINT, sent).status_code == 403


def test_a_long_history_goes_on(client: Client, project: Project, bob: User) -> None:
    saved = checkpoint_in(project, bob, "docs/x")
    for n in range(2, 14):
        save_checkpoint(actor=agent(bob), project=project, stream="docs/x", current_step=f"Step {n}")
    page = read(client, bob, CHECKPOINT, stream="docs/x")
    first = re.findall(r'past__version">v(\d+)', page)
    older = html.unescape(re.findall(r'href="(\?stream=[^"]*before=\d+)#history"', page)[0])
    rest = read(client, bob, CHECKPOINT + older)
    versions = first + re.findall(r'past__version">v(\d+)', rest)
    assert versions == [str(version) for version in range(now(saved).version, 0, -1)]
    assert "<ins>Step 2</ins>" in rest
