"""Tasks and receipts as doors answer them: the same names in arguments and answers, over MCP and REST."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from memories.presenting import when
from memories.search import RECEIPT, TASK
from projects.models import User
from tasks.models import Receipt, Task, TaskRevision
from tasks.numbers import known_numbers
from tasks.services import HandedOver, Saved, TaskWritten

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
    return task_wholes([task], reader, at)[0]


def task_wholes(tasks: Sequence[Task], reader: User, at: dt.datetime) -> list[dict[str, Any]]:
    """Several in full, in three queries however many they are. Need `for_rows` with the description."""
    ids = [task.pk for task in tasks]
    blocks: dict[int, list[int]] = {}
    seen = Task.objects.visible_to(reader).order_by("number")
    waiting = seen.filter(blockings__blocker__in=ids)
    for blocker, number in waiting.values_list("blockings__blocker", "number"):
        blocks.setdefault(blocker, []).append(number)
    parts: dict[int, list[dict[str, Any]]] = {}
    inside = seen.filter(parent__in=ids).values_list("parent", "number", "title", "status")
    for parent, number, title, status in inside:
        if parent is not None:
            parts.setdefault(parent, []).append({"number": number, "title": title, "status": status})
    revisions = TaskRevision.objects.visible_to(reader).filter(task__in=ids, version=1)
    first = {revision.task_id: revision for revision in revisions.select_related("actor").defer("fields")}
    return [
        task_row(task, at)
        | _said(
            {
                "blocked_by": [blocker.number for blocker in task.blockers],
                "blocks": blocks.get(task.pk, []),
                "sub_tasks": parts.get(task.pk, [])[:SUB_TASKS_SHOWN],
                "description": task.description,
                "finished_at": when(task.finished_at),
                "provenance": {
                    "created_at": when(task.created_at),
                    **(first[task.pk].provenance() if task.pk in first else {}),
                },
            }
        )
        for task in tasks
    ]


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
    return receipt_wholes([receipt], reader)[0]


def receipt_wholes(receipts: Sequence[Receipt], reader: User) -> list[dict[str, Any]]:
    """Several of one project in full, in three queries however many they are."""
    named = {number for receipt in receipts for number in receipt.references.get("numbers", ())}
    known = known_numbers(receipts[0].project, reader, sorted(named)) if receipts else set()
    wholes = []
    for receipt in receipts:
        references = dict(receipt.references)
        if "numbers" in references:
            references["numbers"] = [number for number in references["numbers"] if number in known]
        whole = {
            **{name: getattr(receipt, name) for name in Receipt.TEXTS},
            "references": _said(references),
            "acknowledged_at": when(receipt.acknowledged_at),
            "provenance": {"created_at": when(receipt.created_at), **receipt.provenance()},
        }
        wholes.append(receipt_row(receipt) | _said(whole))
    return wholes


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
