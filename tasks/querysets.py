"""Which tasks, receipts and checkpoints: the words that doors and services read by.

Tasks and receipts are their project's members'; a checkpoint is its user's alone.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from functools import cache, reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Prefetch, Q, Subquery, Value, When
from django.db.models.functions import Cast, Coalesce

from memories.models import Tag
from memories.querysets import FILTER_MAX_TAGS
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.text import storable
from projects.querysets import called

if TYPE_CHECKING:
    from projects.models import Project, User
    from tasks.models import Checkpoint, Receipt, Task, TaskRevision  # noqa: F401 - named in quotes below


def for_members(user: User, prefix: str = "") -> Q:
    """The members of a project: of what has one, or (by `prefix`) of what hangs on it."""
    return Q(**{f"{prefix}project__in": user.memberships.order_by().values("project")})


def _place_of(field: str, values: Iterable[str]) -> Case:
    """Where the value of a field stands among these."""
    order = [When(**{field: one}, then=Value(place)) for place, one in enumerate(values)]
    return Case(*order, output_field=IntegerField())


def row_lookups() -> tuple[Any, ...]:
    """What a row of a task shows of other tables: two queries, for however many."""
    from tasks.models import Blocker

    waits = Blocker.objects.select_related("blocker").only(
        "task", "blocker__number", "blocker__status", "blocker__project"
    )
    return "tags", Prefetch("blockings", queryset=waits.order_by("blocker__number"))


@cache
def _unseen_in_rows() -> list[str]:
    """What no row says of people or of the task that it is in, as names for `defer`."""
    from projects.models import User
    from tasks.models import Task

    shown: dict[type[models.Model], set[str]] = {
        User: {"id", "username"},
        Task: {"id", "project", "number", "title", "status"},
    }
    others = (("author", User), ("assignee", User), ("claim_user", User), ("parent", Task))
    return [
        f"{name}__{each.name}"
        for name, model in others
        for each in model._meta.concrete_fields
        if each.name not in shown[model]
    ]


def readable_by(user: User, prefix: str = "") -> Q:
    """The one rule of who reads tasks and receipts: their project's members. What is erased is nobody's."""
    return for_members(user, prefix) & Q(**{f"{prefix}erased_at": None})


def _possible_tags(tags: Iterable[str]) -> tuple[list[str], bool]:
    """Each tag once, and whether all of them are possible. Raises Invalid for more than a filter takes."""
    names = list(dict.fromkeys(tags))
    if len(names) > FILTER_MAX_TAGS:
        sentence = f"Has {len(names)} tags; at most {FILTER_MAX_TAGS} are looked for at once."
        raise Invalid(fields={"tags": sentence})
    # What no store takes is on nothing; a database would refuse to look for it.
    possible = [name for name in names if len(name) <= Tag.NAME_MAX_LENGTH and storable(name)]
    return possible, len(possible) == len(names)


class TaskQuerySet(models.QuerySet["Task"]):
    """Adjectives filter, prepositions take an argument."""

    def visible_to(self, user: User) -> TaskQuerySet:
        """Those of the projects that `user` is a member of."""
        return self.filter(readable_by(user))

    def in_project(self, project: Project) -> TaskQuerySet:
        return self.filter(project=project)

    def standing(self) -> TaskQuerySet:
        """Not erased."""
        return self.filter(erased_at=None)

    def numbered(self, number: int) -> TaskQuerySet:
        return self.filter(number=number)

    def with_numbers(self, numbers: Iterable[int]) -> TaskQuerySet:
        return self.filter(number__in=list(numbers))

    def unfinished(self) -> TaskQuerySet:
        """Neither done nor cancelled."""
        from tasks.models.task import FINISHED

        return self.exclude(status__in=FINISHED)

    def with_status(self, status: str) -> TaskQuerySet:
        return self.filter(status=status)

    def ready(self, at: dt.datetime) -> TaskQuerySet:
        """Open, blocked by no unfinished task, and claimed by nobody at that moment."""
        return self._open_and_free(at).exclude(Exists(self._blocked()))

    def not_ready(self, at: dt.datetime) -> TaskQuerySet:
        return self.exclude(pk__in=self.model.objects.ready(at).values("pk"))

    def _open_and_free(self, at: dt.datetime) -> TaskQuerySet:
        from tasks.models import TaskStatus

        return self.filter(Q(claim_until=None) | Q(claim_until__lte=at), status=TaskStatus.OPEN)

    def _blocked(self) -> models.QuerySet[Any]:
        from tasks.models import Blocker
        from tasks.models.task import FINISHED

        return Blocker.objects.filter(task=OuterRef("pk")).exclude(blocker__status__in=FINISHED).order_by()

    def lapsed(self, at: dt.datetime) -> TaskQuerySet:
        """Unfinished, with a claim that ran out before that moment and that nobody released."""
        return self.unfinished().filter(claim_until__lte=at)

    def tagged(self, tags: Iterable[str], *, all_of_them: bool = True) -> TaskQuerySet:
        """With all (or any) of the tags, exactly. Raises Invalid for more than a filter takes."""
        from tasks.models import TaskTag

        names, complete = _possible_tags(tags)
        rows = TaskTag.objects.filter(task=OuterRef("pk"))
        if not all_of_them:
            return self.filter(Exists(rows.filter(name__in=names)))
        found = self if complete else self.none()
        for name in names:
            found = found.filter(Exists(rows.filter(name=name)))
        return found

    def assigned_to(self, username: str) -> TaskQuerySet:
        """By name whatever its case; nobody of a name that can't be one."""
        return self.filter(called(username, "assignee__"))

    def inside(self, task: Task) -> TaskQuerySet:
        """Its sub-tasks."""
        return self.filter(parent=task)

    def waiting_for(self, task: Task) -> TaskQuerySet:
        """What it blocks."""
        return self.filter(blockings__blocker=task)

    def most_urgent_first(self) -> TaskQuerySet:
        """By priority, then what moved last."""
        from tasks.models import Priority

        return self.annotate(urgency=_place_of("priority", Priority)).order_by(
            "urgency", "-updated_at", "-number"
        )

    def whose(self, user: User, at: dt.datetime) -> TaskQuerySet:
        """Assigned to the user, or claimed in their name at that moment."""
        return self.filter(Q(assignee=user) | Q(claim_user=user, claim_until__gt=at))

    def by_status(self) -> TaskQuerySet:
        """What is worked on first, what is finished last; of each the most urgent first, then the newest."""
        from tasks.models.task import BY_STATUS, Priority

        return self.annotate(
            status_place=_place_of("status", BY_STATUS), urgency=_place_of("priority", Priority)
        ).order_by("status_place", "urgency", "-number")

    def by_group(self, user: User, at: dt.datetime) -> models.QuerySet[Task, Any]:
        """In groups: status, user name of the assignee, whether they are ready at that moment, whether they
        are the user's; and how many.
        """
        ready = self.model.objects.ready(at).filter(pk=OuterRef("pk"))
        whose = self.model.objects.whose(user, at).filter(pk=OuterRef("pk"))
        marked = self.order_by().annotate(is_ready_now=Exists(ready), is_mine=Exists(whose))
        who = ("status", "assignee__username", "is_ready_now", "is_mine")
        return marked.values_list(*who).annotate(many=Count("pk"))

    def after(self, status_place: int, urgency: int, number: int) -> TaskQuerySet:
        """What follows a task in the order of `by_status`."""
        later = Q(urgency__gt=urgency) | Q(urgency=urgency, number__lt=number)
        return self.filter(Q(status_place__gt=status_place) | Q(later, status_place=status_place))

    def for_rows(self) -> TaskQuerySet:
        """What a row of a list shows, descriptions left out."""
        return self.for_bare_rows().prefetch_related(*row_lookups())

    def for_bare_rows(self) -> TaskQuerySet:
        """The same before `row_lookups` are fetched: at once, for several lists."""
        inside = self.model.objects.filter(parent=OuterRef("pk")).order_by()
        counted = inside.values("parent").annotate(many=Count("pk")).values("many")
        return (
            self.annotate(child_count=Coalesce(Subquery(counted), 0))
            .select_related("author", "assignee", "parent", "claim_user")
            .defer("uid", "description", *_unseen_in_rows())
        )


class TaskRevisionQuerySet(models.QuerySet["TaskRevision"]):
    """Revisions of tasks."""

    def visible_to(self, user: User) -> TaskRevisionQuerySet:
        return self.filter(readable_by(user, "task__"))

    def in_project(self, project: Project) -> TaskRevisionQuerySet:
        return self.filter(task__project=project)

    def with_task(self) -> TaskRevisionQuerySet:
        """Each with its task and who did it, without the values."""
        return self.select_related("task", "actor").defer("fields", "task__description")

    def of(self, task: Task) -> TaskRevisionQuerySet:
        """Newest first."""
        return self.filter(task=task).select_related("actor").order_by("-version")

    def since(self, version: int) -> TaskRevisionQuerySet:
        return self.filter(version__gt=version)


class ReceiptQuerySet(models.QuerySet["Receipt"]):
    """Receipts by who may read them and whether somebody took them over."""

    def visible_to(self, user: User) -> ReceiptQuerySet:
        """Those of the projects that `user` is a member of."""
        return self.filter(readable_by(user))

    def in_project(self, project: Project) -> ReceiptQuerySet:
        return self.filter(project=project)

    def standing(self) -> ReceiptQuerySet:
        """Not erased."""
        return self.filter(erased_at=None)

    def numbered(self, number: int) -> ReceiptQuerySet:
        return self.filter(number=number)

    def with_numbers(self, numbers: Iterable[int]) -> ReceiptQuerySet:
        return self.filter(number__in=list(numbers))

    def tagged(self, tags: Iterable[str], *, all_of_them: bool = True) -> ReceiptQuerySet:
        """With all (or any) of the tags, exactly. Raises Invalid for more than a filter takes."""
        names, complete = _possible_tags(tags)
        # The list as text, on both engines: no tag has a quotation mark, so between two stands one tag.
        has = [Q(tags_text__contains=f'"{name}"') for name in names if '"' not in name]
        if not has or (all_of_them and not (complete and len(has) == len(names))):
            return self.none()
        found = self.alias(tags_text=Cast("tags", models.TextField()))
        return found.filter(reduce(and_ if all_of_them else or_, has))

    def by(self, user: User) -> ReceiptQuerySet:
        return self.filter(author=user)

    def unfinished(self) -> ReceiptQuerySet:
        """With unsurfaced results that nobody acknowledged."""
        return self.filter(is_unsurfaced=True, acknowledged_at=None)

    def waiting_first(self) -> ReceiptQuerySet:
        """Those that nobody acknowledged before the others, newest first."""
        taken = Case(When(acknowledged_at=None, then=0), default=1, output_field=IntegerField())
        return self.annotate(is_taken=taken).order_by("is_taken", "-number")

    def before(self, number: int) -> ReceiptQuerySet:
        """Those handed over before the one with this number."""
        return self.filter(number__lt=number)

    def naming(self, number: int) -> ReceiptQuerySet:
        """Those whose references name a number. Both engines' JSON of a list of numbers is looked into."""
        return self.filter(references__numbers__regex=rf"[\[ ,]{int(number)}[,\]]")

    def untold_first(self) -> ReceiptQuerySet:
        """Unsurfaced results that nobody acknowledged, what else nobody did, then the rest; newest first."""
        place = Case(
            When(acknowledged_at=None, is_unsurfaced=True, then=0),
            When(acknowledged_at=None, then=1),
            default=2,
            output_field=IntegerField(),
        )
        return self.annotate(place=place).order_by("place", "-number")

    def after(self, place: int, number: int) -> ReceiptQuerySet:
        """What follows a receipt in the order of `untold_first`."""
        return self.filter(Q(place__gt=place) | Q(place=place, number__lt=number))

    def for_rows(self) -> ReceiptQuerySet:
        """What a row of a list shows, without the long texts."""
        heavy = ("done", "decisions", "next_steps", "blockers", "unsurfaced_results")
        return self.select_related("author", "acknowledged_by").defer(*heavy)


class CheckpointQuerySet(models.QuerySet["Checkpoint"]):
    """Checkpoints: each is its user's, while a member."""

    def visible_to(self, user: User) -> CheckpointQuerySet:
        return self.filter(for_members(user), user=user)

    def in_project(self, project: Project) -> CheckpointQuerySet:
        return self.filter(project=project)

    def of_members(self) -> CheckpointQuerySet:
        """Not those that people left behind who are members no more."""
        from projects.models import Membership

        of_it = Membership.objects.filter(project=OuterRef("project"), user=OuterRef("user")).order_by()
        return self.filter(Exists(of_it))

    def of_stream(self, stream: str) -> CheckpointQuerySet:
        return self.filter(stream=stream)

    def newest_first(self) -> CheckpointQuerySet:
        return self.order_by("-updated_at", "stream")

    def after(self, updated_at: dt.datetime, stream: str) -> CheckpointQuerySet:
        """What follows a checkpoint in the order of `newest_first`."""
        return self.filter(Q(updated_at__lt=updated_at) | Q(updated_at=updated_at, stream__gt=stream))
