"""When a subagent ended: what it found is appended to what no person was told yet, once a child."""

from __future__ import annotations

from django.db import transaction

from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.text import shortened
from projects.models import Project
from projects.services import ProjectWrite
from tasks.lifecycle.delivering import check_session, delivered, delivery, keep_beside, tell_lost
from tasks.lifecycle.done import Did, Done
from tasks.models import Checkpoint, CheckpointFields, EntryKind
from tasks.placeholders import is_placeholder
from tasks.services.checkpoints import current_of, keep, owner_of_work, save_first, save_over
from tasks.services.checks import check_child
from tasks.services.writing import begin

# Of one child: what the checkpoint takes, and what is taken at all.
APPENDED_MAX_LENGTH = 1000
RESULTS_MAX_LENGTH = 20_000
FIELD = "unsurfaced_results"


def subagent_ended(
    *, actor: Actor, project: Project, stream: str = Checkpoint.MAIN, child: str, results: str
) -> Done:
    """Append a child's results to the unsurfaced results of the session that it worked for, once a child.

    The checkpoint takes 1,000 characters of one, and 2,000 in all. What isn't whole there is kept whole in
    its history, and told to the next session as a loss. `None` and placeholders are ignored; no version is
    asked for. Raises Invalid, SecretDetected; what `begin` raises.
    """
    user, problems = owner_of_work(actor), Problems()
    results = check_child(
        child, results, RESULTS_MAX_LENGTH, stream=stream, context=actor.context, problems=problems
    )
    problems.raise_if_any()
    check_session(actor)
    if is_placeholder(results):
        return Done(stream, Did.NOTHING, "The child found nothing to tell.", unchanged=True)
    digest = delivery("subagent-ended", actor, child=child)
    with transaction.atomic():
        write = begin(actor, project)
        current = current_of(write, user, stream)
        if current is None:
            current = save_first(
                write, user, stream, {FIELD: _fitting(results, APPENDED_MAX_LENGTH)}
            ).checkpoint
            keep(write, current, EntryKind.KEPT, digest)
            room = APPENDED_MAX_LENGTH
        elif delivered(current, digest):
            message = "This child's results were delivered before. Nothing was done again."
            return Done(stream, Did.APPENDED, message, current, unchanged=True)
        else:
            room = _room_after(current.unsurfaced_results)
            if fitting := _fitting(results, room):
                appended = _before(current.unsurfaced_results) + fitting
                current = save_over(write, current, {FIELD: appended}, digest).checkpoint
        if len(results) <= room:
            return Done(stream, Did.APPENDED, "Appended to the unsurfaced results.", current)
        return _kept_whole(write, current, results, digest)


def _kept_whole(write: ProjectWrite, current: Checkpoint, results: str, digest: str) -> Done:
    keep_beside(write, current, EntryKind.WHOLE, {FIELD: results}, digest)
    tell_lost(write, current, [{"field": FIELD, "text": results}])
    message = (
        "The unsurfaced results have no room for all of it: the whole is kept in the checkpoint's history, "
        "and told to the next session."
    )
    return Done(current.stream, Did.KEPT, message, current)


def _before(stands: str) -> str:
    return "" if is_placeholder(stands) else f"{stands}\n"


def _room_after(stands: str) -> int:
    return min(APPENDED_MAX_LENGTH, CheckpointFields.TEXT_MAX_LENGTH - len(_before(stands)))


def _fitting(results: str, room: int) -> str:
    """So much of the results as has room, the cut marked; nothing where that would be a few words."""
    return "" if room < min(len(results), _LEAST) else shortened(results, room)


_LEAST = 80
