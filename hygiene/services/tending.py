"""The daily upkeep of a project: ages session summaries, ends claims that lapsed long ago, drops old reports
of commits, and writes the day's history.

It acts for the operator, through the services, and is safe to run twice, at once, or after a week off:
what is done already is found done. Private memories are left alone: they are their author's.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from hygiene.models import SummaryBag, Upkeep
from hygiene.rules.old_session_summaries import old_session_summaries
from hygiene.rules.quality import OVERSIZED
from hygiene.rules.scope import Scope
from hygiene.services.operator import upkeep_actor
from hygiene.services.rebuilding import DERIVED_VERSION, rebuild
from hygiene.services.reporting import keep, numbers_now
from memories.errors import BagRule, MovedOn
from memories.models import Memory, Visibility
from memories.recall.reading import start_of_day
from memories.services import Applied, add_memory, prune_commits, revise_memory
from memoryhub.kernel.errors import DomainError
from projects.models import Membership, Project, Role, SummaryAction, User
from tasks.services import end_lapsed_claims

logger = logging.getLogger(__name__)

Stopped = Callable[[], bool]
_REASON = "Older than the project's age for session summaries."
_BAG_SUMMARY = "Session summaries older than the project's age, put here by the daily upkeep."
_BAG_TITLE = "Older session summaries"
_BAG_TAG = "session-summaries"
# So long the report names a claim that lapsed, for somebody to go on with the work.
LAPSED_FOR = dt.timedelta(days=7)


@dataclass
class Tended:
    """What the upkeep of one project did."""

    lowered: int = 0
    bagged: int = 0
    refused: int = 0
    rebuilt: int = 0
    commits: int = 0
    claims: int = 0
    score: int = 100


def tend(project: Project, *, at: dt.datetime | None = None, stopped: Stopped = lambda: False) -> Tended:
    """Do the day's upkeep of a project. An archived one is read, and not changed."""
    at = at or timezone.now()
    done, day = Tended(), start_of_day(at)
    if Upkeep.objects.filter(project=project, derived_version=DERIVED_VERSION).first() is None:
        done.rebuilt = rebuild(project)
    if not project.is_archived:
        _age_summaries(project, day, done, stopped)
        done.commits = prune_commits(project)
        done.claims = end_lapsed_claims(actor=upkeep_actor(), project=project, before=day - LAPSED_FOR)
    if not stopped():
        done.score = record_day(project, at=at)
        Upkeep.objects.filter(project=project).update(tended_at=at)
    return done


def record_day(project: Project, *, at: dt.datetime) -> int:
    """Count the score as it is on that day, and keep it in the history. Days are recorded in order."""
    report = numbers_now(project, start_of_day(at))
    with transaction.atomic():
        keep([report])
    return report.score


def _age_summaries(project: Project, day: dt.datetime, done: Tended, stopped: Stopped) -> None:
    """Lower the old ones or put them into a bag, as the project chose; a refusal passes on to the next."""
    numbers = old_session_summaries(Scope(project, day)).order_by("number").values_list("number", flat=True)
    for number in list(numbers):
        if stopped():
            return
        here = Memory.objects.in_project(project).exclude(visibility=Visibility.PRIVATE).active()
        memory = here.top_level().of_normal_weight().select_related("project").numbered(number).first()
        if memory is None:
            continue  # another upkeep, or somebody at a page, was faster
        try:
            _age(project, memory, done)
        except MovedOn:
            continue
        except DomainError as refusal:
            done.refused += 1
            logger.warning("%s #%s was not aged: %s", project.slug, number, refusal.message)


def _age(project: Project, memory: Memory, done: Tended) -> None:
    """In a bag they are low as well: nobody verifies what happened in a session."""
    if project.session_summary_action == SummaryAction.BAG:
        bag = _bag_for(project, memory.visibility)
        try:
            if bag is not None:
                _revise(memory, weight="low", parent=bag.number)
                done.bagged += 1
                return
        except BagRule:
            pass  # it is a bag itself: it is lowered where it stands
    _revise(memory, weight="low")
    done.lowered += 1


def _revise(memory: Memory, **given: object) -> None:
    actor, version = upkeep_actor(), memory.version
    revise_memory(actor=actor, memory=memory, expected_version=version, reason=_REASON, **given)


@transaction.atomic
def _bag_for(project: Project, visibility: str) -> Memory | None:
    """The bag that is being filled for this visibility, or a new one once it is full.

    Under the project's lock, so that two at once make one. None where the project has no owner to write it.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    made = Memory.objects.in_project(project).filter(pk__in=SummaryBag.objects.values("bag"))
    mine = made.filter(visibility=visibility).order_by("-number")
    newest = mine.active().top_level().first()
    if newest is not None and Memory.objects.inside(newest).count() < OVERSIZED:
        return newest
    owner = _owner(project)
    if owner is None:
        return None
    result = add_memory(
        actor=upkeep_actor(owner),
        project=project,
        title=_title(visibility, made.count() + 1),
        summary=_BAG_SUMMARY,
        kind="note",
        tags=[_BAG_TAG],
        weight="low",
        visibility=visibility,
        reason=_REASON,
    )
    if not isinstance(result, Applied):
        return None
    SummaryBag.objects.get_or_create(bag=result.memory)
    return result.memory


def _title(visibility: str, place: int) -> str:
    mark = " (public)" if visibility == Visibility.PUBLIC else ""
    return f"{_BAG_TITLE}{mark}, part {place}"


def _owner(project: Project) -> User | None:
    """Who the bag is by: every memory has an author. An active owner, else whoever owns the project."""
    owners = Membership.objects.filter(project=project, role=Role.OWNER).select_related("user")
    first = owners.order_by("-user__is_active", "pk").first()
    return first.user if first else None
