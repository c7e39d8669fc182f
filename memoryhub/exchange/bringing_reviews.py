"""Proposals on their way in: decided once, and never undecided by an older file."""

from __future__ import annotations

from typing import Any

from memories.models import Review
from memories.services.reviews.data import change_of, digest_of
from memoryhub.exchange import table
from memoryhub.exchange.conflicts import Version, said
from memoryhub.exchange.plan import Outcome
from memoryhub.exchange.run import Run, Values
from memoryhub.exchange.shapes import renumbered
from memoryhub.exchange.values import encoded

# What a decision sets.
DECIDED = (
    "status",
    "note",
    "decided_by",
    "decided_at",
    "decided_kind",
    "decided_door",
    "decided_token_name",
    "decided_context",
    "edits",
    "updated_at",
)
_SAID = ("status", "note", "edits")
_NOT_COPIED = ("uid", "number", "other", "beside", "links", "fields", "edits")


class Reviews:
    """Takes reviews in batches."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def reviews(self, batch: list[Values]) -> None:
        run, known = self.run, self.run.here.known["review"]
        here = Review.objects.select_related("memory", "project").in_bulk(
            [known[values["uid"]] for values in batch if values["uid"] in known]
        )
        new = []
        for values in batch:
            if values["uid"] in known:
                self._meet(values, here[known[values["uid"]]])
            elif values["memory"] in run.here.erased["memory"] and values["erased_at"] is None:
                # Nothing comes back of what was erased here.
                run.note("review", Outcome.KEPT, {**values, "title": ""})
            else:
                run.note("review", Outcome.CREATED, values)
                new.append(values)
        if run.writing and new:
            self._create(new)

    def _create(self, new: list[Values]) -> None:
        run = self.run
        names = [name for name in table.REVIEW.columns if name not in _NOT_COPIED]
        rows = []
        for values in new:
            row = Review(
                project=run.into,
                uid=run.here.uid(values["uid"]),
                number=run.here.review_number(values["number"]),
                other=run.here.number(values["other"]) if values["other"] else values["other"],
                beside={str(run.here.number(int(key))): version for key, version in values["beside"].items()},
                **{name: renumbered(values[name], run.here.number) for name in ("links", "fields", "edits")},
                **run.columns("review", values, names),
            )
            rows.append(row)
        Review.objects.bulk_create(rows)
        for row, values in zip(rows, new, strict=True):
            run.pks["review"][values["uid"]] = row.pk
        # The digest is made with keys of this store.
        standing = [row for row in rows if row.erased_at is None]
        for row in standing:
            row.digest = digest_of(change_of(row), row.fields)
        Review.objects.bulk_update(standing, ["digest"], batch_size=100)

    def _meet(self, values: Values, row: Review) -> None:
        run = self.run
        if row.erased_at is not None or values["erased_at"] is not None:
            if row.erased_at is None:
                run.note("review", Outcome.ERASED, {**values, "title": ""}, row.number)
                run.erasing.append(row)
            else:
                run.note("review", Outcome.SAME, {**values, "title": ""}, row.number)
            return
        file = Version(self._said(values), values["decided_at"] or values["updated_at"])
        local = Version(
            {name: encoded(getattr(row, name)) for name in _SAID}, row.decided_at or row.updated_at
        )
        if file.said == local.said:
            run.note("review", Outcome.SAME, values, row.number)
        elif values["decided_at"] is None:
            run.note("review", Outcome.KEPT, values, row.number)
        elif row.decided_at is None:
            run.note("review", Outcome.TAKEN, values, row.number)
            self._decide(values, row)
        else:
            wins = file.wins_over(local)
            outcome = Outcome.CONFLICT_TAKEN if wins else Outcome.CONFLICT_KEPT
            run.note("review", outcome, values, row.number)
            run.conflict(row, "review", file, local)
            if wins:
                self._decide(values, row)

    def _said(self, values: Values) -> dict[str, Any]:
        return said({**values, "edits": renumbered(values["edits"], self.run.here.number)}, _SAID)

    def _decide(self, values: Values, row: Review) -> None:
        run = self.run
        if not run.writing:
            return
        for name, value in run.columns("review", values, DECIDED).items():
            setattr(row, name, value)
        row.edits = renumbered(values["edits"], run.here.number)
        if row.memory_id is None and values["memory"]:
            row.memory_id = run.pks["memory"].get(values["memory"])
        row.save()
