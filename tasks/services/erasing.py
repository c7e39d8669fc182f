"""Erasing work in flight: for a leaked secret or a request to be forgotten.

Of a task and a receipt the number stays as a tombstone; a checkpoint has none, and goes with its history.
"""

from __future__ import annotations

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Model

from memories.search import forget, index_row
from memories.services.reviews.erasing import ERASED_TITLE
from memories.services.watching import forget_kept
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Forbidden
from memoryhub.kernel.traces import wipe_traces
from projects.models import Project, Role
from projects.services import ProjectWrite, finish
from tasks.models import Blocker, Checkpoint, Receipt, Task, TaskRevision, TaskStatus
from tasks.search import RECEIPTS, TASKS
from tasks.services.tasks import clear_claim, keep_revision
from tasks.services.writing import begin

# Where a row says it came from, which may tell as much as what it says.
_ORIGIN = ("session", "client", "model", "branch", "commit")


@transaction.atomic
def erase_task(*, actor: Actor, task: Task) -> None:
    """Take a task's text out of the task, its history and the index, for good. It is cancelled with it, its
    sub-tasks move to the top level, and what waited for it waits no longer.

    For owners of the project and superusers, in person. Raises Forbidden; what `begin` raises.
    """
    write = _begin(actor, task.project)
    task = Task.objects.select_for_update(of=("self",)).get(pk=task.pk)
    if task.is_erased:
        return
    task.project = write.project
    _let_go(write, task)
    task.title, task.summary, task.description = ERASED_TITLE, "", ""
    task.parent = task.assignee = None
    clear_claim(task)
    if not task.is_finished:
        task.status, task.finished_at = TaskStatus.CANCELLED, write.at
    task.erased_at = task.updated_at = write.at
    task.version += 1
    task.save()
    task.tags.all().delete()
    TaskRevision.objects.of(task).update(
        fields={}, reason="", request_digest="", **dict.fromkeys(_ORIGIN, "")
    )
    keep_revision(write, task, {"erased": True})
    index_row(TASKS, task)
    _finish(write, task)


@transaction.atomic
def erase_receipt(*, actor: Actor, receipt: Receipt) -> None:
    """Take a receipt's text out of the receipt and the index, for good; who took it over stays.

    For owners of the project and superusers, in person. Raises Forbidden; what `begin` raises.
    """
    write = _begin(actor, receipt.project)
    receipt = Receipt.objects.select_for_update(of=("self",)).get(pk=receipt.pk)
    if receipt.is_erased:
        return
    receipt.title, receipt.summary, receipt.tags, receipt.references = ERASED_TITLE, "", [], {}
    for name in (*Receipt.TEXTS, *_ORIGIN, "request_digest"):
        setattr(receipt, name, "")
    receipt.is_unsurfaced, receipt.erased_at = False, write.at
    receipt.save()
    index_row(RECEIPTS, receipt)
    _finish(write, receipt)


@transaction.atomic
def erase_checkpoint(*, actor: Actor, checkpoint: Checkpoint) -> None:
    """Take somebody's checkpoint away with all that it replaced, for good: its stream is as it never was.

    For owners of the project and superusers, in person. Raises Forbidden; what `begin` raises.
    """
    write = _begin(actor, checkpoint.project)
    found = Checkpoint.objects.in_project(write.project).select_for_update(of=("self",))
    for current in found.filter(pk=checkpoint.pk):
        _forget_log(current)
        current.delete()
        transaction.on_commit(wipe_traces)


def _begin(actor: Actor, project: Project) -> ProjectWrite:
    if actor.is_agent:
        raise Forbidden("An agent can't erase. Ask an owner of the project to do it.")
    return begin(actor, project, need=Role.OWNER)


def _let_go(write: ProjectWrite, task: Task) -> None:
    """Its sub-tasks move to the top level, and nothing waits for it any more; each says so in its history."""
    changed: dict[int, tuple[Task, dict[str, object]]] = {}
    for child in Task.objects.inside(task).select_for_update(of=("self",)):
        child.parent = None
        changed[child.pk] = (child, {"parent": 0})
    Blocker.objects.filter(task=task).delete()
    for blocking in Blocker.objects.filter(blocker=task).select_related("task"):
        waiting, fields = changed.setdefault(blocking.task_id, (blocking.task, {}))
        blocking.delete()
        fields["blocked_by"] = sorted(blocker.number for blocker in waiting.blockers)
    for other, fields in changed.values():
        other.version += 1
        other.updated_at = write.at
        other.save(update_fields=["parent", "version", "updated_at"])
        keep_revision(write, other, fields)


def _finish(write: ProjectWrite, row: Model) -> None:
    """What is kept elsewhere of its texts goes, too: words that left the index, reports, the admin's log."""
    forget()
    forget_kept(write.project)
    _forget_log(row)
    finish(write)
    transaction.on_commit(wipe_traces)


def _forget_log(row: Model) -> None:
    about = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(row))
    about.filter(object_id=str(row.pk)).update(object_repr=ERASED_TITLE)
