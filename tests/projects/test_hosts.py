"""The settings files of hosts: what they call, that no token is in them, and that they can be kept."""

from __future__ import annotations

import html
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from memoryhub.clients import OPENCLAW
from projects.connecting import PLACEHOLDER, clients_at
from projects.hosts import CLIENT_PATH, HOSTS, OPENCLAW_FILES, Host, settings_of
from projects.models import Project, User

MOMENTS = {
    "session-start",
    "subagent-start",
    "subagent-end",
    "before-edit",
    "after-tool",
    "before-compaction",
    "stop",
    "session-end",
}
CONNECT = "/p/harbor/connect/"


def texts(project: Project) -> dict[str, str]:
    """By path, what stands in each file."""
    files = [file for each in settings_of(project) for file in each.files]
    assert len({file.path for file in files}) == len(files)
    return {file.path: file.text for file in files}


def read(path: str, text: str) -> dict[str, Any]:
    return tomllib.loads(text) if path.endswith(".toml") else json.loads(text)


def commands(value: Any) -> list[str]:
    """Every command in a file, wherever it stands."""
    if isinstance(value, dict):
        here = [value["command"]] if isinstance(value.get("command"), str) else []
        return here + [found for each in value.values() for found in commands(each)]
    return [found for each in value for found in commands(each)] if isinstance(value, list) else []


def test_every_file_can_be_read_and_says_where_the_project_is(project: Project) -> None:
    found = texts(project)
    assert set(found) == {
        ".memoryhub.json",
        ".claude/settings.json",
        ".mcp.json",
        ".codex/config.toml",
        ".cursor/hooks.json",
        ".cursor/mcp.json",
        ".gemini/settings.json",
        "AGENTS.md",
        ".agents/skills/memoryhub/SKILL.md",
        ".claude/skills/memoryhub/SKILL.md",
    }
    for path in (".mcp.json", ".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json"):
        servers = read(path, found[path])
        server = servers.get("mcpServers", servers.get("mcp_servers"))["memoryhub"]
        assert (server.get("url") or server["httpUrl"]).endswith("/mcp/p/harbor")
        assert "MEMORYHUB_TOKEN" in json.dumps(server)
    assert read(".memoryhub.json", found[".memoryhub.json"]) == {"project": "harbor"}


def test_no_file_has_a_token_in_it(project: Project) -> None:
    for path, text in texts(project).items():
        assert not re.search(r"mh_\w", text), path


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.key)
def test_a_host_calls_the_client_once_a_moment_and_fails_open(host: Host, project: Project) -> None:
    (settings,) = [each for each in settings_of(project) if each.key == host.key]
    found = [
        one
        for file in settings.files
        if not file.path.endswith(".md")
        for one in commands(read(file.path, file.text))
    ]
    said = [re.fullmatch(r"python3 (\S.*) ([a-z-]+) --host ([a-z-]+) \|\| exit 0", one) for one in found]
    assert all(each and each[1].endswith(CLIENT_PATH) and each[3] == host.key for each in said)
    moments = [each[2] for each in said if each]
    assert len(moments) == len(set(moments)) == len(host.hooks)
    assert set(moments) <= MOMENTS
    assert {"session-start", "after-tool", "before-compaction", "stop", "session-end"} <= set(moments)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.key)
@pytest.mark.parametrize("has_client", [False, True])
def test_a_command_runs_the_client_and_ends_well_without_it(
    host: Host, has_client: bool, tmp_path: Path
) -> None:
    repository = tmp_path / "a repository"
    subprocess.run(["git", "init", "-q", repository], check=True)
    client = repository / CLIENT_PATH
    client.parent.mkdir()
    if has_client:
        client.write_text("import sys; print(sys.argv[1:]); sys.exit(2)")
    here = {"CLAUDE_PROJECT_DIR": str(repository), "GEMINI_PROJECT_DIR": str(repository)}
    inside = repository if host.key == "cursor" else client.parent
    done = subprocess.run(
        host.command(host.hooks[0]),
        shell=True,
        cwd=inside,
        env={**here, "PATH": "/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert done.stdout == (f"['session-start', '--host', '{host.key}']\n" if has_client else "")


def test_what_is_put_into_a_repository_by_the_first_lines_has_no_token_where_a_host_reads_variables() -> None:
    by_key = {client.key: client for client in clients_at("http://hub/mcp/p/x", "mh_secret")}
    for key in ("cursor", "gemini-cli"):
        *_, file = by_key[key].steps
        assert "MEMORYHUB_TOKEN" in file.code
        assert "mh_secret" not in file.code


def test_the_page_has_every_file_to_copy_and_to_keep(
    client: Client, project: Project, alice: User, charlie: User
) -> None:
    client.force_login(alice)
    page = client.get(CONNECT).content.decode()
    for each in settings_of(project):
        for place, file in enumerate(each.files, start=1):
            address = f"{CONNECT}{each.key}/{place}/file/"
            assert f'href="{address}" download="{file.name}"' in page
            kept = client.get(address)
            assert kept.content.decode() == file.text
            assert kept["Content-Disposition"] == f'attachment; filename="{file.name}"'
            assert client.get(f"{CONNECT}{each.key}/{place + 9}/file/").status_code == 404
    assert client.get(f"{CONNECT}emacs/1/file/").status_code == 404
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert f"export MEMORYHUB_TOKEN={PLACEHOLDER}" in page
    client.force_login(charlie)
    assert client.get(f"{CONNECT}codex/1/file/").status_code == 404


def test_the_page_says_how_openclaw_gets_its_plugin(client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    page = html.unescape(client.get(CONNECT).content.decode())
    assert "/clients/openclaw/{openclaw.plugin.json,package.json,index.js}" in page
    assert set(OPENCLAW_FILES) == set(OPENCLAW)
    assert '"config": {\n          "project": "harbor"' in page


def test_a_token_made_just_now_stands_in_the_variables(client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    page = client.post(CONNECT, {"name": "laptop", "rights": ["read"], "expires": ""}).content.decode()
    found = re.search(r'id="token">(mh_\w+)<', page)
    assert found
    assert f"export MEMORYHUB_TOKEN={found[1]}" in page
    assert len(page) < 150_000
