"""When what a bag holds changed, kept as children come, go, and change in title or summary.

A bag doesn't move by it (no version, no time of its own), so there is a row beside it. Who sees the bag
must see the child for it to count: a private child counts for a private bag alone.

Whoever makes a bag for certain memories writes its summary for them: their coming makes it no staler.
"""

from __future__ import annotations

import datetime as dt

from django.db import models

from hygiene.models import BagContents
from hygiene.services.operator import is_upkeep
from memories.models import Memory, Status, Visibility
from memories.services import Written
from memories.services.filling import is_being_filled

_SAID = {"title", "summary"}
_PLACE = {"parent", "visibility", "status"}


def note_contents(written: Written) -> None:
    """The bag that a child came into, and the one that it left or speaks in."""
    memory, was = written.memory, written.was
    if was is None:
        if memory.parent_id is not None:
            _note(written, memory.parent_id, {memory.visibility}, came=True)
        return
    if _PLACE & written.changed:
        came = memory.parent_id != was.parent_id
        if was.parent_id is not None and came:
            _note(written, was.parent_id, {was.visibility})
        if memory.parent_id is not None and (came or memory.visibility != was.visibility):
            _note(written, memory.parent_id, {was.visibility, memory.visibility}, came=came)
            return
    if memory.parent_id is not None and _SAID & written.changed:
        _note(written, memory.parent_id, {memory.visibility})


def _note(written: Written, bag_id: int, seen_as: set[str], *, came: bool = False) -> None:
    bag = Memory.objects.filter(pk=bag_id).select_related("contents").defer("body", "details").get()
    if Visibility.PRIVATE in seen_as and len(seen_as) == 1 and not bag.is_private:
        return
    at, before = written.writing.at, getattr(bag, "contents", None)
    if is_upkeep(written.writing.actor):
        # What only the upkeep does makes no bag stale; a row says that it was the upkeep's from the start.
        if before is None:
            BagContents.objects.create(bag=bag, changed_at=bag.summary_changed_at, is_by_hand=False)
        return
    if came and is_being_filled(bag_id):
        at = bag.summary_changed_at
    by_hand = came or (before.is_by_hand if before else True)
    was_stale = before is not None and before.is_by_hand and before.changed_at > bag.summary_changed_at
    _store(bag, max(at, before.changed_at if before else at), by_hand)
    if by_hand and not was_stale and at > bag.summary_changed_at:
        _hint(written, bag)


def _store(bag: Memory, at: dt.datetime, by_hand: bool) -> None:
    BagContents.objects.bulk_create(
        [BagContents(bag=bag, changed_at=at, is_by_hand=by_hand)],
        update_conflicts=True,
        unique_fields=["bag"],
        update_fields=["changed_at", "is_by_hand"],
    )


def _hint(written: Written, bag: Memory) -> None:
    """Say that the bag just became stale, to whom sees it, where it still is one."""
    writing = written.writing
    if bag.status != Status.ACTIVE or not writing.can_see(bag):
        return
    shown = models.Q() if bag.is_private else ~models.Q(visibility=Visibility.PRIVATE)
    if not Memory.objects.inside(bag).filter(shown).exists():
        return
    sentence = f"#{bag.number} now holds other things than its summary says. Write its summary anew."
    writing.say("stale_bag", sentence, bag.number)
