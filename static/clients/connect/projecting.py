"""The project's files, written into the repository."""

from __future__ import annotations

from .net import Hub


def write_project_files(hub: Hub) -> int:
    """How many files were written or taken away."""
    raise ValueError("This hub has no files for a repository yet.")
