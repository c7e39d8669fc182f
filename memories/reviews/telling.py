"""What recall and overview say of proposals: how many wait for a reviewer, and what became of one's own."""

from __future__ import annotations

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from memories.models import Review
from projects.models import Project, Role, User
from projects.services import role_of

# So many outcomes, newest first, for so long: or until the user's next hand-off, of which another app tells.
OUTCOMES_MAX = 10
TOLD_FOR = dt.timedelta(days=7)
NOTE_SHOWN = 280
HandedOver = Callable[[Project, User], dt.datetime | None]
_handed_over: list[HandedOver] = []

# Lines of this process: a recall of what didn't change asks the database for none.
_KEPT_MAX = 500
_kept: OrderedDict[tuple[Any, ...], tuple[str, str]] = OrderedDict()
_guard = threading.Lock()


def register_hand_off(last: HandedOver) -> None:
    """Say when a user last handed over in a project: outcomes from before that are told no more."""
    _handed_over.append(last)


def outcomes(project: Project, user: User, day: dt.datetime) -> list[Review]:
    """What was decided of a user's proposals, newest first, at most ten; `day` is when the UTC day began."""
    since = day - TOLD_FOR
    for last in _handed_over:
        moment = last(project, user)
        since = max(since, moment) if moment else since
    mine = Review.objects.in_project(project).visible_to(user).proposed_by(user).decided_since(since)
    return list(mine.for_rows().order_by("-decided_at", "-number")[:OUTCOMES_MAX])


def waiting_for(project: Project, user: User) -> int:
    """How many proposals wait that this user may decide; 0 for who is no reviewer."""
    role = role_of(user, project)
    if role is None or not role.includes(Role.REVIEWER):
        return 0
    waiting = Review.objects.in_project(project).visible_to(user).pending()
    if project.review_needs_second_person:
        waiting = waiting.not_proposed_by(user)
    return waiting.count()


def waiting_line(project: Project, reader: User, day: dt.datetime) -> str:
    """For recall: that proposals wait for the reader."""
    return _lines(project, reader, day)[0]


def outcome_line(project: Project, reader: User, day: dt.datetime) -> str:
    """For recall: what became of the reader's proposals, as `R12 rejected, R11 approved`."""
    return _lines(project, reader, day)[1]


def _lines(project: Project, reader: User, day: dt.datetime) -> tuple[str, str]:
    """Both. They stand while the project's change counter and the day do: every decision raises it."""
    key = (project.uid, project.change_counter, reader.pk, day)
    with _guard:
        said = _kept.get(key)
    if said is None:
        many = waiting_for(project, reader)
        waits = f"{many} review{'' if many == 1 else 's'} waiting for you (review_list)" if many else ""
        told = ", ".join(f"{review.ref} {review.status}" for review in outcomes(project, reader, day))
        said = (waits, f"Your proposals: {told}" if told else "")
        with _guard:
            _kept[key] = said
            if len(_kept) > _KEPT_MAX:
                _kept.popitem(last=False)
    return said


def overview_entry(project: Project, reader: User) -> dict[str, Any] | None:
    """For overviews: how many proposals wait for the reader to decide, and how many of his own wait."""
    mine = Review.objects.in_project(project).visible_to(reader).proposed_by(reader).pending().count()
    said = {"waiting": waiting_for(project, reader), "mine": mine}
    return said if any(said.values()) else None
