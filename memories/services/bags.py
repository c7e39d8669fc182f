"""Bags: one level, and nothing about what the actor can't see.

What an actor can't see never refuses him and never leaks: children that stand in the way and are
somebody else's private ones move to the top level in the same transaction.
"""

from __future__ import annotations

from memories.errors import BagRule
from memories.models import Memory, Visibility, Weight
from memories.services.writing import Writing, store_change


def children_of(writing: Writing, memory: Memory) -> list[Memory]:
    """All active children, locked, whoever may see them."""
    rows = Memory.objects.inside(memory).select_for_update(of=("self",)).order_by("number")
    children = [writing.hold(row) for row in rows]
    # What this write has taken out of the bag may not be stored yet.
    return [child for child in children if child.parent_id == memory.pk and child.is_active]


def why_no_bag(memory: Memory) -> BagRule | None:
    """Why it can't hold others now, whatever these are; None where it can."""
    here = f"#{memory.number}"
    if not memory.is_active:
        return BagRule(
            "bag_is_active", f"{here} is {memory.status}; only an active memory holds others. Restore it."
        )
    if memory.parent_id is not None:
        return BagRule(
            "bag_has_no_parent", f"{here} is itself inside a bag; bags have one level. Take it out first."
        )
    return None


def check_bag(writing: Writing, memory: Memory, parent: Memory) -> None:
    """Whether `memory`, as it will be, may stand in `parent`. Raises BagRule naming the broken rule."""
    here, there = f"#{memory.number}" if memory.number else "The memory", f"#{parent.number}"
    if parent.pk == memory.pk:
        raise BagRule("bag_in_itself", f"{here} can't be inside itself.")
    if refusal := why_no_bag(parent):
        raise refusal
    if not memory.is_active:
        raise BagRule("child_is_active", f"{here} is {memory.status}; only an active memory stands in a bag.")
    if memory.weight == Weight.CRITICAL:
        raise BagRule(
            "critical_in_no_bag", f"{here} is critical and stays at the top level. Lower its weight first."
        )
    if not Visibility(parent.visibility).at_least(Visibility(memory.visibility)):
        sentence = (
            f"{there} is {parent.visibility}, {here} would be {memory.visibility}. A bag is as visible as its"
        )
        raise BagRule("bag_less_visible", f"{sentence} children: change one of the two.")
    if parent.is_private and parent.author_id != memory.author_id:
        raise BagRule(
            "private_bag_of_one", f"{there} is private and holds its author's private memories alone."
        )
    if memory.pk and any(writing.can_see(child) for child in children_of(writing, memory)):
        raise BagRule(
            "child_has_no_children", f"{here} has children itself; bags have one level. Take them out first."
        )


def release_hidden(writing: Writing, memory: Memory) -> None:
    """Before a memory goes into a bag: the children that the actor can't see move to the top level."""
    for child in children_of(writing, memory):
        if not writing.can_see(child):
            move_out(writing, child)


def release_less_visible(writing: Writing, bag: Memory) -> None:
    """After a bag became less visible: children more visible than it, or somebody else's, move out."""
    limit = Visibility(bag.visibility)
    for child in children_of(writing, bag):
        somebody_elses = bag.is_private and child.author_id != bag.author_id
        if somebody_elses or not limit.at_least(Visibility(child.visibility)):
            _move_out_and_say(writing, child)


def end_bag(
    writing: Writing, bag: Memory, successor: Memory | None = None, *, children_follow: bool = False
) -> None:
    """Whatever ends a bag: its children move to the top level, or under a successor that may hold them."""
    children = children_of(writing, bag)
    for child in children:
        if child == successor:
            # It stood in the bag itself: out of it, it can take the others in.
            _move_out_and_say(writing, child)
    for child in children:
        if child == successor:
            continue
        if successor is not None and children_follow and _fits(writing, child, successor):
            _set_parent(writing, child, successor)
        else:
            _move_out_and_say(writing, child)


def _fits(writing: Writing, child: Memory, successor: Memory) -> bool:
    try:
        check_bag(writing, child, successor)
    except BagRule:
        return False
    return True


def _move_out_and_say(writing: Writing, child: Memory) -> None:
    move_out(writing, child)
    if writing.can_see(child):
        writing.say("moved_to_top_level", f"#{child.number} moved to the top level.", child.number)


def move_out(writing: Writing, child: Memory) -> None:
    """Take a child to the top level, with a revision of its own."""
    _set_parent(writing, child, None)


def _set_parent(writing: Writing, child: Memory, parent: Memory | None) -> None:
    child.parent = parent
    store_change(writing, child, {"parent": parent})
