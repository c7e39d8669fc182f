"""What recall asks of the store: the same few statements for every recall, compiled once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import Left, RowNumber

from memories.models import Memory, Tag, Weight
from memories.querysets import MemoryQuerySet
from memories.recall.lines import NAMED_CHILDREN
from memories.recall.packing import Counts
from memoryhub.kernel.compiled import Compiled, padded
from projects.models import Project, User

# Of the rest of the top level, the first so many in order are packed; the others are counted.
CANDIDATES = 1000


class Row(NamedTuple):
    """What a line needs of a memory; never its body."""

    id: int
    number: int
    kind: str
    visibility: str
    title: str
    summary: str


def seen_by(project: int, reader: int) -> MemoryQuerySet:
    """The active memories of a project that a reader may see."""
    return Memory.objects.in_project(Project(pk=project)).active().visible_to(User(pk=reader))


def as_rows(memories: MemoryQuerySet, *first: str) -> QuerySet[Any, Any]:
    """What `Row` holds, in its order, after the fields named `first`."""
    shown = Left("summary", Memory.SUMMARY_MAX_LENGTH + 1)
    return memories.values_list(*first, "id", "number", "kind", "visibility", "title", shown)


def counts_of(project: Project, reader: User) -> tuple[Counts, set[int]]:
    """How many there are of each sort, and the bags that something is in."""
    inside, tops, bags = 0, Counter[str](), set[int]()
    for weight, parent, many in _counts.rows(project=project.pk, reader=reader.pk):
        if parent is None:
            tops[weight] += many
        else:
            inside += many
            bags.add(parent)
    counts = Counts(inside, tops[Weight.LOW], tops[Weight.CRITICAL], tops[Weight.NORMAL])
    return counts, bags


def critical_rows(project: Project, reader: User, most: int) -> list[Row]:
    """The critical ones, in order."""
    rows = _critical(1 << (most - 1).bit_length()).rows(project=project.pk, reader=reader.pk)
    return [Row(*values) for values in rows[:most]]


def other_rows(project: Project, reader: User) -> list[Row]:
    """The rest of the top level, in order; as many as are packed."""
    return [Row(*values) for values in _others.rows(project=project.pk, reader=reader.pk)]


def children_of(reader: User, bags: Sequence[int]) -> Iterable[tuple[int, int, str]]:
    """Of each bag's children that the reader may see the first: the bag, how many it has, and a title."""
    return _children.rows(reader=reader.pk, **padded(bags, to=_STEP)) if bags else ()


def tags_of(memories: Sequence[int]) -> Iterable[tuple[int, str]]:
    """The tags, each with its memory."""
    return _tags.rows(**padded(memories, to=_STEP)) if memories else ()


def tags_of_others(project: Project, reader: User) -> Iterable[tuple[int, str]]:
    """The same of all that `other_rows` gives, without a thousand numbers in the statement."""
    return _others_tags.rows(project=project.pk, reader=reader.pk)


_STEP = 50


def _by_place(project: int, reader: int) -> QuerySet[Any, Any]:
    # In the order of an index: nothing is sorted for it. No critical one is in a bag.
    counted = seen_by(project, reader).order_by().values("weight", "parent")
    return counted.annotate(many=Count("*")).values_list("weight", "parent", "many")


def _top_level(project: int, reader: int) -> MemoryQuerySet:
    # By the parent, which none has: without, PostgreSQL doesn't see that the index has this order.
    return (
        seen_by(project, reader).top_level().of_normal_weight().order_by("parent_id", "-touched_at", "number")
    )


@cache
def _critical(most: int) -> Compiled[Any]:
    return Compiled(
        lambda project, reader: _first(seen_by(project, reader).critical().newest_touched_first(), most)
    )


def _first(memories: MemoryQuerySet, most: int) -> QuerySet[Any, Any]:
    """The first of them in their order: which they are stands in an index, so that no other rows are read."""
    first = Memory.objects.filter(pk__in=memories.values("pk")[:most])
    return as_rows(first.order_by(*memories.query.order_by))


def _first_children(reader: int, **bags: int) -> QuerySet[Any, Any]:
    # What a bag holds is of its project; saying so would offer an index on all of the project's memories.
    inside = Memory.objects.active().visible_to(User(pk=reader)).filter(parent__in=list(bags.values()))
    return (
        inside.annotate(
            many=Window(Count("*"), partition_by="parent"),
            place=Window(RowNumber(), partition_by="parent", order_by=(F("touched_at").desc(), "number")),
        )
        .filter(place__lte=NAMED_CHILDREN)
        .order_by("parent", "place")
        .values_list("parent", "many", "title")
    )


def _tagged(memories: Any) -> QuerySet[Any, Any]:
    return Tag.objects.filter(memory__in=memories).order_by().values_list("memory", "name")


_counts = Compiled(_by_place)
_others = Compiled(lambda project, reader: _first(_top_level(project, reader), CANDIDATES))
_children = Compiled(_first_children)
_tags = Compiled(lambda **ids: _tagged(list(ids.values())))
_others_tags = Compiled(
    lambda project, reader: _tagged(_top_level(project, reader).values("pk")[:CANDIDATES])
)
