"""What a curator says of memories that are there: refresh a summary, tag, not similar, no contradiction."""

from __future__ import annotations

from collections.abc import Iterable

from memories.errors import LinkRule
from memories.models import Link, Memory
from memories.services.verbs import Result, revise_memory
from memories.services.watching import Written
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.text import collapsed

# A pair marked as not similar is looked at again when one of these changes.
_COMPARED = {"title", "summary", "body"}


def refresh_summary(
    *, actor: Actor, memory: Memory, summary: str, expected_version: int | None, reason: str = ""
) -> Result:
    """Write a summary anew. Raises Invalid where it says what stands there already."""
    if isinstance(summary, str) and collapsed(summary) == collapsed(memory.summary):
        raise Invalid(fields={"summary": "Says what the summary says already. Write what is true now."})
    return revise_memory(
        actor=actor, memory=memory, expected_version=expected_version, reason=reason, summary=summary
    )


def add_tags(
    *,
    actor: Actor,
    memory: Memory,
    tags: Iterable[str],
    expected_version: int | None,
    reason: str = "",
) -> Result:
    """Give a memory tags beside those that it has. Raises Invalid, also for none and for too many."""
    return change_tags(actor=actor, memory=memory, add=tags, expected_version=expected_version, reason=reason)


def change_tags(
    *,
    actor: Actor,
    memory: Memory,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    expected_version: int | None,
    reason: str = "",
) -> Result:
    """Take tags from a memory and give it others. Raises Invalid, also for none and for too many.

    A tag that isn't there is taken by taking nothing.
    """
    more, less = list(add), {tag.strip().lower() for tag in remove}
    if not more and not less:
        raise Invalid(fields={"tags": "Name at least one tag."})
    return revise_memory(
        actor=actor,
        memory=memory,
        expected_version=expected_version,
        reason=reason,
        tags=[*(tag for tag in memory.tag_names if tag not in less), *more],
    )


def mark_not_similar(
    *, actor: Actor, memory: Memory, other: Memory, expected_version: int | None, reason: str = ""
) -> Result:
    """Say that two say different things, until either's title, summary or body changes.

    Raises LinkRule for two that are never compared: one private, the other not.
    """
    if memory.is_private != other.is_private:
        sentence = f"#{memory.number} and #{other.number} aren't compared: only one of them is private."
        raise LinkRule("not_similar_alike", "not_similar", f"{sentence} Nothing needs to be marked.")
    return revise_memory(
        actor=actor,
        memory=memory,
        expected_version=expected_version,
        reason=reason,
        not_similar=[other.number],
    )


def resolve_contradiction(
    *, actor: Actor, memory: Memory, other: Memory, expected_version: int | None, reason: str
) -> Result:
    """End a contradiction, and no other link, with the reason why the two agree. Raises LinkRule."""
    return revise_memory(
        actor=actor, memory=memory, expected_version=expected_version, reason=reason, resolves=[other.number]
    )


def drop_marks(written: Written) -> None:
    """A watcher: what was marked as not similar is compared anew once its text changed."""
    if written.was is None or not _COMPARED & written.changed:
        return
    marks = Link.objects.standing().of(written.memory).filter(type=Link.Type.NOT_SIMILAR)
    marks.update(
        resolved_at=written.writing.at,
        resolved_by=written.writing.actor.user,
        resolved_reason="The text changed.",
    )
