"""What should hold between rows of work in flight; the doctor reports, never repairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.db.models import F, Max, Q

from memories.models import Memory
from memoryhub.kernel.doctor import Finding
from projects.models import Project
from tasks.models import Blocker, Receipt, Task, TaskRevision


def check_numbers(project: Project) -> Iterator[Finding]:
    """A number names one thing, and none is past the project's last."""
    named: Counter[int] = Counter()
    for rows in (Memory.objects, Task.objects, Receipt.objects):
        named.update(rows.filter(project=project).order_by().values_list("number", flat=True))
    for number in sorted(number for number, many in named.items() if many > 1):
        yield Finding.broken(f"{project.slug} #{number} names more than one thing.")
    highest = max(named, default=0)
    if highest > project.last_number:
        yield Finding.broken(f"{project.slug} has #{highest}, past its last number {project.last_number}.")


def check_tasks(project: Project) -> Iterator[Finding]:
    """Histories have every version; parents and what blocks are of one project and go in no circle."""
    here = Task.objects.in_project(project)
    for task in here.annotate(newest=Max("revisions__version")).exclude(newest=F("version")):
        yield Finding.broken(f"{project.slug} #{task.number} has no revision of its version.")
    for part in here.exclude(parent=None).exclude(parent__project=F("project")):
        yield Finding.broken(f"{project.slug} #{part.number} is a part of a task of another project.")
    crossing = Q(task__project=project) & ~Q(blocker__project=F("task__project"))
    for blocking in Blocker.objects.filter(crossing).select_related("task"):
        yield Finding.broken(f"{project.slug} #{blocking.task.number} waits for a task of another project.")
    gone = TaskRevision.objects.filter(task__project=project, task__erased_at__isnull=False)
    kept = gone.exclude(fields={}).exclude(fields={"erased": True})
    for number in sorted(set(kept.order_by().values_list("task__number", flat=True))):
        yield Finding.broken(f"{project.slug} #{number} was erased and keeps text in its history.")
    parts = here.exclude(parent=None).order_by().values_list("number", "parent__number")
    waits = Blocker.objects.filter(task__project=project).order_by()
    for what, edges in (
        ("is a part of itself", list(parts)),
        ("waits for itself", list(waits.values_list("task__number", "blocker__number"))),
    ):
        for number in _in_circles(edges):
            yield Finding.broken(f"{project.slug} #{number} {what}, through others.")


def _in_circles(edges: list[tuple[int, int]]) -> list[int]:
    """The numbers that stand in circles or lead into one: what is left when every end is taken away."""
    left: dict[int, set[int]] = {}
    leading: dict[int, set[int]] = {}
    for one, other in edges:
        left.setdefault(one, set()).add(other)
        leading.setdefault(other, set()).add(one)
    ends = [number for number in leading if number not in left]
    while ends:
        end = ends.pop()
        for before in leading.get(end, ()):
            left[before].discard(end)
            if not left[before]:
                del left[before]
                ends.append(before)
    return sorted(left)
