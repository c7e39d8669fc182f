"""Tasks, what they wait for, their revisions, and receipts on their way in."""

from __future__ import annotations

import uuid
from typing import Any

from memories.search import index_row
from memoryhub.exchange import table
from memoryhub.exchange.bringing_memories import histories_of
from memoryhub.exchange.conflicts import Version, said
from memoryhub.exchange.plan import Outcome
from memoryhub.exchange.rules import has_circle
from memoryhub.exchange.run import Appending, Meeting, Run, Values, meet
from memoryhub.exchange.shapes import renumbered
from projects.models import AccessToken, User
from projects.services import name_at_home
from tasks.models import Blocker, Receipt, Task, TaskRevision, TaskTag
from tasks.search import RECEIPTS, TASKS
from tasks.services.tasks import clear_claim, keep_revision, standing_values

# What two versions of a task are compared by.
SAID = ("title", "summary", "description", "status", "priority", "tags", "assignee")
_PLAIN = ("title", "summary", "description", "status", "priority")
_CLAIM = ("claim_user", "claim_token_name", "claim_kind", "claim_session", "claim_until")
_TAKEN_OVER = ("acknowledged_at", "acknowledged_by", "acknowledged_kind", "acknowledged_token_name")


class Tasks:
    """Takes tasks, blockers and their revisions in batches."""

    def __init__(self, run: Run) -> None:
        self.run = run
        # Sub-tasks come before their tasks or after them: they are put there once all are here.
        self._parents: dict[int, uuid.UUID | None] = {}
        # Those whose blockers are the file's.
        self._open: set[uuid.UUID] = set()
        self._edges: set[tuple[int, int]] | None = None

    # --- tasks ---------------------------------------------------------------------------

    def tasks(self, batch: list[Values]) -> None:
        run, known = self.run, self.run.here.known["task"]
        here = Task.objects.select_related("assignee", "parent", "project", "claim_user").in_bulk(
            [known[values["uid"]] for values in batch if values["uid"] in known]
        )
        histories = histories_of(TaskRevision, "task", here)
        new = []
        for values in batch:
            pk = known.get(values["uid"])
            if pk is None:
                run.note("task", Outcome.CREATED, values)
                self._open.add(values["uid"])
                new.append(values)
            else:
                self._meet(values, here[pk], histories[pk])
        if run.writing and new:
            self._create(new)

    def _create(self, new: list[Values]) -> None:
        run = self.run
        names = [name for name in table.TASK.columns if name not in ("uid", "number", "parent")]
        rows = [
            Task(
                project=run.into,
                uid=run.here.uid(values["uid"]),
                number=run.here.number(values["number"]),
                **run.columns("task", values, names),
            )
            for values in new
        ]
        for row in rows:
            row.claim_token = _token_of(row.claim_user, row.claim_token_name)
        Task.objects.bulk_create(rows)
        for row, values in zip(rows, new, strict=True):
            run.pks["task"][values["uid"]] = row.pk
            _store_tags(row, values["tags"])
            index_row(TASKS, row, is_new=True)
            self._parents[row.pk] = values["parent"]

    def _meet(self, values: Values, task: Task, history: list[tuple[bytes, dict[str, Any]]]) -> None:
        run = self.run
        if task.erased_at is not None or values["erased_at"] is not None:
            outcome = Outcome.ERASED if task.erased_at is None else Outcome.SAME
            run.note("task", outcome, {**values, "title": ""}, task.number)
            if task.erased_at is None:
                run.erasing.append(task)
            return
        met = meet(run.survey.told["task"][values["uid"]].marks, [one for one, _ in history])
        file, local = Version(said(values, SAID), values["updated_at"]), _version_of(task)
        if not met.file_moved or (met.here_moved and file.said == local.said):
            run.note("task", Outcome.KEPT if met.here_moved else Outcome.SAME, values, task.number)
            return
        if met.here_moved:
            wins = file.wins_over(local)
            run.note("task", Outcome.CONFLICT_TAKEN if wins else Outcome.CONFLICT_KEPT, values, task.number)
            run.conflict(task, "task", file, local)
            if not wins:
                return
        else:
            run.note("task", Outcome.TAKEN, values, task.number)
        self._open.add(values["uid"])
        if run.writing:
            self._take(values, task, met, history)

    def _take(
        self, values: Values, task: Task, met: Meeting, history: list[tuple[bytes, dict[str, Any]]]
    ) -> None:
        run, writing = self.run, self.run.writing
        assert writing is not None
        if met.here_moved:
            task.version += 1
            self._set_back(task, [fields for _, fields in history], met.common_here)
        run.appending[values["uid"]] = Appending(met.common, task.version)
        told = len(run.survey.told["task"][values["uid"]].marks) // 8
        task.version += told - met.common
        for name in _PLAIN:
            setattr(task, name, values[name])
        task.assignee = run.people.find(values["assignee"])
        task.updated_at, task.finished_at = values["updated_at"], values["finished_at"]
        if values["claim_until"] or not task.is_claimed(writing.at):
            for name, value in run.columns("task", values, _CLAIM).items():
                setattr(task, name, value)
            task.claim_token = _token_of(task.claim_user, task.claim_token_name)
        if task.is_finished:
            clear_claim(task)
        task.save()
        _store_tags(task, values["tags"])
        task.blockings.all().delete()
        index_row(TASKS, task)
        self._parents[task.pk] = values["parent"]

    def _set_back(self, task: Task, history: list[dict[str, Any]], common: int) -> None:
        """Say in the history that what changed here since is set back: the file's revisions follow."""
        writing = self.run.writing
        assert writing is not None
        state: dict[str, Any] = {}
        for fields in history[:common]:
            state |= fields
        names = {name for fields in history[common:] for name in fields}
        now = standing_values(task)
        keep_revision(writing, task, {name: state.get(name, now.get(name, "")) for name in sorted(names)})

    def place(self) -> None:
        """Put sub-tasks under their tasks, but for what would be a part of itself."""
        parts = set(Task.objects.in_project(self.run.into).exclude(parent=None).values_list("pk", "parent"))
        parts = {(one, other) for one, other in parts if one not in self._parents}
        moved = []
        for pk, uid in self._parents.items():
            parent = self.run.pks["task"].get(uid) if uid else None
            if parent is not None and has_circle({*parts, (pk, parent)}):
                self.run.plan.moved_out += 1
                parent = None
            if parent is not None:
                parts.add((pk, parent))
            moved.append(Task(pk=pk, parent_id=parent))
        Task.objects.bulk_update(moved, ["parent"], batch_size=200)

    # --- what they wait for --------------------------------------------------------------

    def blockers(self, batch: list[Values]) -> None:
        run = self.run
        if not run.writing:
            return
        wanted = [values for values in batch if values["task"] in self._open]
        pairs = [(run.pks["task"][values["task"]], run.pks["task"][values["blocker"]]) for values in wanted]
        if run.here.known["task"]:
            pairs = self._without_circles(pairs)
        Blocker.objects.bulk_create(
            [Blocker(task_id=one, blocker_id=other) for one, other in pairs], ignore_conflicts=True
        )

    def _without_circles(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """What this hub's and the file's tasks wait for may lead in a circle together: then no longer."""
        if self._edges is None:
            here = Blocker.objects.filter(task__project=self.run.into)
            self._edges = set(here.order_by().values_list("task", "blocker"))
        fine = []
        for pair in pairs:
            if not has_circle({*self._edges, pair}):
                self._edges.add(pair)
                fine.append(pair)
        return fine

    def task_revisions(self, batch: list[Values]) -> None:
        run = self.run
        if not run.writing:
            return
        rows = []
        for values in batch:
            version = values["version"]
            if not run.is_new("task", values["task"]):
                appending = run.appending.get(values["task"])
                version = appending.next() if appending else None
            if version is not None:
                columns = run.columns("task_revision", values, table.TASK_REVISION.columns)
                columns["fields"] = renumbered(values["fields"], run.here.number)
                rows.append(TaskRevision(**{**columns, "version": version}))
        TaskRevision.objects.bulk_create(rows)

    # --- receipts ------------------------------------------------------------------------

    def receipts(self, batch: list[Values]) -> None:
        run, known = self.run, self.run.here.known["receipt"]
        here = Receipt.objects.select_related("project").in_bulk(
            [known[values["uid"]] for values in batch if values["uid"] in known]
        )
        new = []
        for values in batch:
            if values["uid"] in known:
                self._meet_receipt(values, here[known[values["uid"]]])
            else:
                run.note("receipt", Outcome.CREATED, values)
                new.append(values)
        if run.writing and new:
            self._create_receipts(new)

    def _create_receipts(self, new: list[Values]) -> None:
        run = self.run
        names = [name for name in table.RECEIPT.columns if name not in ("uid", "number", "references")]
        rows = [
            Receipt(
                project=run.into,
                uid=run.here.uid(values["uid"]),
                number=run.here.number(values["number"]),
                references=renumbered(values["references"], run.here.number),
                **run.columns("receipt", values, names),
            )
            for values in new
        ]
        Receipt.objects.bulk_create(rows)
        for row in rows:
            index_row(RECEIPTS, row, is_new=True)

    def _meet_receipt(self, values: Values, receipt: Receipt) -> None:
        """A receipt never changes, but that somebody takes it over, or that it is erased."""
        run = self.run
        if receipt.erased_at is None and values["erased_at"] is not None:
            run.note("receipt", Outcome.ERASED, {**values, "title": ""}, receipt.number)
            run.erasing.append(receipt)
        elif receipt.erased_at is None and receipt.acknowledged_at is None and values["acknowledged_at"]:
            run.note("receipt", Outcome.TAKEN, values, receipt.number)
            if run.writing:
                for name, value in run.columns("receipt", values, _TAKEN_OVER).items():
                    setattr(receipt, name, value)
                receipt.save(update_fields=list(_TAKEN_OVER))
        else:
            run.note("receipt", Outcome.SAME, {**values, "title": ""}, receipt.number)


def _version_of(task: Task) -> Version:
    values = {name: getattr(task, name) for name in _PLAIN}
    assignee = name_at_home(task.assignee.username, task.assignee.first_name) if task.assignee else None
    return Version({**values, "tags": task.tag_names, "assignee": assignee}, task.updated_at)


def _store_tags(task: Task, names: list[str]) -> None:
    task.tags.all().delete()
    TaskTag.objects.bulk_create(
        TaskTag(task=task, name=name, position=place) for place, name in enumerate(names)
    )


def _token_of(user: User | None, name: str) -> AccessToken | None:
    """The holder's token of that name, where there is exactly one: the claim is its holder's again."""
    if user is None or not name:
        return None
    found = list(AccessToken.objects.of(user).standing().filter(name=name)[:2])
    return found[0] if len(found) == 1 else None
