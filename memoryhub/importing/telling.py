"""A plan and its outcome in words: lines for a terminal or a log. Nothing of a refused secret is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memories.models import Kind
from memoryhub.importing.applying import Outcome
from memoryhub.importing.planning import COMPARED_MAX, Fate, Item, Plan
from memoryhub.kernel.text import in_one_line, shortened

# Of a list that may be long, so many lines; `everything` gives all.
SHOWN_MAX = 20


def plan_lines(plan: Plan, *, everything: bool = False) -> Iterator[str]:
    """The dry run: what is there, what would be created, what not and why, what will be named later."""
    most = None if everything else SHOWN_MAX
    entries = _many(len(plan.items), "entry", "entries")
    yield f"{plan.source}: {plan.format}, {entries} in {_many(plan.files, 'file', 'files')}."
    new = plan.of(Fate.NEW)
    yield f"To create: {len(new)}{_by_kind(new)}; {_many(len(plan.links), 'link', 'links')} in all."
    if everything:
        yield from _listed(new, None, lambda item: "")
    for fate, sentence in _SENTENCES.items():
        found = [item for item in plan.of(fate) if not item.differs]
        if found:
            yield f"{sentence}: {len(found)}."
            yield from _listed(found, most, _why)
    others = [item for item in plan.items if item.differs]
    if others:
        yield f"Here already, with other details; left as they are: {len(others)}."
        yield from _listed(others, most, _why)
    close = [item for item in new if item.close]
    if close:
        yield f"Created all the same, but close to what is here: {len(close)}."
        yield from _listed(
            close, most, lambda item: f"close to #{item.close[0]}: {item.close[1]}" if item.close else ""
        )
    if plan.not_compared:
        yield f"Not compared with what is here: {plan.not_compared}; at most {COMPARED_MAX} are."
    oddities = plan.oddities()
    if oddities:
        yield "What was done to them, and to how many:"
        yield from (f"  {many:>6}  {sentence}" for sentence, many in oddities.items())
    if plan.notes:
        yield f"About the files: {len(plan.notes)}."
        yield from (f"  {note}" for note in plan.notes[:most])
        yield from _more(len(plan.notes), most)


_SENTENCES = {
    Fate.KNOWN: "Here already, from an earlier import",
    Fate.SAME: "Here already, word for word",
    Fate.TWICE: "More than once in the source",
    Fate.ERASED: "Erased here",
    Fate.REFUSED: "Refused; the rest goes on without them",
}


def outcome_lines(plan: Plan, outcome: Outcome) -> Iterator[str]:
    """What was done, its last line the whole in short, for a log."""
    for item, sentence in outcome.refused[:SHOWN_MAX]:
        yield f"  {item.candidate.place}: {sentence}"
    yield from _more(len(outcome.refused), SHOWN_MAX)
    refused = len(outcome.refused) + len(plan.of(Fate.REFUSED))
    here = len(plan.items) - len(plan.of(Fate.NEW)) - len(plan.of(Fate.REFUSED))
    created = len(outcome.created)
    numbers = f" (#{min(outcome.created)} to #{max(outcome.created)})" if created else ""
    waiting = f", {len(outcome.waiting)} wait for a reviewer" if outcome.waiting else ""
    yield (
        f"Imported {plan.source}: {created} created{numbers}{waiting}, {outcome.linked} links, "
        f"{here} left as they are, {refused} refused."
    )


def _many(many: int, one: str, more: str) -> str:
    return f"{many} {one if many == 1 else more}"


def _by_kind(items: list[Item]) -> str:
    counted: dict[str, int] = {}
    for item in items:
        kind = item.fitted.fields["kind"]
        counted[kind] = counted.get(kind, 0) + 1
    said = ", ".join(f"{Kind(kind).label}: {counted[kind]}" for kind in Kind.values if kind in counted)
    return f" ({said})" if said else ""


def _why(item: Item) -> str:
    return f"is #{item.number}" if item.number else item.problem


def _listed(items: list[Item], most: int | None, why: Callable[[Item], str]) -> Iterator[str]:
    for item in items[:most]:
        label = f" \u201c{shortened(in_one_line(item.label), 60)}\u201d" if item.label else ""
        said = why(item)
        yield f"  {item.candidate.place}:{label}{' ' + said if said else ''}"
    yield from _more(len(items), most)


def _more(many: int, most: int | None) -> Iterator[str]:
    if most is not None and many > most:
        yield f"  … and {many - most} more."
