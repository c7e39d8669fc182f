"""The agent's door to tasks. Each tool checks its input, calls one service, and answers."""

from __future__ import annotations

from typing import Any

from memories.listing import ANY, PAGE_DEFAULT, PAGE_MAX
from memories.numbered import numbered
from memories.presenting import when
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import (
    Argument,
    Choice,
    Context,
    Count,
    Flag,
    Number,
    Numbers,
    Text,
    Version,
    Whole,
    Words,
)
from memoryhub.kernel.errors import Invalid, Problems
from memoryhub.kernel.tools import Right, tool
from projects.callers import Caller
from tasks.errors import NoSuchTask
from tasks.listing import TaskFilter, list_tasks
from tasks.models import Priority, Task, TaskStatus
from tasks.numbers import find_task
from tasks.presenting import task_row, task_written
from tasks.services import claim_task, create_task, release_task, revise_task
from tasks.services.tasks import check_task


def the_task(caller: Caller, number: int) -> Task:
    """The task of the call's project with this number. Raises NoSuchTask."""
    task = find_task(caller.project, caller.user, number)
    if task is None:
        raise NoSuchTask(number)
    return task


_FIELDS: dict[str, Argument] = {
    "title": Argument(required=True),
    "summary": Text("What is to be done and why", required=True, least=1, most=Task.SUMMARY_MAX_LENGTH),
    "description": Argument(),
    "tags": Words(),
    "priority": Choice(options=tuple(Priority.values)),
    "parent": Number(or_zero=True),
    "blocked_by": Numbers("Tasks it waits for"),
}


def _check_new(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    context = values.pop("write_context", None) or WriteContext()
    check_task(context=context, problems=problems, is_new=True, **values)


def _check_update(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    context = values.get("write_context") or WriteContext()
    own = ("ref", "expected_version", "write_context")
    given = {name: value for name, value in values.items() if name not in own}
    check_task(context=context, problems=problems, is_new=False, **given)


@tool(
    "task_create",
    "Store work to be done. Look into task_list first.",
    {**_FIELDS, "write_context": Context()},
    right=Right.WRITE,
    check=_check_new,
)
def task_create(caller: Caller, write_context: WriteContext, **given: Any) -> dict[str, Any]:
    return task_written(create_task(actor=caller.actor(write_context), project=caller.project, **given))


@tool(
    "task_update",
    "Change the named fields, the rest stays. While it is claimed, its holder alone changes the status.",
    {
        "ref": Number(required=True),
        "expected_version": Version(required=True),
        **{name: argument.bare() for name, argument in _FIELDS.items()},
        "status": Choice(options=tuple(TaskStatus.values)),
        "assignee": Argument(),
        "write_context": Context(),
    },
    right=Right.WRITE,
    check=_check_update,
)
def task_update(
    caller: Caller, ref: int, expected_version: int, write_context: WriteContext, **given: Any
) -> dict[str, Any]:
    task, actor = the_task(caller, ref), caller.actor(write_context)
    return task_written(revise_task(actor=actor, task=task, expected_version=expected_version, **given))


@tool(
    "task_list",
    "Tasks, newest first: unfinished ones unless a status is given. ready: open, unblocked, unclaimed.",
    {
        "status": Choice("any: all", options=(*TaskStatus.values, ANY), listed=False),
        "ready": Flag(),
        "tags": Words(),
        "assignee": Argument(),
        "limit": Count(most=PAGE_MAX),
        "cursor": Argument(),
    },
)
def task_list(caller: Caller, limit: int = PAGE_DEFAULT, cursor: str = "", **wanted: Any) -> dict[str, Any]:
    page = list_tasks(caller.project, caller.user, TaskFilter(**wanted), limit=limit, cursor=cursor)
    return page.answer([task_row(task, page.at) for task in page.items])


@tool(
    "task_get",
    "As memory_get: whatever the number names.",
    {"ref": Number(required=True)},
)
def task_get(caller: Caller, ref: int) -> dict[str, Any]:
    return numbered(caller.project, caller.user, ref)


@tool(
    "task_claim",
    "Take a task before you work on it, so that nobody does it twice. Again: extends. release: ends.",
    {
        "ref": Number(required=True),
        "minutes": Whole(f"{Task.CLAIM_MINUTES} unless given", most=Task.CLAIM_MINUTES_MAX),
        "release": Flag(),
        "write_context": Context(session_alone=True),
    },
    right=Right.WRITE,
)
def task_claim(
    caller: Caller,
    ref: int,
    write_context: WriteContext,
    minutes: int | None = None,
    release: bool = False,
) -> dict[str, Any]:
    if release and minutes is not None:
        raise Invalid(fields={"minutes": "A release takes none. Leave them out."})
    task, actor = the_task(caller, ref), caller.actor(write_context)
    if release:
        task = release_task(actor=actor, task=task)
    else:
        task = claim_task(actor=actor, task=task, minutes=minutes or Task.CLAIM_MINUTES)
    claimed = {"claimed_until": when(task.claim_until)} if task.claim_until else {}
    return {"result": "applied", "number": task.number, "version": task.version, **claimed}
