"""The constraints that cover a path, as an agent reads them before an edit."""

from __future__ import annotations

from django.db.models import Case, IntegerField, Value, When
from django.db.models.functions import Left

from memories.models import Hardness, Memory
from memories.recall.lines import said
from memories.recall.packing import Counts, Entry, Recall, pack
from memories.recall.reading import CANDIDATES, NAME_LENGTH
from memories.scopes import covering_paths
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.text import in_one_line, shortened
from projects.models import Project, User

RULES_BUDGET = 6000
# Of the path, in the header.
PATH_LENGTH = 50


def rules(project: Project, reader: User, *, path: str = "", budget: int = RULES_BUDGET) -> Recall:
    """The active constraints that the reader may see, absolute before advisory, all or those that
    cover `path`, within `budget` characters. Raises Invalid for a path that can't be one.
    """
    found = Memory.objects.in_project(project).active().visible_to(reader).constraints()
    if path:
        try:
            found = found.covering(covering_paths(path))
        except ValueError as wrong:
            raise Invalid(fields={"path": str(wrong)}) from None
    absolute_first = Case(
        When(hardness=Hardness.ABSOLUTE, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    shown = Left("summary", Memory.SUMMARY_MAX_LENGTH + 1)
    with read_snapshot():
        total = found.count()
        rows = list(
            found.order_by(absolute_first, "-touched_at", "number").values_list(
                "number", "hardness", "visibility", "title", shown
            )[:CANDIDATES]
        )
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


def _label(hardness: str, visibility: str) -> str:
    parts = [hardness or "constraint", "" if visibility == "shared" else visibility]
    return ", ".join(part for part in parts if part)
