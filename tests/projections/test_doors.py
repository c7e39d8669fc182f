"""The doors to the files: commands, REST, resources and pages say the same."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from memories.services import archive_memory
from memoryhub.projections import decisions_file, rules_files, views
from projects.models import Project, User
from tests.factories import MemoryFactory, person, token_for
from tests.mcp_client import Agent
from tests.projections.test_files import constraint, decision

pytestmark = pytest.mark.django_db


def run(name: str, *arguments: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


# --- commands ---------------------------------------------------------------------------


def test_decisions_are_written_once_and_again_only_when_they_changed(
    project: Project, alice: User, bob: User, tmp_path: Path
) -> None:
    decision(project, "One")
    decision(project, "Mine", author=bob, visibility="private")
    there = tmp_path / "DECISIONS.md"
    assert run("write_decisions", "harbor", there)[0] == f"Wrote {there}.\n"
    assert run("write_decisions", "harbor", there)[0] == f"Unchanged: {there}.\n"
    assert there.read_text() == run("write_decisions", "harbor", "-")[0]
    assert "Mine" not in there.read_text()
    run("write_decisions", "harbor", there, "--user", "bob")
    assert "Mine" in there.read_text()
    assert os.listdir(tmp_path) == ["DECISIONS.md"]
    with pytest.raises(CommandError, match="no user"):
        run("write_decisions", "harbor", there, "--user", "nobody")


def test_what_somebody_else_wrote_is_left_alone(project: Project, tmp_path: Path) -> None:
    decision(project, "One")
    theirs, target, link = tmp_path / "DECISIONS.md", tmp_path / "target", tmp_path / "link.md"
    theirs.write_text("# Ours, by hand\n\n<!-- memoryhub:decisions harbor -->\n")
    target.write_text("")
    link.symlink_to(target)
    other = tmp_path / "other.md"
    other.write_text("<!-- memoryhub:decisions other -->\n")
    before = everything(tmp_path)
    for path, why in (
        (theirs, "wasn't written by MemoryHub"),
        (other, "wasn't written by MemoryHub"),
        (link, "is a link"),
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "x.md", "can't be written"),
    ):
        with pytest.raises(CommandError, match=why):
            run("write_decisions", "harbor", path)
    assert everything(tmp_path) == before


def test_the_rules_folder_follows_the_rules(project: Project, alice: User, tmp_path: Path) -> None:
    old, odd = constraint(project, "Old", "old"), constraint(project, "Odd", "app/[id]")
    constraint(project, "Kept", "src")
    folder = tmp_path / ".claude" / "rules" / "memoryhub"
    said, refused = run("write_rules", "harbor", folder)
    assert said == f"{folder}: 2 written, 0 removed, 0 unchanged.\n"
    assert refused.startswith(f"No file for the scope app/[id] of #{odd.number}: Has '['")
    # What isn't ours: no marker, another project's, our marker in another place, no plain file.
    (folder / "theirs.md").write_text("# By hand\n")
    (folder / "other.md").write_text("<!-- memoryhub:rules other -->\n")
    (folder / "quoting.md").write_text("Look:\n<!-- memoryhub:rules harbor -->\n")
    outside = tmp_path / "outside.md"
    outside.write_text("<!-- memoryhub:rules harbor -->\n")
    (folder / "link.md").symlink_to(outside)
    (folder / "dir.md").mkdir()
    archive_memory(actor=person(alice), memory=old, expected_version=1, reason="Old.")
    assert run("write_rules", "harbor", folder)[0] == f"{folder}: 0 written, 1 removed, 1 unchanged.\n"
    kept = [file.name for file in rules_files(_fresh(project)).files]
    assert sorted(os.listdir(folder)) == sorted(
        [*kept, "dir.md", "link.md", "other.md", "quoting.md", "theirs.md"]
    )
    assert outside.exists()


def test_nothing_is_written_when_one_file_is_not_ours(project: Project, tmp_path: Path) -> None:
    constraint(project, "One", "src")
    constraint(project, "Two")
    for make in (
        lambda path: path.write_text("Mine."),
        lambda path: path.symlink_to(tmp_path / "x"),
        Path.mkdir,
    ):
        folder = tmp_path / f"rules{len(os.listdir(tmp_path))}"
        folder.mkdir()
        make(folder / "all-paths.md")
        with pytest.raises(CommandError):
            run("write_rules", "harbor", folder)
        assert os.listdir(folder) == ["all-paths.md"]


def test_no_link_leads_out_of_the_repository(project: Project, tmp_path: Path) -> None:
    constraint(project, "One", "src")
    repository, outside = tmp_path / "repository", tmp_path / "outside"
    (repository / ".git").mkdir(parents=True)
    outside.mkdir()
    (repository / "docs").symlink_to(outside)
    (repository / "rules").symlink_to(repository / ".git")
    for command, path in (
        ("write_rules", repository / "docs" / "rules"),
        ("write_rules", repository / "docs"),
        ("write_rules", repository / "rules"),
        ("write_decisions", repository / "docs" / "DECISIONS.md"),
    ):
        with pytest.raises(CommandError, match=r"out of the repository|folder of its own"):
            run(command, "harbor", path)
    assert os.listdir(outside) == [] == os.listdir(repository / ".git")


# --- REST, resources, pages -------------------------------------------------------------


def _fresh(project: Project) -> Project:
    return Project.objects.get(pk=project.pk)


def test_a_script_gets_both_and_nothing_while_nothing_changed(
    project: Project, alice: User, bob: User
) -> None:
    one = decision(project, "One")
    constraint(project, "Odd", "app/[id]", "src")
    constraint(project, "Mine", "lib", author=bob, visibility="private")
    auth = {"Authorization": f"Bearer {token_for(bob, project, rights=('read',))[1]}"}
    here, client = "/api/v1/projects/harbor/projections", Client()
    for path in ("decisions", "rules"):
        got = client.get(f"{here}/{path}", headers=auth)
        tag = got["ETag"]
        again = client.get(f"{here}/{path}", headers={**auth, "If-None-Match": tag})
        assert (got.status_code, again.status_code, again.content, again["ETag"]) == (200, 304, b"", tag)
        weak = client.get(f"{here}/{path}", headers={**auth, "If-None-Match": f'"x", W/{tag}'})
        assert weak.status_code == 304
        assert client.get(f"{here}/{path}", headers={**auth, "If-None-Match": '"x"'}).status_code == 200
    text = client.get(f"{here}/decisions", headers=auth)
    assert text["Content-Type"] == "text/plain; charset=utf-8"
    assert text.content.decode() == decisions_file(_fresh(project))
    folder = client.get(f"{here}/rules", headers=auth).json()
    assert folder == rules_files(_fresh(project)).as_dict()
    assert [file["paths"] for file in folder["files"]] == [["src/**", "src"]]
    assert folder["refused"][0]["scope"] == "app/[id]"
    assert "Mine" not in json.dumps(folder)
    tag, digest = text["ETag"], folder["digest"]
    archive_memory(actor=person(alice), memory=one, expected_version=1, reason="Old.")
    changed = client.get(f"{here}/decisions", headers={**auth, "If-None-Match": tag})
    assert changed.status_code == 200
    assert "Archived" in changed.content.decode()
    assert client.get(f"{here}/rules", headers=auth).json()["digest"] == digest


def test_an_agent_reads_both_as_resources(project: Project, alice: User) -> None:
    agent = Agent(token_for(alice, project)[1])
    decision(project, "One")
    constraint(project, "Two", "src")
    base = "memoryhub://projects/harbor"
    templates = agent.result("resources/templates/list")["resourceTemplates"]
    assert {"memoryhub://projects/{project}/decisions", "memoryhub://projects/{project}/rules"} <= {
        template["uriTemplate"] for template in templates
    }
    read = agent.result("resources/read", {"uri": f"{base}/decisions"})["contents"][0]
    assert (read["text"], read["mimeType"]) == (decisions_file(_fresh(project)), "text/markdown")
    read = agent.result("resources/read", {"uri": f"{base}/rules"})["contents"][0]
    assert json.loads(read["text"]) == rules_files(_fresh(project)).as_dict()
    for uri in ("memoryhub://projects/other/decisions", "memoryhub://projects/other/rules"):
        assert "error" in agent.post("resources/read", {"uri": uri}).json()


def test_a_person_reads_and_takes_them_along(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    decision(project, "One", body="<script>alert(1)</script>" + "word " * 6000)
    constraint(project, "Two", "src")
    constraint(project, "Odd", "app/[id]")
    MemoryFactory(project=project, kind="decision", title="Mine", author=bob, visibility="private")
    client.force_login(bob)
    page = client.get("/p/harbor/files/").content.decode()
    assert "The first 20,000 of" in page
    assert "<script>alert" not in page
    assert "Mine" not in page
    assert "app/[id]" in page
    assert "all below it" in page
    file = client.get("/p/harbor/files/decisions/file/")
    assert file["Content-Disposition"] == 'attachment; filename="DECISIONS.md"'
    assert file.content.decode() == decisions_file(_fresh(project))
    archive = client.get("/p/harbor/files/rules/file/")
    assert archive.content == client.get("/p/harbor/files/rules/file/").content
    with zipfile.ZipFile(io.BytesIO(archive.content)) as opened:
        said = {name: opened.read(name).decode() for name in opened.namelist()}
    assert said == {f"memoryhub/{one.name}": one.content for one in rules_files(_fresh(project)).files}


def test_paths_without_a_file_beyond_the_first_are_counted(
    client: Client, project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(alice)
    for name in "abc":
        constraint(project, name, f"app/[{name}]")
    assert "more." not in client.get("/p/harbor/files/").content.decode()
    monkeypatch.setattr(views, "SHOWN_REFUSED", 1)
    page = client.get("/p/harbor/files/").content.decode()
    assert "And 2 more." in page
    assert "app/[b]" not in page


def test_an_empty_project_says_so(client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    page = client.get("/p/harbor/files/").content.decode()
    assert "No rules yet." in page
    assert "In force: 0." in page
