"""Why a proposal can't be applied as it was shown, said to somebody who may not see all that it touches."""

from __future__ import annotations

import re
from typing import Any

from memories.errors import ProposalStale, Unapplicable
from memories.models import Memory, Review, Revision
from memories.services.reviews.data import value_of
from memories.services.reviews.standing import moved_in
from memories.services.writing import Writing
from memoryhub.kernel.actor import Door
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.text import shortened

_NUMBER = re.compile(r"#(\d+)")
# Of each value in a conflict: both sides are told from one another, not read whole.
_SHOWN = 1000


def check_versions(review: Review, seen: Writing) -> None:
    """Raises ProposalStale when what the proposal names moved on, with both sides as far as `seen` goes."""
    moved = moved_in(review)
    if not moved:
        return
    memory = review.memory
    if memory is not None and moved[0] == memory.number:
        raise _stale(review, memory, seen)
    shown = seen.seen().with_numbers(moved).order_by("number").first()
    if shown is None:
        raise ProposalStale(review.ref, "Something that it names and you can't see changed")
    raise ProposalStale(
        review.ref,
        f"#{shown.number} changed",
        number=shown.number,
        current_version=shown.version,
        based_on=review.beside[str(shown.number)],
    )


def _stale(review: Review, memory: Memory, seen: Writing) -> ProposalStale:
    if not seen.can_see(memory):
        return ProposalStale(review.ref, "The memory that it would publish changed")
    proposed = review.fields
    return ProposalStale(
        review.ref,
        f"#{memory.number} changed",
        number=memory.number,
        current_version=memory.version,
        based_on=review.based_on,
        changed=_changed_since(review, memory, seen),
        current={name: _short(value_of(memory, name)) for name in proposed},
        proposed={name: _short(value) for name, value in proposed.items()},
    )


def _changed_since(review: Review, memory: Memory, seen: Writing) -> list[str]:
    revisions = Revision.objects.filter(memory=memory, version__gt=review.based_on)
    if seen.actor.door is Door.ADMIN:
        revisions = revisions.visible_to_staff()
    elif seen.actor.user is not None:
        revisions = revisions.visible_to(seen.actor.user)
    return sorted({name for fields in revisions.values_list("fields", flat=True) for name in fields})


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return shortened(value, _SHOWN)
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value


def names_hidden(text: str, seen: Writing) -> bool:
    """Whether a sentence names a memory that the reader may not see."""
    numbers = {int(number) for number in _NUMBER.findall(text)}
    return bool(numbers) and seen.seen().with_numbers(numbers).count() < len(numbers)


def told(refusal: DomainError, review: Review, seen: Writing) -> DomainError:
    """The refusal itself, or one that names nothing where it speaks of what the reader may not see."""
    if names_hidden(str(refusal.as_dict()), seen):
        return Unapplicable(review.ref)
    return refusal
