"""What recall and overview say of proposals: how many wait for a reviewer, and what became of one's own."""

from __future__ import annotations

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.db.models import Count, DateTimeField, F, FilteredRelation, IntegerField, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from memories.models import Review
from memories.recall.reading import start_of_day
from memoryhub.kernel.compiled import Compiled
from projects.models import Membership, Project, Role, User

# So many outcomes, newest first, for so long: or until the user's next hand-off, of which another app tells.
OUTCOMES_MAX = 10
TOLD_FOR = dt.timedelta(days=7)
HandedOver = Callable[[Project, User], QuerySet[Any, Any]]
_handed_over: list[HandedOver] = []

# Lines of this process: a recall of what didn't change asks the database for none.
_KEPT_MAX = 500
_kept: OrderedDict[tuple[Any, ...], tuple[str, str]] = OrderedDict()
_guard = threading.Lock()


def register_hand_off(last: HandedOver) -> None:
    """Say when a user last handed over in a project: outcomes from before that are told no more.

    `last` gives a query of that one moment, or none: it becomes a part of what is asked anyway.
    """
    _handed_over.append(last)


@dataclass(frozen=True)
class Told:
    """How many proposals wait for a user to decide, and the last ones of his own that were decided."""

    waiting: int = 0
    # As number and status, newest first.
    outcomes: list[tuple[int, str]] = field(default_factory=list)


def told(project: Project, user: User, day: dt.datetime) -> Told:
    """Both in one query; `day` is when the UTC day began. Somebody who is no member is told nothing."""
    asked = _compiled(project.review_needs_second_person, tuple(_handed_over))
    found = asked.rows(project=project.pk, user=user.pk)
    if not found:
        return Told()
    role, waiting = found[0]["role"], found[0]["waiting"]
    outcomes = [
        (row["mine__number"], row["mine__status"])
        for row in found
        if row["mine__number"]
        and _is_told(row["mine__decided_at"], row)
        and row["mine__decided_at"] >= day - TOLD_FOR
    ]
    return Told(waiting if Role(role).includes(Role.REVIEWER) else 0, outcomes)


def _telling(project: Project, user: User) -> QuerySet[Membership, Any]:
    """A row for each of the last outcomes, or one without: the user's role, what waits, and the outcome."""
    mine = Q(
        user__proposals__project=project,
        user__proposals__status__in=[Review.Status.APPROVED, Review.Status.REJECTED],
    )
    rows = (
        Membership.objects.filter(project=project, user=user)
        .annotate(mine=FilteredRelation("user__proposals", condition=mine), waiting=_waiting(project, user))
        .annotate(**_last_moments(project, user))
        .order_by(F("mine__decided_at").desc(nulls_last=True), "-mine__number")
        .values("role", "waiting", "mine__number", "mine__status", "mine__decided_at", *_names())
    )
    return rows[:OUTCOMES_MAX]


@cache
def _compiled(needs_second_person: bool, handed_over: tuple[HandedOver, ...]) -> Compiled[Any]:
    """What every recall after a write asks."""

    def build(project: int, user: int) -> QuerySet[Membership, Any]:
        return _telling(Project(pk=project, review_needs_second_person=needs_second_person), User(pk=user))

    return Compiled(build)


def outcomes_of(project: Project, user: User, day: dt.datetime) -> list[Review]:
    """The same outcomes as rows, newest first, for what shows their notes."""
    mine = Review.objects.in_project(project).visible_to(user).proposed_by(user).decided()
    recent = mine.decided_since(day - TOLD_FOR).annotate(**_last_moments(project, user))
    found = recent.for_rows().latest_decided_first()[:OUTCOMES_MAX]
    return [review for review in found if _is_told(review.decided_at, vars(review))]


def _names() -> list[str]:
    return [f"handed_over_{place}" for place in range(len(_handed_over))]


def _last_moments(project: Project, user: User) -> dict[str, Any]:
    """When the user last handed over, by each app that knows, as columns."""
    return {
        name: Subquery(last(project, user), output_field=DateTimeField())
        for name, last in zip(_names(), _handed_over, strict=True)
    }


def _is_told(decided_at: dt.datetime | None, row: Mapping[str, Any]) -> bool:
    """Newest come first, so that what is cut off by a hand-off is the end of the list."""
    moments = [row[name] for name in _names() if row[name] is not None]
    return decided_at is not None and all(decided_at >= moment for moment in moments)


def _waiting(project: Project, user: User) -> Coalesce:
    """What a reviewer may decide; one's own isn't, where a second person is needed."""
    waiting = Review.objects.in_project(project).visible_to(user).pending().order_by()
    if project.review_needs_second_person:
        waiting = waiting.not_proposed_by(user)
    many = waiting.values("project").annotate(many=Count("pk")).values("many")
    return Coalesce(Subquery(many, output_field=IntegerField()), 0)


def waiting_line(project: Project, reader: User, day: dt.datetime) -> str:
    """For recall: that proposals wait for the reader."""
    return _lines(project, reader, day)[0]


def outcome_line(project: Project, reader: User, day: dt.datetime) -> str:
    """For recall: what became of the reader's proposals, as `R12 rejected, R11 approved`."""
    return _lines(project, reader, day)[1]


def tried_waiting_line(project: Project, reader: User, day: dt.datetime) -> str:
    """The same for settings that are being tried out; a second person changes what waits for the reader."""
    return _said(told(project, reader, day))[0]


def tried_outcome_line(project: Project, reader: User, day: dt.datetime) -> str:
    """The outcomes, beside that."""
    return _said(told(project, reader, day))[1]


def _lines(project: Project, reader: User, day: dt.datetime) -> tuple[str, str]:
    """Both. They stand while the project's change counter and the day do: every decision raises it."""
    key = (project.uid, project.change_counter, reader.pk, day)
    with _guard:
        said = _kept.get(key)
    if said is None:
        said = _said(told(project, reader, day))
        with _guard:
            _kept[key] = said
            if len(_kept) > _KEPT_MAX:
                _kept.popitem(last=False)
    return said


def _said(told: Told) -> tuple[str, str]:
    many = told.waiting
    # Short: hygiene has up to 120 of the 160 characters that all closing lines share.
    waits = f"{many} review{'' if many == 1 else 's'} waiting" if many else ""
    outcomes = ", ".join(f"R{number} {status}" for number, status in told.outcomes)
    return waits, outcomes


def overview_entry(project: Project, reader: User) -> dict[str, Any] | None:
    """For overviews: how many proposals wait for the reader to decide, and how many of his own wait."""
    mine = Review.objects.in_project(project).visible_to(reader).proposed_by(reader).pending().count()
    said = {"waiting": told(project, reader, start_of_day()).waiting, "mine": mine}
    return said if any(said.values()) else None
