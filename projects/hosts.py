"""The settings files of hosts that run hooks: what each calls at which moment, and where it finds the tools.

No file has the token in it: it stands in the environment of whoever starts the host, so that the files may
be committed for everybody who works in the repository.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from projects.connecting import (
    SERVER_NAME,
    VARIABLE,
    Step,
    address_of,
    cursor_servers,
    gemini_servers,
    hub_address,
)
from projects.guides import section, skill
from projects.models import Project

# Where the hook client lies in a repository; the hub serves it.
CLIENT_PATH = ".memoryhub/connect.py"
CONFIG_PATH = ".memoryhub.json"
# Where Codex, Gemini CLI and others look; Claude Code has a place of its own.
SKILL_PATH = ".agents/skills/memoryhub/SKILL.md"
# The client ends by itself before that.
SECONDS = 10
# A client that isn't there, or no Python: a session goes on. Some hosts read other codes as a refusal.
_FAILS_OPEN = "|| exit 0"


@dataclass(frozen=True)
class Hook:
    """What a host calls an event, the client's moment for it, of which tools (all unless named), and how long
    it may take.
    """

    event: str
    moment: str
    tools: str = ""
    seconds: int = SECONDS


@dataclass(frozen=True)
class HostFile:
    """A settings file, by its path in the repository."""

    path: str
    text: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Host:
    """A host: its hooks, how it names the folder of the project, and what is to be known."""

    key: str
    name: str
    # In front of the client's path: a hook may run in another folder.
    root: str
    hooks: tuple[Hook, ...]
    files: Callable[[Host, str], Mapping[str, str]]
    note: str

    def command(self, hook: Hook) -> str:
        """Runs the client at a moment, and fails open."""
        return f"python3 {self.root}{CLIENT_PATH} {hook.moment} --host {self.key} {_FAILS_OPEN}"

    def files_at(self, address: str) -> list[HostFile]:
        """Its files for an address of MCP."""
        return [HostFile(path, text) for path, text in self.files(self, address).items()]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _grouped(host: Host, unit: int = 1, **more: Any) -> dict[str, Any]:
    """Hooks by event, in groups with a matcher: the form that three hosts share."""
    return {
        hook.event: [
            {
                **({"matcher": hook.tools} if hook.tools else {}),
                "hooks": [
                    {"type": "command", "command": host.command(hook), "timeout": hook.seconds * unit, **more}
                ],
            }
        ]
        for hook in host.hooks
    }


def _claude_code(host: Host, address: str) -> dict[str, str]:
    headers = {"Authorization": f"Bearer ${{{VARIABLE}}}"}
    server = {"type": "http", "url": address, "headers": headers}
    return {
        ".claude/settings.json": _json({"hooks": _grouped(host)}),
        ".mcp.json": _json({"mcpServers": {SERVER_NAME: server}}),
        ".claude/skills/memoryhub/SKILL.md": skill(),
    }


def _codex(host: Host, address: str) -> dict[str, str]:
    lines = [f"[mcp_servers.{SERVER_NAME}]", f"url = {json.dumps(address)}"]
    lines += [f'bearer_token_env_var = "{VARIABLE}"']
    for hook in host.hooks:
        lines += ["", f"[[hooks.{hook.event}]]"]
        lines += [f"matcher = {json.dumps(hook.tools)}"] if hook.tools else []
        command = json.dumps(host.command(hook))
        lines += [f"[[hooks.{hook.event}.hooks]]", 'type = "command"', f"command = {command}"]
        lines += [f"timeout = {hook.seconds}"]
    return {".codex/config.toml": "\n".join(lines) + "\n"}


def _cursor(host: Host, address: str) -> dict[str, str]:
    hooks = {
        hook.event: [
            {
                "command": host.command(hook),
                "timeout": hook.seconds,
                **({"matcher": hook.tools} if hook.tools else {}),
            }
        ]
        for hook in host.hooks
    }
    return {
        ".cursor/hooks.json": _json({"version": 1, "hooks": hooks}),
        ".cursor/mcp.json": _json(cursor_servers(address)),
    }


def _gemini_cli(host: Host, address: str) -> dict[str, str]:
    settings = {
        **gemini_servers(address),
        # In milliseconds.
        "hooks": _grouped(host, 1000, name=SERVER_NAME),
        # Where variables that look like secrets are kept from hooks.
        "security": {"environmentVariableRedaction": {"allowed": [VARIABLE]}},
    }
    return {".gemini/settings.json": _json(settings)}


HOSTS: tuple[Host, ...] = (
    Host(
        "claude-code",
        "Claude Code",
        '"$CLAUDE_PROJECT_DIR"/',
        (
            Hook("SessionStart", "session-start"),
            Hook("SubagentStart", "subagent-start"),
            Hook("SubagentStop", "subagent-end"),
            Hook("PreToolUse", "before-edit", "Edit|Write|MultiEdit|NotebookEdit"),
            Hook("PostToolUse", "after-tool", "Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*"),
            Hook("PreCompact", "before-compaction"),
            Hook("Stop", "stop"),
            Hook("SessionEnd", "session-end"),
        ),
        _claude_code,
        "It asks once whether it may use the server of .mcp.json.",
    ),
    Host(
        "codex",
        "Codex",
        '"$(git rev-parse --show-toplevel)"/',
        (
            Hook("SessionStart", "session-start"),
            Hook("SubagentStart", "subagent-start"),
            Hook("SubagentStop", "subagent-end"),
            Hook("PreToolUse", "before-edit", "apply_patch|Edit|Write"),
            Hook("PostToolUse", "after-tool", "apply_patch|Edit|Write|Bash|mcp__.*"),
            Hook("PreCompact", "before-compaction"),
            Hook("Stop", "stop"),
            # More than three seconds it refuses here.
            Hook("SessionEnd", "session-end", seconds=3),
        ),
        _codex,
        "It reads this file in projects that it trusts, and asks before it runs hooks that are new (/hooks).",
    ),
    Host(
        "cursor",
        "Cursor",
        "",
        (
            Hook("sessionStart", "session-start"),
            Hook("subagentStart", "subagent-start"),
            Hook("subagentStop", "subagent-end"),
            Hook("postToolUse", "after-tool", "Write|Shell|MCP"),
            Hook("preCompact", "before-compaction"),
            Hook("stop", "stop"),
            Hook("sessionEnd", "session-end"),
        ),
        _cursor,
        "It says the rules after an edit: its hook before one can only allow or refuse.",
    ),
    Host(
        "gemini-cli",
        "Gemini CLI",
        '"$GEMINI_PROJECT_DIR"/',
        (
            Hook("SessionStart", "session-start"),
            Hook("AfterTool", "after-tool", "write_file|replace|run_shell_command|mcp_.*"),
            Hook("PreCompress", "before-compaction"),
            Hook("AfterAgent", "stop"),
            Hook("SessionEnd", "session-end"),
        ),
        _gemini_cli,
        "It says the rules after an edit, and has no hooks for sub-agents.",
    ),
)


@dataclass(frozen=True)
class Settings:
    """Files of a project, of one host or for all of them."""

    key: str
    name: str
    note: str
    files: list[HostFile]


def settings_of(project: Project) -> list[Settings]:
    """What every host needs in the repository, then of each host the files of this project."""
    config = HostFile(CONFIG_PATH, _json({"project": project.slug}))
    files = [config, HostFile("AGENTS.md", section()), HostFile(SKILL_PATH, skill())]
    note = (
        "The first tells the hook client which project the repository belongs to. The others tell agents "
        "when to call what, and how to go on when the hub is away: as a section of AGENTS.md, which most "
        "hosts read, or as a skill, which costs nothing until it is needed. One of the two is enough."
    )
    address = address_of(project)
    of_hosts = [Settings(host.key, host.name, host.note, host.files_at(address)) for host in HOSTS]
    return [Settings("every-host", "Every host", note, files), *of_hosts]


def file_of(project: Project, key: str, place: int) -> HostFile | None:
    """One of these, by its host and its place among the host's files, from 1 on."""
    for settings in settings_of(project):
        if settings.key == key and 1 <= place <= len(settings.files):
            return settings.files[place - 1]
    return None


def fetching() -> str:
    """The line that puts the client into a repository."""
    return f"curl -fsS --create-dirs -o {CLIENT_PATH} {hub_address()}{reverse('hook_client')}"


# Where the plugin is fetched to.
OPENCLAW_FOLDER = "~/.openclaw/memoryhub"
OPENCLAW_FILES = ("openclaw.plugin.json", "package.json", "index.js")


def openclaw_steps(project: Project) -> list[Step]:
    """How its plugin is installed and chosen; the token stands in the environment of the gateway."""
    names = ",".join(OPENCLAW_FILES)
    folder = f"{hub_address()}{reverse('openclaw_file', args=('-',))}".removesuffix("-")
    keep = f"--remote-name-all --create-dirs --output-dir {OPENCLAW_FOLDER}"
    chosen = {
        "plugins": {
            "slots": {"contextEngine": SERVER_NAME},
            "entries": {SERVER_NAME: {"enabled": True, "config": {"project": project.slug}}},
        }
    }
    return [
        Step("Fetch the plugin", f'curl -fsS {keep} "{folder}{{{names}}}"'),
        Step(
            "Install it: it says that the source isn't reviewed, which is why it asks for --force",
            f"openclaw plugins install --link --force --accept-capabilities {OPENCLAW_FOLDER}",
        ),
        Step("Say which project it is for, in ~/.openclaw/openclaw.json", _json(chosen).rstrip()),
    ]


def environment(token: str) -> str:
    """What is set where the host starts. The client sends the token to this address and no other."""
    return f"export MEMORYHUB_URL={hub_address()}\nexport {VARIABLE}={token}"
