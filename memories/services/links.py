"""Links: supersedes, related, contradicts. A link that nobody holds any more is resolved, not deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.errors import LinkRule
from memories.models import Link, Memory, Status, Visibility
from memories.services.bags import end_bag
from memories.services.writing import Writing, store_change

TYPES = {
    "supersedes": Link.Type.SUPERSEDES,
    "related_to": Link.Type.RELATED,
    "contradicts": Link.Type.CONTRADICTS,
}


def load_targets(writing: Writing, memory: Memory, links: Mapping[str, list[int]]) -> dict[str, list[Memory]]:
    """The memories that a change names, locked. Raises NoSuchMemory, LinkRule."""
    targets: dict[str, list[Memory]] = {}
    for field in TYPES:
        numbers = sorted(set(links.get(field) or []))
        if memory.number and memory.number in numbers:
            raise LinkRule("link_between_two", field, f"#{memory.number} can't be linked to itself.")
        targets[field] = [writing.load(number) for number in numbers]
    for older in targets["supersedes"]:
        check_successor(memory, older, "supersedes")
    return targets


def check_successor(successor: Memory, older: Memory, field: str) -> None:
    """Whether `successor` may replace `older`. Raises LinkRule."""
    if successor.pk == older.pk:
        raise LinkRule("link_between_two", field, f"#{older.number} can't replace itself.")
    if not Visibility(successor.visibility).at_least(Visibility(older.visibility)):
        name = f"#{successor.number}" if successor.number else "The new memory"
        sentence = f"{name} is {successor.visibility}, #{older.number} is {older.visibility}."
        raise LinkRule(
            "successor_less_visible", field, f"{sentence} What replaces a memory is at least as visible."
        )
    if successor.pk and _supersedes(older, successor):
        sentence = f"#{older.number} supersedes #{successor.number} already, directly or through others."
        raise LinkRule("supersedes_in_a_circle", field, f"{sentence} Remove that link first.")


def _supersedes(start: Memory, goal: Memory) -> bool:
    """Whether a chain of standing supersedes links leads from one to the other."""
    seen, level = {start.pk}, {start.pk}
    while level:
        found = Link.objects.standing().filter(type=Link.Type.SUPERSEDES, source__in=level)
        level = set(found.values_list("target", flat=True)) - seen
        if goal.pk in level:
            return True
        seen |= level
    return False


def add_links(writing: Writing, memory: Memory, targets: Mapping[str, list[Memory]]) -> dict[str, list[int]]:
    """Create the links that aren't there yet; returns, by field, the numbers that are new."""
    added: dict[str, list[int]] = {}
    for field, others in targets.items():
        for other in others:
            if _create(writing, memory, other, TYPES[field], writing.reason):
                added.setdefault(field, []).append(other.number)
            if field == "supersedes":
                set_superseded(writing, other, memory)
    return added


def new_links(memory: Memory, targets: Mapping[str, list[Memory]]) -> bool:
    """Whether any of these links isn't standing yet."""
    standing = set(Link.objects.standing().filter(source=memory).values_list("target", "type"))
    return any(
        (other.pk, TYPES[field]) not in standing for field, others in targets.items() for other in others
    )


def _create(writing: Writing, source: Memory, target: Memory, type: str, reason: str) -> bool:
    _, created = Link.objects.get_or_create(
        source=source,
        target=target,
        type=type,
        resolved_at=None,
        defaults={"reason": reason, "created_by": writing.actor.user, "created_at": writing.at},
    )
    return created


def link(writing: Writing, source: Memory, target: Memory, type: str) -> None:
    """One link, if it isn't there yet."""
    _create(writing, source, target, type, writing.reason)


def set_superseded(
    writing: Writing, older: Memory, successor: Memory, *, children_follow: bool = False
) -> None:
    """The older one leaves recall and its bag; its own children move out or under the successor."""
    if older.status != Status.ACTIVE:
        return
    changed: dict[str, Any] = {"status": Status.SUPERSEDED.value, **leave_bag(older)}
    older.status = Status.SUPERSEDED
    note = {"superseded_by": successor.number, **note_bag(changed)}
    changed.pop("left_bag", None)
    store_change(writing, older, changed, **note)
    end_bag(writing, older, successor if children_follow else None)


def leave_bag(memory: Memory) -> dict[str, Any]:
    """Take a memory that stops being active out of its bag; `left_bag` remembers which it was."""
    if memory.parent is None:
        return {}
    left = memory.parent.number
    memory.parent = None
    return {"parent": None, "left_bag": left}


def note_bag(changed: Mapping[str, Any]) -> dict[str, Any]:
    return {"left_bag": changed["left_bag"]} if "left_bag" in changed else {}


def check_unlink(writing: Writing, memory: Memory, numbers: list[int]) -> list[Link]:
    """The standing links between the memory and these numbers, either way. Raises LinkRule."""
    found: list[Link] = []
    for number in sorted(set(numbers)):
        other = writing.load(number)
        between = [
            row
            for row in Link.objects.standing().of(memory).select_related("source", "target")
            if other.pk in (row.source_id, row.target_id)
        ]
        if not between:
            sentence = f"#{memory.number} and #{number} have no link."
            raise LinkRule("no_such_link", "unlink", f"{sentence} Read the memory for the links it has.")
        found += between
    return found


def resolve(writing: Writing, rows: list[Link]) -> None:
    """End links with the reason of this write; the rows stay."""
    for row in rows:
        row.resolved_at, row.resolved_by = writing.at, writing.actor.user
        row.resolved_reason = writing.reason
        row.save(update_fields=["resolved_at", "resolved_by", "resolved_reason"])
