"""The constraints that cover a path, as an agent reads them before an edit."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, IntegerField, Value, When
from django.db.models.functions import Left

from memories.models import Hardness, Memory
from memories.querysets import MemoryQuerySet
from memories.recall.asking import CANDIDATES
from memories.recall.lines import said, shown_summary
from memories.recall.packing import Counts, Entry, Recall, pack
from memories.recall.reading import NAME_LENGTH
from memories.scopes import covering_paths
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.text import in_one_line, shortened
from projects.models import Project, User

RULES_BUDGET = 6000
# Of the path, in the header.
PATH_LENGTH = 50
# Characters of titles, summaries and paths, in a list that a hook keeps for a session's edits.
SCOPED_BUDGET = 400_000


def rules(project: Project, reader: User, *, path: str = "", budget: int = RULES_BUDGET) -> Recall:
    """The active constraints that the reader may see, absolute before advisory, all or those that
    cover `path`, within `budget` characters. Raises Invalid for a path that can't be one.
    """
    found = _constraints(project, reader)
    if path:
        try:
            found = found.covering(covering_paths(path))
        except ValueError as wrong:
            raise Invalid(fields={"path": str(wrong)}) from None
    shown = Left("summary", Memory.SUMMARY_MAX_LENGTH + 1)
    with read_snapshot():
        total = found.count()
        rows = list(found.values_list("number", "hardness", "visibility", "title", shown)[:CANDIDATES])
    entries = [
        Entry(number, f"[#{number}] ({_label(hardness, visibility)}) {said(title, summary)}")
        for number, hardness, visibility, title, summary in rows
    ]
    name = shortened(in_one_line(project.name), NAME_LENGTH)
    which = f" for {shortened(in_one_line(path), PATH_LENGTH)}" if path else ""
    header = (
        f"Constraints of {name}{which}. Absolute ones may not be broken.\nmemory_get 48 reads [#48] whole."
    )
    return pack(budget=budget, header=header, critical=(), rest=entries, counts=Counts(normal=total))


def scoped_rules(project: Project, reader: User) -> dict[str, Any]:
    """The active constraints that the reader may see with the paths that they cover, absolute before
    advisory, for a hook that looks at edits without asking: `items` and their `total`.

    At most 1,000, and 400,000 characters of text; `has_more` where that leaves some out. Three queries.
    """
    found = _constraints(project, reader)
    with read_snapshot():
        total = found.count()
        rows = list(found.prefetch_related("scopes").defer("body", "details")[:CANDIDATES])
    items: list[dict[str, Any]] = []
    room = SCOPED_BUDGET
    for memory in rows:
        item = {
            "number": memory.number,
            "hardness": memory.hardness,
            "title": memory.title,
            "summary": shown_summary(memory.summary),
            "scope_paths": memory.scope_paths,
        }
        cost = len(memory.title) + len(memory.summary) + sum(map(len, memory.scope_paths))
        if cost <= room:
            items.append(item)
            room -= cost
    return {"items": items, "total": total, "has_more": len(items) < total}


def _constraints(project: Project, reader: User) -> MemoryQuerySet:
    absolute_first = Case(
        When(hardness=Hardness.ABSOLUTE, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    found = Memory.objects.in_project(project).active().visible_to(reader).constraints()
    return found.order_by(absolute_first, "-touched_at", "number")


def _label(hardness: str, visibility: str) -> str:
    parts = [hardness or "constraint", "" if visibility == "shared" else visibility]
    return ", ".join(part for part in parts if part)
