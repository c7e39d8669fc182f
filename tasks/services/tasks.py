"""Making and changing tasks: versions, revisions, sub-tasks, what blocks what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from memories.search import index_row
from memories.services import Hint
from memoryhub.kernel.actor import Actor, WriteContext
from memoryhub.kernel.errors import Invalid, Problems
from projects.models import Membership, Project, User
from projects.services import ProjectWrite, finish, next_number
from tasks.errors import ClaimedByAnother, NoSuchTask, TaskMovedOn, TaskRule
from tasks.models import Blocker, Task, TaskRevision, TaskTag
from tasks.models.task import FINISHED
from tasks.search import TASKS
from tasks.services.checks import TASK_FIELDS, digest_of, read_fields
from tasks.services.writing import RETRY_WITHIN, begin, provenance_of

# What a task says, and is found by.
SAID = {"title", "summary", "description", "tags"}
CLAIM_COLUMNS = (
    "claim_user",
    "claim_token",
    "claim_token_name",
    "claim_kind",
    "claim_session",
    "claim_until",
)


@dataclass(frozen=True)
class TaskWritten:
    """A task as it is after a write. `duplicate`: a retry, and nothing was stored again."""

    task: Task
    hints: list[Hint] = field(default_factory=list)
    duplicate: bool = False


def check_task(
    *, context: WriteContext, problems: Problems, is_new: bool, reason: str = "", **given: Any
) -> dict[str, Any]:
    """Add what is wrong with a task's fields to `problems`; the fields as they would be stored."""
    required = ("title", "summary") if is_new else ()
    fields = read_fields(TASK_FIELDS, given, context, problems, required=required, reason=reason)
    if is_new and "status" in given:
        problems.add("status", "A new task is open. Leave it out.")
    return fields


def create_task(*, actor: Actor, project: Project, reason: str = "", **given: Any) -> TaskWritten:
    """Store a new open task, of `checks.TASK_FIELDS`; title and summary are required.

    Raises Invalid, SecretDetected; NoSuchProject, RightMissing, RoleTooLow, ProjectArchived, NoSuchTask.
    """
    problems = Problems()
    fields = check_task(context=actor.context, problems=problems, is_new=True, reason=reason, **given)
    problems.raise_if_any()
    digest = digest_of(given, reason)
    with transaction.atomic():
        write = begin(actor, project, reason)
        if first := _retried(write, digest):
            return TaskWritten(first, duplicate=True)
        task = Task(project=write.project, author=actor.user, created_at=write.at, updated_at=write.at)
        linked = _take(write, task, fields)
        task.number = next_number(write)
        task.save(force_insert=True)
        _store_parts(task, linked)
        keep_revision(write, task, fields, digest)
        index_row(TASKS, task, is_new=True)
        finish(write)
    return TaskWritten(task)


def revise_task(
    *, actor: Actor, task: Task, expected_version: int | None, reason: str = "", **given: Any
) -> TaskWritten:
    """Change the named fields; the rest stays. Who doesn't hold a standing claim can't change the status.

    Raises what `create_task` does, TaskMovedOn, ClaimedByAnother, TaskRule. Naming only values that stand
    already changes nothing, the version included.
    """
    problems = Problems()
    fields = check_task(context=actor.context, problems=problems, is_new=False, reason=reason, **given)
    problems.raise_if_any()
    with transaction.atomic():
        write = begin(actor, task.project, reason)
        task = lock_task(write, task, expected_version)
        changed = {name: value for name, value in fields.items() if value != _standing(task, name)}
        if not changed:
            return TaskWritten(task)
        if "status" in changed:
            _change_status(write, task, changed["status"])
        linked = _take(write, task, changed)
        task.version += 1
        task.updated_at = write.at
        columns = {"version", "updated_at", *(set(changed) - set(linked))}
        task.save(update_fields=columns | ({"finished_at", *CLAIM_COLUMNS} if "status" in changed else set()))
        _store_parts(task, linked)
        keep_revision(write, task, changed)
        if SAID & set(changed):
            index_row(TASKS, task)
        finish(write)
        return TaskWritten(task, list(_advice(task)) if "status" in changed else [])


def lock_task(write: ProjectWrite, task: Task, expected_version: int | None) -> Task:
    """The task as it is now. Raises NoSuchTask, TaskMovedOn. Without a version none is compared."""
    found = Task.objects.in_project(write.project).standing().numbered(task.number)
    locked = found.select_for_update(of=("self",)).first()
    if locked is None:
        raise NoSuchTask(task.number)
    # The project of the lock, not another copy of the row.
    locked.project = write.project
    if expected_version is not None and locked.version != expected_version:
        later = TaskRevision.objects.of(locked).since(expected_version).values_list("fields", flat=True)
        changed = sorted({name for fields in later for name in fields})
        raise TaskMovedOn(locked.number, locked.version, expected_version, changed)
    return locked


def holds(actor: Actor, task: Task) -> bool:
    """Whether the claim is the actor's: the same user and access token, in the same session."""
    return (
        task.claim_user_id is not None
        and actor.user is not None
        and task.claim_user_id == actor.user.pk
        and task.claim_token_id == (actor.token.pk if actor.token else None)
        and task.claim_session == actor.context.session
    )


def clear_claim(task: Task) -> None:
    """Set the fields of a claim back; the caller saves them."""
    task.claim_user = task.claim_token = task.claim_until = None
    task.claim_token_name = task.claim_kind = task.claim_session = ""


def claimed_by_another(task: Task) -> ClaimedByAnother:
    assert task.claim_until is not None
    return ClaimedByAnother(task.number, task.claimant, task.claim_until)


def _retried(write: ProjectWrite, digest: str) -> Task | None:
    """What the same call of the same session made a moment ago."""
    session = write.actor.context.session
    if not session:
        return None
    first = TaskRevision.objects.filter(
        request_digest=digest,
        task__project=write.project,
        version=1,
        actor=write.actor.user,
        session=session,
        created_at__gte=write.at - RETRY_WITHIN,
    )
    found = first.select_related("task").first()
    return found.task if found else None


def standing_values(task: Task) -> dict[str, Any]:
    """Every field of a task as it is, by name and as a change names it."""
    return {name: _standing(task, name) for name in TASK_FIELDS}


def _standing(task: Task, name: str) -> Any:
    """The value of a field, as a change names it."""
    if name == "tags":
        return task.tag_names
    if name == "parent":
        return task.parent.number if task.parent else 0
    if name == "blocked_by":
        return sorted(blocker.number for blocker in task.blockers)
    if name == "assignee":
        return task.assignee.username if task.assignee else ""
    return getattr(task, name)


def _change_status(write: ProjectWrite, task: Task, status: str) -> None:
    """Check the claim, and end one that lapsed or that the work needs no more."""
    if task.is_claimed(write.at) and not holds(write.actor, task):
        raise claimed_by_another(task)
    if status in FINISHED or not task.is_claimed(write.at):
        clear_claim(task)
    task.finished_at = write.at if status in FINISHED else None


def _take(write: ProjectWrite, task: Task, fields: dict[str, Any]) -> dict[str, Any]:
    """Set the fields on the task; gives tags and blockers, which are stored once it has an id."""
    linked: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, value in fields.items():
        if name == "parent":
            task.parent = _parent(write, task, value) if value else None
        elif name == "blocked_by":
            linked[name] = _blockers(write, task, value)
        elif name == "tags":
            linked[name] = value
        elif name == "assignee":
            task.assignee = _assignee(write, value, wrong)
        else:
            setattr(task, name, value)
    if wrong:
        raise Invalid(fields=wrong)
    return linked


def _assignee(write: ProjectWrite, username: str, wrong: dict[str, str]) -> User | None:
    if not username:
        return None
    members = Membership.objects.in_project(write.project).of_name(username)
    found = members.first()
    if found is None:
        wrong["assignee"] = "Nobody of this name is a member of the project."
    return found.user if found else None


def _named(write: ProjectWrite, numbers: Iterable[int]) -> list[Task]:
    wanted = list(numbers)
    found = {
        task.number: task for task in Task.objects.in_project(write.project).standing().with_numbers(wanted)
    }
    for number in wanted:
        if number not in found:
            raise NoSuchTask(number)
    return [found[number] for number in wanted]


def _parent(write: ProjectWrite, task: Task, number: int) -> Task:
    (parent,) = _named(write, [number])
    above: Task | None = parent
    while above is not None and task.pk:
        if above.pk == task.pk:
            sentence = f"#{number} is #{task.number} itself or one of its sub-tasks. Name another task."
            raise TaskRule("no_circles", "parent", sentence)
        above = above.parent
    return parent


def _blockers(write: ProjectWrite, task: Task, numbers: list[int]) -> list[Task]:
    blockers = _named(write, numbers)
    if not task.pk:
        return blockers
    # From the blockers along what each waits for: whoever comes back to the task went in a circle.
    met: set[int] = set()
    ahead = {blocker.pk for blocker in blockers}
    while ahead:
        if task.pk in ahead:
            sentence = f"#{task.number} would wait for itself. Leave out what waits for it already."
            raise TaskRule("no_circles", "blocked_by", sentence)
        met |= ahead
        ahead = set(Blocker.objects.filter(task__in=ahead).values_list("blocker", flat=True)) - met
    return blockers


def _store_parts(task: Task, linked: dict[str, Any]) -> None:
    if "tags" in linked:
        task.tags.all().delete()
        TaskTag.objects.bulk_create(
            TaskTag(task=task, name=name, position=place) for place, name in enumerate(linked["tags"])
        )
    if "blocked_by" in linked:
        task.blockings.all().delete()
        Blocker.objects.bulk_create(Blocker(task=task, blocker=blocker) for blocker in linked["blocked_by"])


def keep_revision(write: ProjectWrite, task: Task, fields: dict[str, Any], digest: str = "") -> None:
    """Say in its history what the task's version changed."""
    TaskRevision.objects.create(
        task=task,
        version=task.version,
        fields=fields,
        reason=write.reason,
        actor=write.actor.user,
        request_digest=digest,
        created_at=write.at,
        **provenance_of(write.actor),
    )


def _advice(task: Task) -> Iterable[Hint]:
    """After a change of status: sub-tasks that are left, and what this one no longer blocks."""
    if not task.is_finished:
        return
    left = list(Task.objects.inside(task).unfinished().values_list("number", flat=True))
    if left:
        names = ", ".join(f"#{number}" for number in left[:10])
        yield Hint("unfinished_sub_tasks", f"Sub-tasks are unfinished: {names}.", left[0])
    freed = Task.objects.in_project(task.project).filter(blockings__blocker=task).ready(task.updated_at)
    for number in freed.order_by("number").values_list("number", flat=True)[:10]:
        yield Hint("ready", f"#{number} is ready now.", number)
