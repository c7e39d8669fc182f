"""Which memories were chosen on a list: ticked ones, all that a page shows, or all that its filters match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from memories.list_filters import MemoryFilterSet
from memories.listing import listed
from memories.models import Memory
from memories.search import search_memories
from memories.services import SEVERAL_MAX
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.refs import MAX_NUMBER
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

# What a form may say of `all`: what the page shows, or what the filters of its address match.
SHOWN, MATCHING = "shown", "match"
_NUMBER = re.compile(r"[1-9]\d{0,9}", re.ASCII)
_SEEN = re.compile(r"([1-9]\d{0,9}):([1-9]\d{0,9})", re.ASCII)
# Of a field that carries numbers with versions, for as many as may be chosen.
_FIELD_MAX = 24 * SEVERAL_MAX


@dataclass(frozen=True)
class Chosen:
    """The numbers chosen, in the order of the list; `memories` are those that the reader may see."""

    numbers: Sequence[int]
    memories: Sequence[Memory]

    @property
    def unseen(self) -> list[int]:
        """Those that are not there for this reader: whether there is such a memory isn't told."""
        seen = {memory.number for memory in self.memories}
        return [number for number in self.numbers if number not in seen]


def read_chosen(sent: QueryDict, project: Project, reader: User) -> Chosen:
    """What a form chose. Raises Invalid for none, for too many, and for what no page sends."""
    filters = MemoryFilterSet(QueryDict(sent.get("filters", "")), project, reader)
    if "numbers" in sent:
        numbers = read_numbers(_words(sent.get("numbers", "")))
    elif sent.get("all") == MATCHING:
        numbers = _matching(filters)
    else:
        ticked = sent.getlist("item")
        numbers = read_numbers([*ticked, *(sent.getlist("shown") if sent.get("all") == SHOWN else ())])
    if not numbers:
        raise Invalid("Choose at least one memory.")
    if len(numbers) > SEVERAL_MAX:
        raise Invalid(_too_many(len(numbers), "are chosen"))
    rows = Memory.objects.in_project(project).visible_to(reader).with_numbers(numbers)
    found = {memory.number: memory for memory in rows.for_lines().prefetch_related("tags")}
    return Chosen(numbers, [found[number] for number in numbers if number in found])


def read_numbers(texts: Iterable[str]) -> list[int]:
    """Numbers as forms send them, each once. Raises Invalid."""
    numbers = []
    for text in texts:
        if not _NUMBER.fullmatch(text) or int(text) > MAX_NUMBER:
            raise _nonsense()
        numbers.append(int(text))
    return list(dict.fromkeys(numbers))


def read_seen(text: str) -> dict[int, int]:
    """The versions that a page showed, as `12:1 15:4`. Raises Invalid."""
    seen = {}
    for word in _words(text):
        found = _SEEN.fullmatch(word)
        if found is None or max(int(found[1]), int(found[2])) > MAX_NUMBER:
            raise _nonsense()
        seen[int(found[1])] = int(found[2])
    return seen


def _words(text: str) -> list[str]:
    if len(text) > _FIELD_MAX:
        raise _nonsense()
    return text.split()


def _matching(filters: MemoryFilterSet) -> list[int]:
    """All that the list shows over all its pages, as it is now."""
    if not filters.is_valid():
        raise Invalid("The filters of this page can't be read. Load it again.")
    project, reader, query = filters.project, filters.reader, filters.query
    with read_snapshot():
        if query:
            found = search_memories(project, reader, query, filters.search_filter(), limit=SEVERAL_MAX)
            if found.at_least:
                raise Invalid("A search finds its best 200 only. Narrow it, or choose by filters alone.")
            return [memory.number for memory in found.items]
        rows = filters.order.of(listed(project, reader, filters.memory_filter()))
        numbers = list(rows.values_list("number", flat=True)[: SEVERAL_MAX + 1])
        if len(numbers) > SEVERAL_MAX:
            raise Invalid(_too_many(rows.count(), "match"))
    return numbers


def _too_many(many: int, what: str) -> str:
    sentence = f"{many:,} {what}; at most {SEVERAL_MAX:,} are changed at once."
    return f"{sentence} Narrow the filters, and go on with the rest afterwards."


def _nonsense() -> Invalid:
    return Invalid("This page sent something else than numbers. Load the list again, and choose anew.")
