"""The project's files in a repository: written whole, ours alone, inside."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memories.models import Memory
from memories.services import archive_memory
from projects.models import Project, User
from tests.clients.hubs import answering, serving
from tests.clients.running import Desk
from tests.factories import MemoryFactory, person

MARK = "<!-- memoryhub:rules harbor -->"


def rule(project: Project, title: str, *paths: str) -> Memory:
    reason = {"reason": "It broke twice, and nobody noticed before a release was out."}
    return MemoryFactory(
        project=project,
        title=title,
        kind="constraint",
        scope_paths=list(paths),
        hardness="absolute",
        details=reason,
    )


def settings(desk: Desk, **said: Any) -> None:
    (desk.repository / ".memoryhub.json").write_text(json.dumps(said))


def test_files_are_written_and_those_whose_rule_is_gone_removed(
    desk: Desk, harbor: Project, owner: User
) -> None:
    rule(harbor, "No SQL in hooks", "hooks")
    gone = rule(harbor, "Short pages", "pages")
    folder = desk.repository / ".claude" / "rules" / "memoryhub"
    assert "away: 3" in desk.run("--project-files").out
    assert len(list(folder.iterdir())) == 2
    assert (desk.repository / "DECISIONS.md").read_text().startswith("<!-- memoryhub:decisions harbor -->")
    assert "away: 0" in desk.run("--project-files").out
    (folder / "theirs.md").write_text("# Somebody's own\n")
    (folder / "foreign.md").write_text("<!-- memoryhub:rules another -->\n")
    archive_memory(actor=person(owner), memory=gone, expected_version=1, reason="Gone.")
    assert "away: 1" in desk.run("--project-files").out
    names = {path.name[:5] for path in folder.iterdir()}
    assert names == {"hooks", "their", "forei"}


def test_a_start_writes_them_where_the_repository_asks_for_it(desk: Desk, harbor: Project) -> None:
    rule(harbor, "No SQL in hooks", "hooks")
    desk.run("session-start")
    assert not (desk.repository / "DECISIONS.md").exists()
    settings(desk, project_files={"decisions": False, "rules": "docs/rules"})
    assert "No SQL in hooks" in desk.run("session-start").out
    assert not (desk.repository / "DECISIONS.md").exists()
    assert len(list((desk.repository / "docs" / "rules").glob("hooks-*.md"))) == 1
    settings(desk, project_files=True)
    (desk.repository / "DECISIONS.md").write_text("# Mine\n")
    assert "No SQL in hooks" in desk.run("session-start").out
    assert (desk.repository / "DECISIONS.md").read_text() == "# Mine\n"
    assert not (desk.repository / ".claude").exists()
    assert "Move it away" in desk.log[-1]


def test_nothing_is_written_outside_of_the_repository(desk: Desk, harbor: Project) -> None:
    rule(harbor, "No SQL in hooks", "hooks")
    outside = desk.folder / "outside"
    outside.mkdir()
    (desk.repository / "link").symlink_to(outside)
    (desk.repository / "D.md").symlink_to(outside / "D.md")
    for rules in ("link", "link/rules", "../outside", str(outside), ".git/rules", "C:/x", "\\x"):
        settings(desk, project_files={"decisions": False, "rules": rules})
        assert desk.run("--project-files").code == 1
    for decisions in ("D.md", "../outside/D.md", "notes.txt", ".git/D.md"):
        settings(desk, project_files={"decisions": decisions, "rules": False})
        assert desk.run("--project-files").code == 1
    assert not list(outside.iterdir())
    assert not (desk.repository / ".git" / "rules").exists()


@pytest.mark.parametrize(
    "files",
    [
        [{"name": "../evil.md", "content": f"{MARK}\n"}],
        [{"name": "evil.sh", "content": f"{MARK}\n"}],
        [{"name": "evil.md", "content": "no marker"}],
        [{"name": "evil.md", "content": 7}],
        [7],
        "x",
    ],
)
def test_a_hostile_hub_writes_no_file_of_its_choice(desk_at: Callable[..., Desk], files: Any) -> None:
    with serving(answering(json.dumps({"files": files}).encode())) as (url, _):
        desk = desk_at(url)
        settings(desk, project_files={"decisions": False})
        assert desk.run("--project-files").code == 1
    assert sorted(path.name for path in desk.repository.iterdir()) == [".git", ".memoryhub.json"]
    assert not list(desk.folder.glob("evil*"))
