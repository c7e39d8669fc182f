"""Scope paths: what a constraint covers. One place decides this for every surface."""

from __future__ import annotations

import re

from memories.models import ScopePath
from memoryhub.kernel.text import text_problem

_GLOB = re.compile(r"[*?]")
_DRIVE = re.compile(r"[A-Za-z]:")


def normalise_path(path: str) -> str:
    """A path relative to the repository, with `/`, without `./` and a last `/`. Empty covers nothing.

    Raises ValueError with a sentence for an absolute path, `..`, a glob, or a text that breaks the rules.
    """
    problem = text_problem(path, most=ScopePath.PATH_MAX_LENGTH, one_line=True)
    if problem:
        raise ValueError(problem)
    slashed = path.strip().replace("\\", "/")
    if slashed.startswith("/") or _DRIVE.match(slashed):
        raise ValueError(f"{path!r} is absolute. Give it relative to the repository, such as src/api.")
    parts = [part for part in slashed.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError(f"{path!r} leads out with '..'. Give it from the top of the repository.")
    if _GLOB.search(slashed):
        raise ValueError(f"{path!r} is a pattern. Name a folder or a file; a folder covers all below it.")
    return "/".join(parts)


def _scope(path: str) -> str:
    """A path as a scope. Raises ValueError as `normalise_path` does, and for a folder `global`."""
    scope = normalise_path(path)
    if scope.lower() == "global":
        raise ValueError(
            f"{path!r} reads as 'global', which covers no path. Name what is inside that folder."
        )
    return scope


def normalise_scopes(paths: list[str]) -> list[str]:
    """Paths without repetition; `global` and nothing cover no path. Raises ValueError."""
    kept = [_scope(path) for path in paths if path.strip().lower() != "global"]
    return [path for path in dict.fromkeys(kept) if path]


def covering_paths(path: str) -> list[str]:
    """The scopes that cover a path: itself and every folder above it, by whole components.

    `hooks/a.py` is covered by `hooks` and by itself, never by `webhooks`. Raises ValueError.
    """
    parts = normalise_path(path).split("/")
    return ["/".join(parts[: n + 1]) for n in range(len(parts)) if parts[0]]
