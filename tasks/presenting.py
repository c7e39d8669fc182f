"""Tasks and receipts as doors answer them: the same names in arguments and answers, over MCP and REST."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memories.presenting import when
from projects.models import User
from tasks.models import Receipt, Task, TaskRevision
from tasks.numbers import known_numbers
from tasks.services import HandedOver, Saved, TaskWritten

TASK, RECEIPT = "task", "receipt"
_EMPTY: tuple[Any, ...] = (None, "", [], {}, 0, False)
SUB_TASKS_SHOWN = 50


def _said(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in _EMPTY}


def task_row(task: Task, at: dt.datetime) -> dict[str, Any]:
    """A row of a list at a moment, which claims are measured by. Needs `for_rows`.

    What is empty or the default (priority normal, not ready) is left out; a claim that lapsed is none.
    """
    return _said(
        {
            "number": task.number,
            "type": TASK,
            "title": task.title,
            "summary": task.summary,
            "status": task.status,
            "ready": task.is_ready(at),
            "priority": None if task.priority == Task.Priority.NORMAL else task.priority,
            "tags": task.tag_names,
            "parent": task.parent.number if task.parent else None,
            "children": getattr(task, "child_count", 0),
            "blocked_by": [blocker.number for blocker in task.unfinished_blockers],
            "assignee": task.assignee.username if task.assignee else None,
            "claim": claim_of(task, at),
            "version": task.version,
            "author": task.author.username if task.author else None,
            "updated_at": when(task.updated_at),
        }
    )


def claim_of(task: Task, at: dt.datetime) -> dict[str, Any]:
    """Who works on it, in which session, until when; empty where nobody does."""
    if not task.is_claimed(at):
        return {}
    return _said({"by": task.claimant, "session": task.claim_session, "until": when(task.claim_until)})


def task_whole(task: Task, reader: User, at: dt.datetime) -> dict[str, Any]:
    """A task in full: its text, what it waits for, what waits for it, sub-tasks, where it came from."""
    inside = Task.objects.visible_to(reader).inside(task).order_by("number")
    waiting = Task.objects.visible_to(reader).filter(blockings__blocker=task).order_by("number")
    first = TaskRevision.objects.visible_to(reader).of(task).last()
    return task_row(task, at) | _said(
        {
            "blocked_by": [blocker.number for blocker in task.blockers],
            "blocks": list(waiting.values_list("number", flat=True)),
            "sub_tasks": [
                {"number": number, "title": title, "status": status}
                for number, title, status in inside.values_list("number", "title", "status")[:SUB_TASKS_SHOWN]
            ],
            "description": task.description,
            "finished_at": when(task.finished_at),
            "provenance": {"created_at": when(task.created_at), **(first.provenance() if first else {})},
        }
    )


def receipt_row(receipt: Receipt) -> dict[str, Any]:
    """A row of a list, whose size never depends on the long texts. Needs `for_rows`."""
    return _said(
        {
            "number": receipt.number,
            "type": RECEIPT,
            "title": receipt.title,
            "summary": receipt.summary,
            "tags": receipt.tags,
            "unsurfaced": receipt.is_unsurfaced,
            "acknowledged_by": receipt.acknowledger,
            "author": receipt.author.username,
            "updated_at": when(receipt.created_at),
        }
    )


def receipt_whole(receipt: Receipt, reader: User) -> dict[str, Any]:
    """A receipt in full; of the numbers that it names those that the reader may see."""
    references = dict(receipt.references)
    if "numbers" in references:
        known = known_numbers(receipt.project, reader, references["numbers"])
        references["numbers"] = [number for number in references["numbers"] if number in known]
    return receipt_row(receipt) | _said(
        {
            **{name: getattr(receipt, name) for name in Receipt.TEXTS},
            "references": _said(references),
            "acknowledged_at": when(receipt.acknowledged_at),
            "provenance": {"created_at": when(receipt.created_at), **receipt.provenance()},
        }
    )


def task_written(done: TaskWritten) -> dict[str, Any]:
    """What a write to a task answers."""
    more: dict[str, Any] = {"duplicate": True} if done.duplicate else {}
    if done.hints:
        more["hints"] = [hint.as_dict() for hint in done.hints]
    return {"result": "applied", "number": done.task.number, "version": done.task.version, **more}


def handed_over(done: HandedOver) -> dict[str, Any]:
    """What a hand-off answers."""
    more: dict[str, Any] = {"duplicate": True} if done.duplicate else {}
    if done.acknowledged:
        more["acknowledged"] = done.acknowledged
    return {"result": "applied", "number": done.receipt.number, "title": done.receipt.title, **more}


def saved(done: Saved) -> dict[str, Any]:
    """What saving a checkpoint answers."""
    said = {
        "result": "applied",
        "stream": done.checkpoint.stream,
        "version": done.checkpoint.version,
        "updated_at": when(done.checkpoint.updated_at),
    }
    return said if done.changed else {**said, "unchanged": True}
