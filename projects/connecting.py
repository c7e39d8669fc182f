"""The exact lines that connect an agent's client, with its token in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from projects.models import AccessToken, Project

# What the server is called in a client's own list.
SERVER_NAME = "memoryhub"
# Stands where the token goes until one was made.
PLACEHOLDER = "mh_your_access_token"
VARIABLE = "MEMORYHUB_TOKEN"


@dataclass(frozen=True)
class Made:
    """A token that was made just now, with the text that nobody sees again."""

    token: AccessToken
    text: str


@dataclass(frozen=True)
class Step:
    """Something to run, or to put into a file."""

    says: str
    code: str


@dataclass(frozen=True)
class Client:
    """A client and its steps, in order."""

    key: str
    name: str
    steps: tuple[Step, ...]


def hub_address() -> str:
    """Where the hub is reached."""
    return str(settings.MEMORYHUB_URL)


def address_of(project: Project) -> str:
    """Where an agent of this project connects to."""
    return f"{settings.MEMORYHUB_URL}/mcp/p/{project.slug}"


def address_of_all() -> str:
    """Where an agent connects whose token reaches several projects: each call names one."""
    return f"{settings.MEMORYHUB_URL}/mcp"


def cursor_servers(url: str) -> dict[str, Any]:
    """What its mcp.json says; the token comes from the environment."""
    headers = {"Authorization": f"Bearer ${{env:{VARIABLE}}}"}
    return {"mcpServers": {SERVER_NAME: {"url": url, "headers": headers}}}


def gemini_servers(url: str) -> dict[str, Any]:
    """What its settings.json says; the token comes from the environment."""
    headers = {"Authorization": f"Bearer ${{{VARIABLE}}}"}
    return {"mcpServers": {SERVER_NAME: {"httpUrl": url, "headers": headers}}}


def clients_at(url: str, token: str = PLACEHOLDER) -> list[Client]:
    """Each client's lines. The token stands in a header or a variable, never in the address."""
    header = f"Authorization: Bearer {token}"
    headers = {"Authorization": f"Bearer {token}"}
    export = Step(
        "Set the token where Codex starts, for example in your shell's profile", f"export {VARIABLE}={token}"
    )
    return [
        Client(
            "claude-code",
            "Claude Code",
            (
                Step(
                    "Run in the folder of the project",
                    f'claude mcp add --transport http {SERVER_NAME} {url} --header "{header}"',
                ),
            ),
        ),
        Client(
            "codex",
            "Codex",
            (
                export,
                Step(
                    "Then run once",
                    f"codex mcp add {SERVER_NAME} --url {url} --bearer-token-env-var {VARIABLE}",
                ),
                Step(
                    "Or put into ~/.codex/config.toml instead of running that",
                    f'[mcp_servers.{SERVER_NAME}]\nurl = "{url}"\nbearer_token_env_var = "{VARIABLE}"',
                ),
            ),
        ),
        Client(
            "cursor",
            "Cursor",
            (
                Step("Set the token where Cursor starts", f"export {VARIABLE}={token}"),
                Step(
                    "Put into .cursor/mcp.json",
                    _json(cursor_servers(url)),
                ),
            ),
        ),
        Client(
            "vs-code",
            "VS Code",
            (
                _file(
                    ".vscode/mcp.json",
                    {"servers": {SERVER_NAME: {"type": "http", "url": url, "headers": headers}}},
                ),
            ),
        ),
        Client(
            "gemini-cli",
            "Gemini CLI",
            (
                Step("Set the token where Gemini CLI starts", f"export {VARIABLE}={token}"),
                Step(
                    "Put into .gemini/settings.json",
                    _json(gemini_servers(url)),
                ),
            ),
        ),
        Client(
            "json",
            "Any other client",
            (
                Step("The address, over streamable HTTP", url),
                Step("The header of every request", header),
                _file(
                    "mcp.json",
                    {"mcpServers": {SERVER_NAME: {"type": "http", "url": url, "headers": headers}}},
                ),
            ),
        ),
        Client("rest", "A script, over REST", _rest_steps(url, header)),
    ]


def _rest_steps(url: str, header: str) -> tuple[Step, ...]:
    """What agents do over MCP a script does over HTTP: `url` is an address of the MCP endpoint."""
    hub, _, project = url.partition("/mcp")
    called = f"{hub}/api/v1/projects{project.removeprefix('/p')}{'/recall' if project else ''}"
    says = "What a session reads first" if project else "The projects that the token reaches"
    return (
        Step(says, f'curl -H "{header}" {called}'),
        Step("Every address, what it takes and answers (OpenAPI)", f"{hub}/api/v1/schema"),
    )


def _file(path: str, content: dict[str, Any]) -> Step:
    says = f"Put into {path}, and keep that file out of version control: the token is in it"
    return Step(says, _json(content))


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2)
