"""Checkpoints on their way in, with what they replaced: matched by their user and stream."""

from __future__ import annotations

from typing import Any

from memoryhub.exchange import table
from memoryhub.exchange.conflicts import Version, said
from memoryhub.exchange.plan import Outcome
from memoryhub.exchange.run import Run, Values
from memoryhub.exchange.values import encoded
from tasks.models import Checkpoint, CheckpointEntry, CheckpointFields, CheckpointLoss, EntryKind
from tasks.services.checkpoints import keep

SAID = (*CheckpointFields.ALL, "sections")
_TAKEN = ("updated_at", "saved_by", *SAID, *table.PROVENANCE)
Stream = tuple[str, str]


class Checkpoints:
    """Takes checkpoints, what they replaced and what they lost in batches."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._here: dict[Stream, Checkpoint] = {}
        self._new: set[Stream] = set()

    def checkpoints(self, batch: list[Values]) -> None:
        for values in batch:
            current = self._current(values)
            if current is None:
                self._create(values)
            else:
                self._here[values["user"], values["stream"]] = current
                self._meet(values, current)

    def _current(self, values: Values) -> Checkpoint | None:
        run = self.run
        user = run.people.standing(values["user"])
        if run.project is None or (user is None and not run.writing):
            return None
        user = user or run.people.find(values["user"])
        here = Checkpoint.objects.in_project(run.project).filter(user=user).of_stream(values["stream"])
        return here.select_related("saved_by", "project").first()

    def _create(self, values: Values) -> None:
        run, stream = self.run, (values["user"], values["stream"])
        run.plan.note("checkpoint", Outcome.CREATED, values["stream"])
        self._new.add(stream)
        if run.writing:
            columns = run.columns("checkpoint", values, table.CHECKPOINT.columns)
            self._here[stream] = Checkpoint.objects.create(project=run.into, **columns)

    def _meet(self, values: Values, current: Checkpoint) -> None:
        run = self.run
        file = Version(said(values, SAID), values["updated_at"])
        local = Version({name: encoded(getattr(current, name)) for name in SAID}, current.updated_at)
        replaced = CheckpointEntry.objects.filter(checkpoint=current, saved_at=file.at)
        is_ahead = local.at in run.survey.streams[values["user"], values["stream"]]
        if file.said == local.said:
            outcome = Outcome.SAME
        elif is_ahead:
            outcome = Outcome.TAKEN
        elif replaced.exists():
            outcome = Outcome.KEPT
        else:
            wins = file.wins_over(local)
            outcome = Outcome.CONFLICT_TAKEN if wins else Outcome.CONFLICT_KEPT
            run.conflict(current, "checkpoint", file, local)
        run.plan.note("checkpoint", outcome, current.stream)
        if run.writing and outcome not in (Outcome.SAME, Outcome.KEPT):
            self._settle(values, current, outcome)

    def _settle(self, values: Values, current: Checkpoint, outcome: Outcome) -> None:
        """Both stay: one as what stands, the other in the history."""
        run = self.run
        assert run.writing is not None
        columns = run.columns("checkpoint", values, _TAKEN)
        if outcome is Outcome.CONFLICT_KEPT:
            late = Checkpoint(pk=current.pk, version=current.version, **columns)
            keep(run.writing, late, EntryKind.LATE)
            return
        if outcome is Outcome.CONFLICT_TAKEN:
            keep(run.writing, current, EntryKind.REPLACED)
        current.version = max(values["version"], current.version + 1)
        for name, value in columns.items():
            setattr(current, name, value)
        current.save()

    # --- what hangs on them --------------------------------------------------------------

    def entries(self, batch: list[Values]) -> None:
        rows = self._missing("checkpoint_entry", batch, CheckpointEntry, ("saved_at", "replaced_at", "kind"))
        CheckpointEntry.objects.bulk_create(rows)

    def losses(self, batch: list[Values]) -> None:
        rows = self._missing("checkpoint_loss", batch, CheckpointLoss, ("lost_at", "version"))
        CheckpointLoss.objects.bulk_create(rows)

    def _missing(self, kind: str, batch: list[Values], model: Any, key: tuple[str, ...]) -> list[Any]:
        """Rows for those entries that aren't here; what a checkpoint here replaced by itself is."""
        run = self.run
        if not run.writing:
            return []
        columns, rows = table.BY_NAME[kind].columns, []
        for values in batch:
            stream = (values["user"], values["stream"])
            checkpoint = self._here[stream]
            same = {name: values[name] for name in key}
            if stream in self._new or not model.objects.filter(checkpoint=checkpoint, **same).exists():
                rows.append(model(checkpoint=checkpoint, **run.columns(kind, values, columns)))
        return rows
