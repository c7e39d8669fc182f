"""The lease on a task: of two sessions that ask at once exactly one gets it, and a dead one's lapses.

A claim moves neither version nor history of a task, as it says nothing about the work.
"""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Forbidden, Invalid
from projects.models import Project, Role
from projects.services import ProjectWrite, finish
from tasks.errors import TaskRule
from tasks.models import Task
from tasks.services.tasks import CLAIM_COLUMNS, claimed_by_another, clear_claim, holds, lock_task
from tasks.services.writing import begin


def claim_task(*, actor: Actor, task: Task, minutes: int = Task.CLAIM_MINUTES) -> Task:
    """Take an unfinished task for so many minutes (1 to a day); as its holder, extend the claim.

    Raises Invalid, TaskRule for a finished one, ClaimedByAnother; what `begin` raises. A claim that lapsed
    is anybody's, also its former holder's.
    """
    if isinstance(minutes, bool) or not 1 <= minutes <= Task.CLAIM_MINUTES_MAX:
        raise Invalid(fields={"minutes": f"Must be a whole number from 1 to {Task.CLAIM_MINUTES_MAX}."})
    if actor.user is None:
        raise Forbidden("The operator's commands hold no claims. Claim it as somebody.")
    with transaction.atomic():
        write = begin(actor, task.project)
        task = lock_task(write, task, None)
        if task.is_finished:
            sentence = (
                f"#{task.number} is {task.status}; only an unfinished task is claimed. Open it again first."
            )
            raise TaskRule("claim_unfinished", "ref", sentence)
        standing = task.is_claimed(write.at)
        if standing and not holds(actor, task):
            raise claimed_by_another(task)
        until = write.at + dt.timedelta(minutes=minutes)
        if standing and task.claim_until is not None:
            until = max(until, task.claim_until)
        task.claim_user, task.claim_token, task.claim_until = actor.user, actor.token, until
        task.claim_token_name, task.claim_kind = actor.token_name, actor.kind
        task.claim_session = actor.context.session
        task.save(update_fields=CLAIM_COLUMNS)
        finish(write)
    return task


def release_task(*, actor: Actor, task: Task) -> Task:
    """Give a claim back. For its holder, its user in person, and reviewers; one that lapsed anybody ends.

    An agent releases somebody else's with the review right. Raises ClaimedByAnother, what `begin` raises.
    """
    with transaction.atomic():
        write = begin(actor, task.project)
        task = lock_task(write, task, None)
        if task.claim_until is None:
            return task
        if task.is_claimed(write.at) and not _may_release(write, task):
            raise claimed_by_another(task)
        clear_claim(task)
        task.save(update_fields=CLAIM_COLUMNS)
        finish(write)
    return task


def end_lapsed_claims(*, actor: Actor, project: Project, before: dt.datetime) -> int:
    """End the claims that ran out before that moment and that nobody released. Returns how many.

    Raises what `begin` raises. What was claimed is open to everybody all along: this only forgets who had it.
    """
    with transaction.atomic():
        write = begin(actor, project)
        lapsed = Task.objects.in_project(write.project).lapsed(before)
        tasks = list(lapsed.select_for_update(of=("self",)))
        for task in tasks:
            clear_claim(task)
        Task.objects.bulk_update(tasks, CLAIM_COLUMNS, batch_size=100)
        if tasks:
            finish(write)
    return len(tasks)


def _may_release(write: ProjectWrite, task: Task) -> bool:
    actor = write.actor
    in_person = not actor.is_agent and actor.user is not None and actor.user.pk == task.claim_user_id
    reviews = write.may(Role.REVIEWER) and (actor.token is None or actor.token.can_review)
    return holds(actor, task) or in_person or reviews
