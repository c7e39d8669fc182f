"""Imports as kinds of uploads, for the page that takes files: one for each format."""

from __future__ import annotations

from pathlib import Path

from memoryhub.exchange.plan import LISTED_MAX
from memoryhub.exchange.uploads import Progress, Report, UploadKind
from memoryhub.importing.applying import Outcome
from memoryhub.importing.doing import as_session, bring_file
from memoryhub.importing.planning import COMPARED_MAX, Fate, Item, Plan
from memoryhub.importing.readers import FORMATS, Format
from memoryhub.importing.sources import open_source
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import DomainError
from projects.models import Project

NOTES_MAX = 20
# By format, what people call it, what they read about it, and when it is asked: the surest first. A snapshot
# of a hub is gzip as well, so context-keeper's is looked for before.
_KINDS = {
    "context-keeper": (
        "what context-keeper keeps",
        "What context-keeper keeps: a zip of a .context folder, or its snapshot memory.json.gz.",
        5,
    ),
    "nuzo": ("nuzo's export", "nuzo's export as JSON.", 30),
    "memory-server": (
        "what the reference memory server keeps",
        "What the reference memory server keeps: memory.jsonl.",
        31,
    ),
    "adr": ("decision records", "Decision records (Nygard, MADR): a zip of numbered .md files, or one.", 60),
    "instructions": (
        "instructions for agents",
        "CLAUDE.md, AGENTS.md, MEMORY.md: a memory for each heading. Alone, or several in a zip.",
        61,
    ),
    "markdown": (
        "Markdown notes",
        "Markdown notes with front matter and wiki links, such as basic-memory's: a zip, or one .md file.",
        70,
    ),
}
_WORDS = {
    Fate.NEW: "to create",
    Fate.KNOWN: "here from an earlier import",
    Fate.SAME: "here word for word",
    Fate.TWICE: "twice in the file",
    Fate.ERASED: "erased here",
    Fate.REFUSED: "refused",
}


class ImportKind(UploadKind):
    """Files of one format."""

    def __init__(self, format: Format) -> None:
        self.format = format
        label, says, place = _KINDS[format.name]
        self.name, self.label, self.says, self.place = format.name, label, says, place  # type: ignore[misc]

    def recognises(self, file: Path) -> bool:
        try:
            with open_source(file) as source:
                return bool(self.format.recognise(source))
        except (DomainError, OSError):
            return False

    def plan(self, *, actor: Actor, project: Project, file: Path, progress: Progress) -> Report:
        plan, _ = self._bring(actor, project, file, progress, apply=False)
        return report_of(plan)

    def apply(self, *, actor: Actor, project: Project, file: Path, progress: Progress) -> Report:
        actor = as_session(actor, "page")
        plan, outcome = self._bring(actor, project, file, progress, apply=True)
        assert outcome is not None
        return report_of(plan, outcome, actor.context.session)

    def _bring(
        self, actor: Actor, project: Project, file: Path, progress: Progress, *, apply: bool
    ) -> tuple[Plan, Outcome | None]:
        def told(done: int, of: int) -> None:
            progress("Importing" if apply else "Comparing", done, of)

        return bring_file(
            actor=actor, project=project, file=file, format=self.format.name, apply=apply, progress=told
        )


def import_kinds() -> list[ImportKind]:
    """One for each format."""
    return [ImportKind(format) for format in FORMATS.values()]


def report_of(plan: Plan, outcome: Outcome | None = None, session: str = "") -> Report:
    """A plan, or what came of it, as the page shows it."""
    new = plan.of(Fate.NEW)
    told = [fate for fate in Fate if outcome is None or fate is not Fate.NEW]
    others = [item for item in plan.items if item.differs]
    counts = [
        (_WORDS[fate], f"{len(found):,}")
        for fate in told
        if (found := [item for item in plan.of(fate) if not item.differs])
    ]
    counts += [("here with other details", f"{len(others):,}")] if others else []
    counts += [("links among them", f"{len(plan.links):,}")] if plan.links else []
    counts += [(sentence.rstrip("."), f"{many:,}") for sentence, many in plan.oddities().items()]
    notes = [str(note) for note in plan.notes[:NOTES_MAX]]
    if len(plan.notes) > NOTES_MAX:
        notes.append(f"{len(plan.notes) - NOTES_MAX} more notes about files aren't shown.")
    if plan.not_compared:
        notes.append(f"{plan.not_compared:,} were not compared with what is here: {COMPARED_MAX} are.")
    summary = f"{len(new):,} of {len(plan.items):,} entries would be created."
    if outcome is not None:
        waiting = f", {len(outcome.waiting):,} wait for a reviewer" if outcome.waiting else ""
        summary = f"{len(outcome.created):,} created{waiting}, {outcome.linked:,} links."
        counts = [*_done(outcome), *counts]
        if outcome.waiting:
            notes.insert(0, f"What waits is all of the session {session}: its queue decides it as a whole.")
    lines = _lines(plan, outcome)
    more = max(len(lines) - LISTED_MAX, 0)
    return Report(summary, counts, lines[:LISTED_MAX], notes, changes=bool(new), more=more)


def _done(outcome: Outcome) -> list[tuple[str, str]]:
    rows = {
        "created": len(outcome.created),
        "waiting for a reviewer": len(outcome.waiting),
        "refused when it was written": len(outcome.refused),
    }
    return [(what, f"{many:,}") for what, many in rows.items() if many]


def _lines(plan: Plan, outcome: Outcome | None) -> list[tuple[str, str]]:
    """What isn't simply new first, each with where it stands and why."""
    refused = (
        [("refused", f"{item.candidate.place}: {why}") for item, why in outcome.refused] if outcome else []
    )
    close = [
        ("close", f"{_named(item)} is created, and close to #{item.close[0]}: {item.close[1]}")
        for item in plan.items
        if item.fate is Fate.NEW and item.close
    ]
    others = [
        (item.fate.value, f"{_named(item)}: {_why(item)}")
        for item in sorted(plan.items, key=lambda item: item.fate is not Fate.REFUSED)
        if item.fate is not Fate.NEW
    ]
    plain = [("new", _named(item)) for item in plan.items if item.fate is Fate.NEW and not item.close]
    return [*refused, *close, *others, *plain]


def _why(item: Item) -> str:
    is_here = f"is #{item.number}" if item.number else ""
    return ". ".join(part for part in (is_here, item.problem) if part)


def _named(item: Item) -> str:
    place = item.candidate.place
    return f"{item.label} ({place})" if item.label else str(place)
