"""Proposals as rows of a list: what each does to what, by whom, and whether what it names moved on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memories.models import ChangeKind, Memory, Review
from memories.wording import change_name
from projects.models import User


@dataclass(frozen=True)
class Row:
    """A proposal without its texts. `memory` is the one it changes or made, where the reader may see it."""

    review: Review
    memory: Memory | None
    says: str
    # What it names moved on since: approving it is a conflict.
    is_stale: bool


def rows_of(reviews: Sequence[Review], reader: User, *, staff: bool = False) -> list[Row]:
    """The rows of proposals that were loaded for the reader, in at most two queries."""
    ids = [review.pk for review in reviews]
    if not ids:
        return []
    found = Review.objects.filter(pk__in=ids).order_by()
    marked = found.with_marks_for_staff() if staff else found.with_marks_for(reader)
    marks = {pk: (readable, restores) for pk, readable, restores in marked.values_list("pk", *_MARKS)}
    versions = _versions_beside(reviews)
    return [_row(review, *marks.get(review.pk, (False, False)), versions) for review in reviews]


_MARKS = ("is_readable", "restores")


def _row(review: Review, readable: bool, restores: bool, versions: dict[tuple[int, int], int]) -> Row:
    says = change_name(review.kind, publishes=review.publishes, restores=bool(restores))
    memory = review.memory if readable else None
    return Row(review, memory, says, review.is_pending and _moved(review, versions))


def _moved(review: Review, versions: dict[tuple[int, int], int]) -> bool:
    changed = review.memory if review.kind != ChangeKind.CREATE else None
    if changed is not None and changed.version != review.based_on:
        return True
    here = review.project_id
    return any(versions.get((here, int(number))) != had for number, had in review.beside.items())


def _versions_beside(reviews: Sequence[Review]) -> dict[tuple[int, int], int]:
    """By project and number, the present versions of what waiting proposals name beside their memory."""
    waiting = [review for review in reviews if review.is_pending and review.beside]
    if not waiting:
        return {}
    numbers = {int(number) for review in waiting for number in review.beside}
    here = {review.project_id for review in waiting}
    rows = Memory.objects.filter(project__in=here).with_numbers(numbers)
    return {
        (project, number): version
        for project, number, version in rows.values_list("project", "number", "version")
    }
