"""What hygiene derives when a memory is written, in the same transaction and under its project's lock."""

from __future__ import annotations

from hygiene.models import Report
from hygiene.services.contents import note_contents
from hygiene.services.flaws import note_flaws
from hygiene.services.pairs import note_pairs
from memories.services import Written
from projects.models import Project


def watch(written: Written) -> None:
    """The watcher of this app: flaws of the text, similar memories, what changed in a bag."""
    note_flaws(written)
    note_pairs(written)
    note_contents(written)


def forget_reports(project: Project) -> None:
    """The cached reports name titles. The next read makes them anew."""
    Report.objects.filter(project=project).delete()
