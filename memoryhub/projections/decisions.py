"""`DECISIONS.md`: what was decided and why, in force or not, each with what replaced it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memories.models import Kind, Memory, Status, Visibility, Weight
from memories.wording import detail_name
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.projections.given import escaped, paragraph, quotation
from memoryhub.projections.reading import memories_of, successions
from projects.models import Project, User

NAME = "DECISIONS.md"
_DETAILS = ("problem", "why_chosen", "alternatives", "what_we_tried", "tradeoffs")


@dataclass
class _Around:
    """What replaced a decision, and what it replaced, each as `#12 Title`."""

    by: list[str] = field(default_factory=list)
    instead_of: list[str] = field(default_factory=list)


def marker(project: Project) -> str:
    """The first line of a file of ours, by which it is known."""
    return f"<!-- memoryhub:decisions {project.slug} -->"


def render_decisions(project: Project, reader: User | None = None) -> str:
    """The file: what every member reads of the decisions, with a reader also that one's private ones.

    The same bytes as long as nothing in it changes: no moment of writing stands in it.
    """
    with read_snapshot():
        rows = memories_of(project, reader).filter(kind=Kind.DECISION).prefetch_related("tags")
        decisions = list(rows.defer("retrieval_hints"))
        around = _arounds(project, reader)
    standing = [one for one in decisions if one.is_active]
    over = [one for one in decisions if not one.is_active]
    parts = [
        marker(project),
        f"# Decisions of {escaped(project.name)}",
        "Written by MemoryHub, which writes it anew: change a decision there, not here. Quotations are what "
        f"people and agents stored. In force: {len(standing)}. No longer: {len(over)}.",
        *_section("In force", standing, around),
        *_section("No longer in force", over, around),
    ]
    return "\n\n".join(parts) + "\n"


def _arounds(project: Project, reader: User | None) -> dict[int, _Around]:
    found: dict[int, _Around] = {}
    for link in successions(project, reader):
        why = f": {escaped(link.reason)}" if link.reason else ""
        found.setdefault(link.target_id, _Around()).by.append(f"{_named(link.source)}{why}")
        found.setdefault(link.source_id, _Around()).instead_of.append(_named(link.target))
    return found


def _named(memory: Memory) -> str:
    return f"#{memory.number} {escaped(memory.title)}"


def _section(name: str, decisions: Sequence[Memory], around: dict[int, _Around]) -> Iterator[str]:
    if decisions:
        yield f"## {name}"
    for decision in decisions:
        yield from _decision(decision, around.get(decision.pk, _Around()))


def _decision(memory: Memory, around: _Around) -> Iterator[str]:
    yield f"### #{memory.number}: {escaped(memory.title)}"
    if ended := _ended(memory, around.by):
        yield f"**{ended[0]}** {ended[1]}".rstrip()
    if around.instead_of:
        yield f"Replaces {'; '.join(around.instead_of)}"
    if memory.summary.strip():
        yield paragraph(memory.summary)
    yield _facts(memory)
    texts = [(detail_name(name), memory.details.get(name)) for name in _DETAILS]
    for name, text in [*texts, ("More", memory.body)]:
        if isinstance(text, str) and text.strip():
            yield f"**{name}**"
            yield quotation(text)


def _ended(memory: Memory, by: Sequence[str]) -> tuple[str, str] | None:
    """How a decision ended, and by what or why; None for one in force."""
    if memory.is_active:
        return None
    if by:
        return "Superseded by", "; ".join(by)
    if memory.status == Status.SUPERSEDED:
        return "Superseded.", ""
    when = f" on {memory.archived_at:%Y-%m-%d}" if memory.archived_at else ""
    return f"Archived{when}.", escaped(memory.archive_reason)


def _facts(memory: Memory) -> str:
    said: Iterable[str] = (
        f"Decided on {memory.created_at:%Y-%m-%d}",
        f"tags {', '.join(memory.tag_names)}" if memory.tag_names else "",
        "" if memory.weight == Weight.NORMAL else f"weight {memory.weight}",
        "private" if memory.visibility == Visibility.PRIVATE else "",
    )
    return f"_{' · '.join(part for part in said if part)}_"
