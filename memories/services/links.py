"""Links: supersedes, related, contradicts. A link that nobody holds any more is resolved, not deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.errors import LinkRule
from memories.models import Link, Memory, Status, Visibility
from memories.services.bags import end_bag
from memories.services.policy import Touch
from memories.services.writing import Writing, store_change

TYPES = {
    "supersedes": Link.Type.SUPERSEDES,
    "related_to": Link.Type.RELATED,
    "contradicts": Link.Type.CONTRADICTS,
    "not_similar": Link.Type.NOT_SIMILAR,
}


def load_targets(writing: Writing, memory: Memory, links: Mapping[str, list[int]]) -> dict[str, list[Memory]]:
    """The memories that a change names, locked. Raises NoSuchMemory, LinkRule."""
    targets: dict[str, list[Memory]] = {}
    for field in TYPES:
        numbers = sorted(set(links.get(field) or []))
        if memory.number and memory.number in numbers:
            raise LinkRule("link_between_two", field, f"#{memory.number} can't be linked to itself.")
        targets[field] = [writing.load(number) for number in numbers]
    if targets["supersedes"]:
        check_active(memory, "supersedes")
    for older in targets["supersedes"]:
        check_successor(memory, older, "supersedes")
    return targets


def check_active(successor: Memory, field: str) -> None:
    """Only a memory in use replaces another. Raises LinkRule."""
    if not successor.is_active:
        sentence = f"#{successor.number} is {successor.status}; only an active memory replaces another."
        raise LinkRule("successor_is_active", field, f"{sentence} Restore it, or name another.")


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


def new_links(memory: Memory, targets: Mapping[str, list[Memory]]) -> dict[str, list[Memory]]:
    """By field, those that don't stand yet; what relates or contradicts stands whichever end named it.

    One that is superseded and was restored is superseded anew.
    """
    there: set[tuple[int, str]] = set()
    if memory.pk:
        for row in Link.objects.standing().of(memory):
            if row.source_id == memory.pk:
                there.add((row.target_id, row.type))
            elif row.type != Link.Type.SUPERSEDES:
                there.add((row.source_id, row.type))
    new: dict[str, list[Memory]] = {}
    for field, others in targets.items():
        for other in others:
            if (other.pk, TYPES[field]) not in there or (field == "supersedes" and other.is_active):
                new.setdefault(field, []).append(other)
    return new


def is_told(memory: Memory, other: Memory) -> bool:
    """Whether everybody who may read `memory` may read `other`: only then does its history name it."""
    if other.is_private and other.author_id != memory.author_id:
        return False
    return Visibility(other.visibility).at_least(Visibility(memory.visibility))


def told(memory: Memory, links: Mapping[str, list[Memory]]) -> dict[str, list[int]]:
    """By field, the numbers that the revision of `memory` may hold."""
    numbers = {
        field: [other.number for other in others if is_told(memory, other)] for field, others in links.items()
    }
    return {field: named for field, named in numbers.items() if named}


def add_links(writing: Writing, memory: Memory, new: Mapping[str, list[Memory]]) -> None:
    """Create links.

    One to a memory that not everybody sees who sees this one is kept from the other side and stands in
    the other's history, so that neither a version nor a time here tells that there is something.
    """
    for field, others in new.items():
        for other in others:
            if field == "supersedes":
                link(writing, memory, other, TYPES[field])
                set_superseded(writing, other, memory)
            elif is_told(memory, other):
                link(writing, memory, other, TYPES[field])
            else:
                link(writing, other, memory, TYPES[field])
                store_change(writing, other, {}, **{field: [memory.number]})


def link(writing: Writing, source: Memory, target: Memory, type: str, reason: str = "") -> None:
    """One link, if it isn't there yet; one that is set anew takes the new reason."""
    reason = reason or writing.reason
    row, created = Link.objects.get_or_create(
        source=source,
        target=target,
        type=type,
        resolved_at=None,
        defaults={"reason": reason, "created_by": writing.actor.user, "created_at": writing.at},
    )
    if created:
        _touch(writing, source, target)
    elif reason and row.reason != reason:
        row.reason = reason
        row.save(update_fields=["reason"])
        _touch(writing, source, target)


def _touch(writing: Writing, source: Memory, target: Memory) -> None:
    """A link is read by whoever reads both ends."""
    seen = min((source.visibility, target.visibility), key=lambda one: Visibility(one).rank)
    writing.touched.append(Touch(seen, seen))


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
    end_bag(writing, older, successor, children_follow=children_follow)


def leave_bag(memory: Memory) -> dict[str, Any]:
    """Take a memory that stops being active out of its bag; `left_bag` remembers which it was."""
    if memory.parent is None:
        return {}
    left = memory.parent.number
    memory.parent = None
    return {"parent": None, "left_bag": left}


def note_bag(changed: Mapping[str, Any]) -> dict[str, Any]:
    return {"left_bag": changed["left_bag"]} if "left_bag" in changed else {}


def check_unlink(
    writing: Writing, memory: Memory, numbers: list[int], field: str = "unlink", type: str | None = None
) -> list[Link]:
    """The standing links between the memory and these numbers, either way, or those of one type alone.

    Raises LinkRule.
    """
    found: list[Link] = []
    for number in sorted(set(numbers)):
        other = writing.load(number)
        between = [
            row
            for row in Link.objects.standing().of(memory).select_related("source", "target")
            if other.pk in (row.source_id, row.target_id) and type in (None, row.type)
        ]
        if not between:
            sentence = f"#{memory.number} and #{number} have no {'such ' if type else ''}link."
            raise LinkRule("no_such_link", field, f"{sentence} Read the memory for the links it has.")
        found += between
    return found


def other_ends(writing: Writing, memory: Memory, rows: list[Link]) -> dict[str, list[Memory]]:
    """The other ends of links that end, under the field that ends them, each once."""
    ends = [row.target if row.source_id == memory.pk else row.source for row in rows]
    found = {end.number: writing.hold(end) for end in ends}
    return {"unlink": [found[number] for number in sorted(found)]} if found else {}


def resolve(writing: Writing, memory: Memory, rows: list[Link]) -> None:
    """End links with the reason of this write; the rows stay."""
    for other in other_ends(writing, memory, rows).get("unlink", []):
        if not is_told(memory, other):
            store_change(writing, other, {}, unlink=[memory.number])
    for row in rows:
        row.resolved_at, row.resolved_by = writing.at, writing.actor.user
        row.resolved_reason = writing.reason
        row.save(update_fields=["resolved_at", "resolved_by", "resolved_reason"])
        _touch(writing, row.source, row.target)
