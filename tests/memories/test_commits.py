"""Reports of commits: kept once, as far as they go, for members; and what a memory's page says of them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.models import CommitReport, CommitScope, Memory
from memories.services import bring_memory, prune_commits, report_commit, verify_memory
from memories.services.commits import bring_commits
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.doctor import all_checks
from memoryhub.kernel.errors import Forbidden, NotFound, SecretDetected
from projects.errors import ProjectArchived
from projects.models import Project, Role, User
from projects.services import archive_project
from tests.factories import DETAILS, MemoryFactory, agent, member, person, token_for
from tests.rest.script import Script

pytestmark = pytest.mark.django_db

HASH = "0123456789abcdef0123456789abcdef01234567"


def report(project: Project, user: User, *paths: str, commit: str = HASH, **given: Any) -> CommitReport:
    said = {"branch": "main", **given}
    return report_commit(actor=agent(user), project=project, commit=commit, paths=list(paths), **said).report


def rule(project: Project, *paths: str, **given: Any) -> Memory:
    return MemoryFactory(project=project, kind="constraint", scope_paths=list(paths), **given)


@pytest.fixture
def script(project: Project, bob: User) -> Script:
    return Script(token_for(bob, project)[1])


def test_a_report_keeps_what_it_says_and_who_made_it(project: Project, script: Script, bob: User) -> None:
    made = timezone.now() - dt.timedelta(days=1)
    body = {
        "hash": HASH.upper(),
        "branch": "feature/x",
        "paths": ["./src//a.py", "src\\a.py", "docs/é.md", ""],
        "committed_at": made.isoformat(),
        "session": "s-1",
        "client": "claude-code",
    }
    response = script.ask("POST", "/commits", body)
    assert response.status_code == 200
    said = response.json()
    assert said == {
        "result": "applied",
        "hash": HASH,
        "paths": 2,
        "left_out": 0,
        "committed_at": made.isoformat(),
    }
    kept = CommitReport.objects.get()
    assert kept.paths == ["src/a.py", "docs/é.md"]
    assert kept.provenance() == {
        "actor": "bob's agent (laptop)",
        "door": "rest",
        "session": "s-1",
        "client": "claude-code",
        "branch": "feature/x",
        "commit": HASH,
    }
    assert kept.committed_at == made


def test_the_same_commit_again_changes_nothing(project: Project, script: Script) -> None:
    body = {"hash": HASH, "paths": ["src/a.py"], "session": "s-1"}
    first = script.ask("POST", "/commits", body).json()
    before = Project.objects.get().change_counter
    again = script.ask("POST", "/commits", {**body, "paths": ["other.py"], "session": "s-2"}).json()
    assert again == {**first, "unchanged": True}
    assert CommitReport.objects.get().paths == ["src/a.py"]
    assert Project.objects.get().change_counter == before


def test_another_project_may_have_the_same_commit(project: Project, bob: User) -> None:
    other = MemoryFactory().project
    member_there = member(other, "other")
    report(project, bob, "a.py")
    report(other, member_there, "a.py")
    assert CommitReport.objects.count() == 2


def test_everything_that_is_wrong_is_named_at_once(script: Script) -> None:
    body = {"hash": "not hex!", "branch": "a\nb", "paths": [1], "committed_at": "yesterday", "more": 1}
    refusal = script.ask("POST", "/commits", body)
    assert refusal.status_code == 422
    assert set(refusal.json()["details"]["fields"]) == {
        "hash",
        "branch",
        "paths",
        "committed_at",
        "session",
        "more",
    }
    assert not CommitReport.objects.exists()


def test_what_no_scope_can_cover_costs_the_rest_nothing(project: Project, bob: User) -> None:
    odd = ["/etc/passwd", "../up.py", "what?.md", "x" * 301, "tab\x00.md"]
    kept = report(project, bob, *odd, "src/a.py")
    assert (kept.paths, kept.left_out) == (["src/a.py"], len(odd))


def test_more_paths_than_are_kept_are_counted(
    project: Project, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CommitReport, "MAX_PATHS", 3)
    kept = report(project, bob, *(f"f{n}.py" for n in range(5)), "f0.py")
    assert (kept.paths, kept.left_out) == (["f0.py", "f1.py", "f2.py"], 2)


def test_a_credential_is_refused_and_not_repeated(project: Project, bob: User) -> None:
    key = "AKIA" + "QWERTYUIOPASDFGH"
    with pytest.raises(SecretDetected) as caught:
        report(project, bob, "src/a.py", f"keys/{key}")
    assert caught.value.details["field"] == "paths"
    assert caught.value.details["line"] == 2
    assert key not in str(caught.value.as_dict())


def test_no_commit_is_of_the_future(project: Project, bob: User) -> None:
    ahead = timezone.now() + dt.timedelta(days=400)
    kept = report(project, bob, "src/a.py", committed_at=ahead)
    assert kept.committed_at == kept.created_at < ahead


def test_members_who_write_report_and_nobody_else(
    project: Project, charlie: User, alice: User, rick: User
) -> None:
    with pytest.raises(NotFound):
        report(project, charlie, "a.py")
    with pytest.raises(Forbidden):
        report(project, rick, "a.py")
    with pytest.raises(Forbidden):
        report_commit(actor=Actor(None, Door.COMMAND), project=project, commit=HASH, branch="", paths=[])
    archive_project(by=alice, project=project)
    with pytest.raises(ProjectArchived):
        report(project, alice, "a.py")
    assert not CommitReport.objects.exists()


def test_a_report_says_nothing_of_what_it_touched(project: Project, alice: User, script: Script) -> None:
    body = {"hash": HASH, "paths": ["src/a.py"], "session": "s-1"}
    before = script.ask("POST", "/commits", {**body, "committed_at": "2026-01-01"}).content
    CommitReport.objects.all().delete()
    rule(project, "src", author=alice, visibility="private")
    assert script.ask("POST", "/commits", {**body, "committed_at": "2026-01-01"}).content == before
    assert CommitScope.objects.exists()


def test_the_oldest_reports_go(project: Project, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommitReport, "KEPT_PER_PROJECT", 2)
    rule(project, "src")
    assert prune_commits(project) == 0
    for n in range(4):
        report(project, bob, "src/a.py", commit=f"{n:040x}")
    before = Project.objects.get().change_counter
    assert prune_commits(project) == 2
    assert [each.commit[-1] for each in CommitReport.objects.all()] == ["3", "2"]
    assert CommitScope.objects.count() == 2
    assert Project.objects.get().change_counter == before + 1
    assert prune_commits(project) == 0


def test_one_that_comes_with_a_past_meets_the_commits_since(project: Project, alice: User) -> None:
    made = timezone.now() - dt.timedelta(days=10)
    report(project, alice, "src/a.py", committed_at=made)
    given = {"title": "A rule", "summary": "Why.", "kind": "constraint", "hardness": "advisory"}
    given |= {"details": DETAILS["constraint"], "scope_paths": ["src"]}
    actor = Actor(user=alice, door=Door.COMMAND)
    for days, text in ((11, "Before."), (9, "After.")):
        at = timezone.now() - dt.timedelta(days=days)
        bring_memory(actor=actor, project=project, at=at, **{**given, "body": text, "title": text})
    assert list(CommitScope.objects.values_list("path", flat=True)) == ["src"]
    before, after = Memory.objects.order_by("number")
    assert CommitReport.objects.since_looked_at(before).exists()
    assert not CommitReport.objects.since_looked_at(after).exists()


def test_none_that_another_store_had_is_of_the_future(project: Project, bob: User) -> None:
    memory = rule(project, "src")
    ahead = timezone.now() + dt.timedelta(days=400)
    brought = CommitReport(
        project=project, reporter=bob, commit=HASH, paths=["src/a.py"], committed_at=ahead, actor_kind="agent"
    )
    bring_commits(project, [brought])
    assert CommitReport.objects.since_looked_at(memory).get().committed_at < ahead
    verify_memory(actor=person(bob), memory=memory)
    memory.refresh_from_db()
    assert not CommitReport.objects.since_looked_at(memory).exists()


def test_the_doctor_compares_what_was_touched_with_its_report(project: Project, bob: User) -> None:
    rule(project, "src")
    report(project, bob, "src/a.py")
    check = all_checks()["commits"]
    assert list(check(project)) == []
    CommitScope.objects.update(committed_at=timezone.now())
    assert [finding.sentence for finding in check(project)] == [
        "harbor has 1 scopes that aren't as their commits' reports say."
    ]


# --- pages --------------------------------------------------------------------------------------


def page_of(client: Client, user: User, memory: Memory) -> str:
    client.force_login(user)
    return client.get(f"/p/{memory.project.slug}/memories/{memory.number}/").content.decode()


def test_a_page_says_which_commits_touched_it_since_it_was_verified(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    memory = rule(project, "src", visibility="public")
    report(project, bob, "src/a.py", branch="feature/<b>")
    report(project, bob, "webhooks/a.py", "srcs/a.py", commit="f" * 40)
    page = page_of(client, alice, memory)
    assert "Commits since" in page
    assert HASH[:10] in page
    assert HASH[:11] not in page
    assert "feature/&lt;b&gt;" in page
    assert "f" * 10 not in page
    verify_memory(actor=person(alice), memory=memory)
    assert "Commits since" not in page_of(client, alice, memory)


def test_a_page_tells_a_stranger_nothing_of_commits(
    client: Client, project: Project, bob: User, charlie: User
) -> None:
    memory = rule(project, "src", visibility="public")
    report(project, bob, "src/a.py", branch="feature/secret-plan")
    page = page_of(client, charlie, memory)
    assert memory.title in page
    assert HASH[:10] not in page
    assert "secret-plan" not in page


def test_a_page_shows_the_newest_in_as_many_queries(client: Client, project: Project, bob: User) -> None:
    memory = rule(project, "src")
    counts = []
    page_of(client, bob, memory)
    for part in ((0,), range(1, 7)):
        for n in part:
            report(project, bob, "src/a.py", commit=f"{n}" * 40)
        with CaptureQueriesContext(connection) as queries:
            page = page_of(client, bob, memory)
        counts.append(len(queries))
    assert "6" * 10 in page
    assert "1" * 10 not in page
    assert "and more" in page
    assert counts[0] == counts[-1] <= 20


def test_activity_tells_of_a_report_to_members(
    client: Client, project: Project, bob: User, charlie: User
) -> None:
    report(project, bob, "src/a.py")
    client.force_login(bob)
    assert f">{HASH[:7]}<" in client.get("/p/harbor/activity/").content.decode()
    assert "reported" in client.get("/p/harbor/activity/session/?id=session-1").content.decode()
    client.force_login(charlie)
    assert client.get("/p/harbor/activity/").status_code == 404
    seen = [CommitReport.objects.visible_to(who).count() for who in (bob, charlie)]
    assert seen == [1, 0]


def test_the_admin_shows_reports_and_changes_none(admin: Client, project: Project, bob: User) -> None:
    kept = report(project, bob, "src/<a>.py")
    at = "/admin/memories/commitreport/"
    assert HASH in admin.get(at).content.decode()
    assert admin.get(f"{at}?q={HASH[:12]}").status_code == 200
    assert "src/&lt;a&gt;.py" in admin.get(f"{at}{kept.pk}/change/").content.decode()
    assert admin.post(f"{at}{kept.pk}/delete/", {"post": "yes"}).status_code == 403
    assert admin.get(f"{at}add/").status_code == 403


def test_readers_may_not_report_over_rest(project: Project) -> None:
    reader = member(project, "reads", Role.READER)
    response = Script(token_for(reader, project)[1]).ask(
        "POST", "/commits", {"hash": HASH, "paths": [], "session": "s"}
    )
    assert response.status_code == 403
