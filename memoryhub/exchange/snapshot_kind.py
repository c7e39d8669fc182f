"""Snapshots as a kind of upload."""

from __future__ import annotations

from pathlib import Path

from memoryhub.exchange.importing import bring_snapshot
from memoryhub.exchange.plan import Plan
from memoryhub.exchange.uploads import Progress, Report, UploadKind
from memoryhub.kernel.actor import Actor
from projects.models import Project

_GZIP = b"\x1f\x8b"


class SnapshotKind(UploadKind):
    """A project's snapshot, of this hub or another."""

    name, label = "snapshot", "a snapshot"
    says = "A snapshot that a hub exported (.json.gz): memories with their history, tasks, receipts, reviews."
    place = 10

    def recognises(self, file: Path) -> bool:
        with file.open("rb") as opened:
            starts_so = opened.read(2) == _GZIP
        return starts_so and not file.name.endswith((".tar.gz", ".tgz"))

    def plan(self, *, actor: Actor, project: Project, file: Path, progress: Progress) -> Report:
        return self._bring(actor, project, file, progress, apply=False)

    def apply(self, *, actor: Actor, project: Project, file: Path, progress: Progress) -> Report:
        return self._bring(actor, project, file, progress, apply=True)

    def _bring(
        self, actor: Actor, project: Project, file: Path, progress: Progress, *, apply: bool
    ) -> Report:
        with file.open("rb") as opened:
            plan = bring_snapshot(actor=actor, file=opened, slug=project.slug, apply=apply, progress=progress)
        return report_of(plan)


def report_of(plan: Plan) -> Report:
    """A plan as the page shows it."""
    notes = []
    if plan.renumbered:
        notes.append(f"{plan.renumbered} take new numbers: theirs are taken here.")
    if plan.moved_out:
        notes.append(f"{plan.moved_out} leave their bag or task: the two sides together don't let them stay.")
    if plan.attributions:
        names = ", ".join(plan.attributions[:20]) + ("…" if len(plan.attributions) > 20 else "")
        notes.append(f"Kept as names, without an account: {names}.")
    counts = [
        (plural, ", ".join(f"{many} {outcome}" for outcome, many in counter.items()))
        for plural, counter in plan.rows
    ]
    lines = [(str(line.outcome), f"{line.kind} {line.subject}") for line in plan.lines]
    changes = bool(plan.changes or plan.conflicts)
    return Report(_in_a_line(plan), counts, lines, notes, changes=changes, more=plan.unlisted)


def _in_a_line(plan: Plan) -> str:
    if not plan.changes and not plan.conflicts:
        return "There is nothing new in it."
    verb = "came or changed" if plan.applied else "would come or change"
    met = {0: "no conflicts", 1: "one conflict"}.get(plan.conflicts, f"{plan.conflicts} conflicts")
    return f"{plan.changes} {verb}, with {met}."
