"""How many tasks each choice of the list's filters would leave under the others: two queries, always."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from django.db.models import Count

from memories.facets import TAGS_OFFERED
from memories.listing import ANY
from memoryhub.kernel.facets import Counts, Facet, by_name, summed
from projects.models import Project, User
from tasks.listing import TaskFilter
from tasks.models import Task
from tasks.models.task import FINISHED, TaskTag
from tasks.querysets import TaskQuerySet

YES, NO = "yes", "no"
# Those with most tasks are offered.
ASSIGNEES_OFFERED = 50


class Group(NamedTuple):
    """What the filters tell apart; nobody is an empty name."""

    status: str
    assignee: str
    is_ready: bool
    is_mine: bool


@dataclass(frozen=True)
class Facets:
    """The counts, and the most frequent tags that aren't asked for, with what one more would leave."""

    counts: Counts = field(default_factory=Counts)
    tags: Sequence[tuple[str, int]] = ()

    @property
    def assignees(self) -> list[tuple[str, int]]:
        """By name, those with most tasks first."""
        return self.counts.most("assignee", ASSIGNEES_OFFERED)


def facets_of(project: Project, reader: User, wanted: TaskFilter, *, mine: bool, at: dt.datetime) -> Facets:
    """Of a list with these filters; `mine`: of the reader's alone. Call it in the snapshot of the list.
    Raises Invalid for too many tags.
    """
    seen = Task.objects.in_project(project).visible_to(reader)
    any_of_them = replace(wanted, status=ANY, ready=None, assignee=None).within(seen, at)
    groups = [
        (Group(status, assignee or "", ready, is_mine), many)
        for status, assignee, ready, is_mine, many in any_of_them.by_group(reader, at)
    ]
    found = wanted.within(seen.whose(reader, at) if mine else seen, at)
    return Facets(summed(groups, _facets(wanted, mine)), _tags(found, wanted.tags))


def _facets(wanted: TaskFilter, mine: bool) -> dict[str, Facet[Group]]:
    return {
        "status": Facet(lambda group: wanted.has(group.status), _statuses),
        "ready": Facet(
            lambda group: wanted.ready in (None, group.is_ready),
            lambda group: [YES if group.is_ready else NO],
        ),
        "mine": Facet(lambda group: group.is_mine or not mine, lambda group: [YES] if group.is_mine else []),
        "assignee": by_name("assignee", wanted.assignee or ""),
    }


def _statuses(group: Group) -> list[str]:
    """No choice made is what is unfinished."""
    return [group.status, ANY, *([] if group.status in FINISHED else [""])]


def _tags(found: TaskQuerySet, asked: Sequence[str]) -> list[tuple[str, int]]:
    rows = TaskTag.objects.order_by().filter(task__in=found.order_by().values("pk")).values_list("name")
    counted = rows.annotate(many=Count("pk")).order_by("-many", "name")[: TAGS_OFFERED + len(asked)]
    return [(tag, many) for tag, many in counted if tag not in asked][:TAGS_OFFERED]
