"""A task and a receipt as their pages show them: read in a fixed number of queries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.safestring import SafeString

from memories.markdown import rendered
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, Role, User
from tasks.beside import After, Beside, beside
from tasks.browsing import TaskRow
from tasks.forms import TaskForm
from tasks.history import CHECKPOINT_NAMES, History, task_history
from tasks.models import Receipt, Task, TaskRevision, TaskStatus
from tasks.placeholders import is_placeholder
from tasks.places import Named, named_in


@dataclass(frozen=True)
class May:
    """What a reader may do with a task now; without anything, `why_not` says why."""

    write: bool = False
    claim: bool = False
    extend: bool = False
    release: bool = False
    statuses: Sequence[TaskStatus] = ()
    why_not: str = ""


@dataclass(frozen=True)
class ShownTask:
    """Everything on a task's page."""

    row: TaskRow
    description: SafeString
    may: May
    parts: Beside
    blocks: Beside
    blocked_by: Beside
    receipts: Beside
    first: TaskRevision | None = None
    history: History | None = None


@dataclass(frozen=True)
class Preview:
    """What was typed as a task's page would show it."""

    title: str
    summary: str
    description: SafeString


def preview_of(form: TaskForm) -> Preview | None:
    """None where a text is longer than is ever stored."""
    form.is_valid()
    title, summary, description = (
        str(form.cleaned_data.get(name, "")) for name in ("title", "summary", "description")
    )
    if max(map(len, (title, summary, description))) > Task.DESCRIPTION_MAX_LENGTH:
        return None
    return Preview(title, summary, rendered(description))


def may_write(project: Project) -> bool:
    """Whether the reader that the project was loaded for may change anything in it."""
    return Role(project.role).includes(Role.CONTRIBUTOR) and not project.is_archived  # type: ignore[attr-defined]


def why_not_write(project: Project) -> str:
    """To somebody who may only look."""
    if project.is_archived:
        return "The project is archived: nothing in it changes."
    return "You read here. A contributor can change it."


def may_do(project: Project, reader: User, row: TaskRow) -> May:
    """What the reader may do now, in person; the services ask again."""
    if not may_write(project):
        return May(why_not=why_not_write(project))
    task = row.task
    # In person there is one holder, whatever the browser: no token, no session.
    is_mine = row.is_claimed and task.claim_user_id == reader.pk
    is_held_here = is_mine and task.claim_token_id is None and not task.claim_session
    reviews = Role(project.role).includes(Role.REVIEWER)  # type: ignore[attr-defined]
    if row.is_claimed and not is_held_here:
        why = "Until then its status is for whoever holds the claim to change."
        return May(write=True, release=is_mine or reviews, why_not=why)
    statuses = [one for one in TaskStatus if one != task.status]
    return May(
        write=True,
        claim=not row.is_claimed and not task.is_finished,
        extend=is_held_here,
        release=is_held_here or row.has_lapsed,
        statuses=statuses,
    )


def shown_task(
    project: Project, reader: User, task: Task, at: dt.datetime, before: int | None, after: After
) -> ShownTask:
    """The task with what is around it. Needs `for_page`.

    `before` is where its history goes on, `after` where the lists beside it do.
    """
    with read_snapshot():
        row = TaskRow(task, at)
        first = TaskRevision.objects.visible_to(reader).of(task).defer("fields").last()
        return ShownTask(
            row,
            rendered(task.description),
            may_do(project, reader, row),
            **beside(project, reader, task, at, after),
            first=first,
            history=task_history(task, reader, before),
        )


@dataclass(frozen=True)
class Section:
    """One of a receipt's texts."""

    name: str
    html: SafeString


@dataclass(frozen=True)
class ShownReceipt:
    """Everything on a receipt's page."""

    receipt: Receipt
    sections: Sequence[Section]
    named: Sequence[Named] = field(default=())
    branch: str = ""
    commit: str = ""


_SECTIONS = {
    "unsurfaced_results": CHECKPOINT_NAMES["unsurfaced_results"],
    "done": "Done",
    "decisions": "Decisions",
    "next_steps": "Next steps",
    "blockers": CHECKPOINT_NAMES["blockers"],
}


def shown_receipt(project: Project, reader: User, receipt: Receipt) -> ShownReceipt:
    """A receipt, what is to be told first; of the numbers that it names those that the reader may see."""
    references = receipt.references
    texts = [(name, getattr(receipt, field)) for field, name in _SECTIONS.items()]
    return ShownReceipt(
        receipt,
        [Section(name, rendered(text)) for name, text in texts if not is_placeholder(text)],
        named_in(project, reader, references.get("numbers", [])),
        references.get("branch", ""),
        references.get("commit", ""),
    )
