"""What every member may have of the files, kept in this process while nothing in their project changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memories.recall.keeping import Kept
from memoryhub.projections.decisions import render_decisions
from memoryhub.projections.rules import RulesFolder, render_rules
from projects.models import Project

# A file is as long as its memories are: some of a few megabytes at most.
_KEPT_MAX = 20
_decisions: Kept[str] = Kept(_KEPT_MAX)
_rules: Kept[RulesFolder] = Kept(_KEPT_MAX)


def decisions_file(project: Project) -> str:
    """`DECISIONS.md` as every member may have it. The caller has seen to it that the reader is one."""
    return _fresh(_decisions, project, render_decisions)


def rules_files(project: Project) -> RulesFolder:
    """The rules folder as every member may have it. The caller has seen to it that the reader is one."""
    return _fresh(_rules, project, render_rules)


def _fresh(kept: Kept[Any], project: Project, make: Callable[[Project], Any]) -> Any:
    key = (project.uid, project.change_counter, project.name)
    found = kept.get(key)
    return kept.keep(key, make(project)) if found is None else found
