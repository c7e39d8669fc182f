"""The rule `drifted`: the smallest store that triggers it, and the nearest ones that don't."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from hygiene.services import report_of, tend
from memories.models import CommitReport, Memory
from memories.services import archive_memory, report_commit, restore_memory, verify_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, agent, person
from tests.hygiene.looking import ago, found, private_of, touch
from tests.hygiene.store import reword

pytestmark = pytest.mark.django_db


def commit(project: Project, user: User, *paths: str, at: dt.datetime | None = None) -> None:
    many = CommitReport.objects.count()
    report_commit(
        actor=agent(user),
        project=project,
        commit=f"{many:040x}",
        branch="main",
        paths=list(paths),
        committed_at=at,
    )


@pytest.fixture
def rule(project: Project, alice: User) -> Memory:
    return MemoryFactory(project=project, kind="constraint", scope_paths=["hooks", "src/main.py"])


@pytest.mark.parametrize("path", ["hooks/a.py", "hooks/deep/er/b.py", "hooks", "src/main.py"])
def test_a_commit_inside_the_scope_makes_it_drift(
    path: str, project: Project, rule: Memory, bob: User
) -> None:
    commit(project, bob, "README.md", path)
    assert found(project, "drifted") == [rule.number]


@pytest.mark.parametrize("path", ["webhooks/a.py", "hooks.py", "src/main.pyi", "src/other.py", "Hooks/a.py"])
def test_a_commit_beside_the_scope_does_not(path: str, project: Project, rule: Memory, bob: User) -> None:
    commit(project, bob, path)
    assert found(project, "drifted") == []


def test_what_covers_no_path_never_drifts(project: Project, bob: User) -> None:
    MemoryFactory(project=project, kind="constraint", scope_paths=["global"])
    MemoryFactory(project=project)
    commit(project, bob, "global/a.py", "a.py")
    assert found(project, "drifted") == []


def test_verifying_or_changing_ends_it_until_the_next_commit(
    project: Project, rule: Memory, alice: User, bob: User
) -> None:
    commit(project, bob, "hooks/a.py")
    verify_memory(actor=person(alice), memory=rule)
    assert found(project, "drifted") == []
    commit(project, bob, "hooks/a.py")
    assert found(project, "drifted") == [rule.number]
    reword(rule, alice, body="As it is now.")
    assert found(project, "drifted") == []


def test_a_commit_made_before_it_was_verified_and_reported_after_does_not(
    project: Project, rule: Memory, bob: User
) -> None:
    commit(project, bob, "hooks/a.py", at=timezone.now() - dt.timedelta(hours=1))
    assert found(project, "drifted") == []


def test_only_active_ones_drift(project: Project, rule: Memory, alice: User) -> None:
    commit(project, alice, "hooks/a.py")
    archive_memory(actor=person(alice), memory=rule, expected_version=None)
    assert found(project, "drifted") == []
    restore_memory(actor=person(alice), memory=rule, expected_version=None)
    # Restored is looked at.
    assert found(project, "drifted") == []


def test_a_commit_of_another_project_makes_nothing_drift(project: Project, rule: Memory) -> None:
    other = MemoryFactory(kind="constraint", scope_paths=["hooks"])
    commit(other.project, other.author, "hooks/a.py")
    assert found(project, "drifted") == []
    assert found(other.project, "drifted") == [other.number]


def test_a_private_one_drifts_for_its_author_alone(project: Project, alice: User, bob: User) -> None:
    MemoryFactory(project=project)
    mine = MemoryFactory(
        project=project, author=bob, visibility="private", kind="constraint", scope_paths=["mine"]
    )
    before = report_of(project, alice)
    commit(project, alice, "mine/a.py")
    assert report_of(project, alice) == before
    named = [item for item in private_of(project, bob) if item["rule"] == "drifted"]
    assert [item["memories"][0]["number"] for item in named] == [mine.number]
    assert named[0]["points"] == 0


def test_the_finding_says_since_when_and_what_to_do(project: Project, rule: Memory, bob: User) -> None:
    touch(rule, touched_at=ago(3))
    commit(project, bob, "hooks/a.py", at=ago(2))
    (item,) = [item for item in report_of(project).findings if item["rule"] == "drifted"]
    assert item["do"] == (
        f"Commits changed what #{rule.number} covers since {ago(3).date()}, when it was last changed or "
        f"verified. Check it: memory_verify when it is true, memory_update or memory_archive when it isn't."
    )


def test_upkeep_drops_the_oldest_reports(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CommitReport, "KEPT_PER_PROJECT", 1)
    for _ in range(3):
        commit(project, alice, "a.py")
    assert tend(project).commits == 2
    assert CommitReport.objects.count() == 1
