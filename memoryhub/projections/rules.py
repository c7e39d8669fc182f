"""The rules folder: the constraints of a project, one file a scope, as hosts load them by path.

The form of Claude Code's `.claude/rules/*.md`: `paths:` in YAML front matter, none for what covers all paths.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memories.models import Hardness, Memory, Visibility
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.projections.given import escaped, paragraph, quotation
from memoryhub.projections.reading import memories_of
from projects.models import Project, User

EVERYWHERE = "all-paths.md"
_NAME_LENGTH = 60
_NO_NAME = re.compile(r"[^a-z0-9]+")
# Hosts read paths as patterns, and split them at commas.
_PATTERN = re.compile(r"[\[\]{}*?,]|^[!#]")


@dataclass(frozen=True)
class RuleFile:
    """One file: of the constraints of one scope, or of those without any. `name` is safe on every system."""

    name: str
    scope: str
    content: str
    numbers: tuple[int, ...]

    @property
    def paths(self) -> list[str]:
        """As patterns; none for all paths."""
        return patterns(self.scope) if self.scope else []


@dataclass(frozen=True)
class RefusedScope:
    """A scope that no file can be written for, and the constraints that have it."""

    scope: str
    why: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class RulesFolder:
    """All files of a project's rules, and the scopes that were refused, each in the order of the scopes."""

    files: tuple[RuleFile, ...]
    refused: tuple[RefusedScope, ...]

    def as_dict(self) -> dict[str, Any]:
        """As doors for programs say it. `digest` is the same as long as all the rest is."""
        said = {
            "files": [
                {
                    "name": file.name,
                    "paths": file.paths,
                    "numbers": list(file.numbers),
                    "content": file.content,
                }
                for file in self.files
            ],
            "refused": [
                {"scope": one.scope, "why": one.why, "numbers": list(one.numbers)} for one in self.refused
            ],
        }
        text = json.dumps(said, sort_keys=True, ensure_ascii=False)
        return {"digest": hashlib.sha256(text.encode()).hexdigest(), **said}


def marker(project: Project) -> str:
    """The first line of a file of ours, or the first after its front matter: by it the file is known."""
    return f"<!-- memoryhub:rules {project.slug} -->"


def render_rules(project: Project, reader: User | None = None) -> RulesFolder:
    """The folder: what every member reads of the constraints in use; with a reader, also theirs."""
    with read_snapshot():
        rows = memories_of(project, reader).active().constraints().prefetch_related("scopes")
        constraints = list(rows.defer("retrieval_hints"))
    by_scope: dict[str, list[Memory]] = {}
    for memory in constraints:
        for scope in memory.scope_paths or [""]:
            by_scope.setdefault(scope, []).append(memory)
    files, refused = [], []
    for scope, memories in sorted(by_scope.items()):
        numbers = tuple(memory.number for memory in memories)
        if why := refusal(scope):
            refused.append(RefusedScope(scope, why, numbers))
        else:
            files.append(RuleFile(file_name(scope), scope, _content(project, scope, memories), numbers))
    return RulesFolder(tuple(files), tuple(refused))


def refusal(scope: str) -> str:
    """Why no file can be written for a scope, as a sentence; empty where one can."""
    if '"' in scope or not scope.isprintable():
        return "Has a double quote, or a character that can't be seen."
    if found := _PATTERN.search(scope):
        return f"Has {found.group()!r}, which hosts read as part of a pattern and not as a name."
    return ""


def file_name(scope: str) -> str:
    """The same for the same scope, and another for every other, also where upper and lower case are one."""
    if not scope:
        return EVERYWHERE
    said = _NO_NAME.sub("-", scope.lower())[:_NAME_LENGTH].strip("-") or "scope"
    return f"{said}-{hashlib.sha256(scope.encode()).hexdigest()[:8]}.md"


def patterns(scope: str) -> list[str]:
    """What covers a folder with all below it, and a file: nobody knows here which of them a scope is."""
    return [f"{scope}/**", scope]


def _content(project: Project, scope: str, memories: Sequence[Memory]) -> str:
    front = ""
    if scope:
        lines = "".join(f'  - "{_quoted(pattern)}"\n' for pattern in patterns(scope))
        front = f"---\npaths:\n{lines}---\n"
    where = f"{escaped(scope)} and all below it" if scope else "all paths"
    name = escaped(project.name)
    parts = [
        marker(project),
        f"# Rules for {where}",
        f"Constraints of {name}, written by MemoryHub, which writes them anew: change them there, not here. "
        "Paths are from the top of the repository. Quotations are what people and agents stored.",
    ]
    ordered = sorted(memories, key=lambda memory: (memory.hardness != Hardness.ABSOLUTE, memory.number))
    for memory in ordered:
        parts += _rule(memory)
    return front + "\n\n".join(parts) + "\n"


def _rule(memory: Memory) -> Iterator[str]:
    yield f"## #{memory.number}: {escaped(memory.title)}"
    held = "Absolute: may not be broken." if memory.hardness == Hardness.ABSOLUTE else "Advisory: weigh it."
    mark = " Private." if memory.visibility == Visibility.PRIVATE else ""
    yield f"**{held}**{mark} {paragraph(memory.summary)}".rstrip()
    reason = memory.details.get("reason")
    if isinstance(reason, str) and reason.strip():
        yield "**Reason**"
        yield quotation(reason)
    if memory.body.strip() or memory.details.get("triggering_incident"):
        yield f"More of it: `memory_get {memory.number}`."


def _quoted(text: str) -> str:
    """Inside the double quotes of YAML, which `refusal` keeps out of a scope."""
    return text.replace("\\", "\\\\")
