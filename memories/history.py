"""What happened to a memory: its revisions as a reader may see them.

Two things must never come through. Numbers of memories that the reader can't see stand inside
revisions (a bag, a successor, links): they are left out, as if the change hadn't named them. And a value
from a revision that the reader may not see is never the "before" of one that he may: where hidden
revisions lie between, there is no before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q

from memories.differences import Part, list_difference, word_difference
from memories.models import Memory, Review, Revision
from memories.querysets import RevisionQuerySet
from memories.wording import FIELD_NAMES, LINK_SENTENCES, choice_name, detail_name, steps_as_text
from projects.models import User

PAGE = 10
_TEXTS = ("title", "summary", "body")
_LISTS = ("tags", "retrieval_hints", "scope_paths")
_CHOICES = ("kind", "weight", "visibility", "status", "hardness")
# In a revision but told by another entry of it, or by the page.
_UNTOLD = {"erased"}


@dataclass(frozen=True)
class Change:
    """One field of a revision: words that differ, items that differ, or a sentence with numbers in it."""

    name: str
    parts: list[Part] = field(default_factory=list)
    items: list[Part] = field(default_factory=list)
    before: str = ""
    after: str = ""
    memories: list[Memory] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """A visible revision with what the reader may know of it."""

    revision: Revision
    changes: list[Change]
    # The proposal that it carried out, where the reader may see that.
    review: Review | None = None
    # The version before it, as far as the reader may know.
    previous: int | None = None

    @property
    def is_first(self) -> bool:
        return self.revision.version == 1

    @property
    def source(self) -> list[tuple[str, str]]:
        """Where it came from, beside who: session, client, model, branch, commit."""
        names = ("session", "client", "model", "branch", "commit")
        return [(name, getattr(self.revision, name)) for name in names if getattr(self.revision, name)]


@dataclass(frozen=True)
class History:
    """A page of revisions, newest first; `older`: the version to go on before, `first`: the oldest of all."""

    entries: list[Entry]
    older: int | None
    first: Revision | None


def history_of(memory: Memory, reader: User, *, before: int | None = None) -> History:
    """A page of the revisions that `reader` may see, in a fixed number of queries."""
    seen = Revision.objects.visible_to(reader).of(memory)
    page = list((seen.before(before) if before else seen)[: PAGE + 1])
    revisions = page[:PAGE]
    past = _Past(seen, revisions)
    known = known_in(memory, reader, revisions)
    shown = reviews_behind(reader, revisions)
    entries = [
        Entry(
            revision,
            _changes(revision, past, known),
            shown.get(revision.review_id or 0),
            past.version_before(revision.version),
        )
        for revision in revisions
    ]
    return History(entries, revisions[-1].version if len(page) > PAGE else None, past.first())


def reviews_behind(reader: User, revisions: Iterable[Revision]) -> Mapping[int, Review]:
    """By id, the proposals behind the revisions that the reader may see."""
    ids = {revision.review_id for revision in revisions if revision.review_id}
    if not ids:
        return {}
    return {review.pk: review for review in Review.objects.visible_to(reader).with_ids(ids).refs_only()}


class _Past:
    """The values that fields had before a revision, where the reader saw them come about."""

    def __init__(self, seen: RevisionQuerySet, revisions: list[Revision]) -> None:
        self._by_version = {revision.version: revision for revision in revisions}
        changed = {name for revision in revisions for name in revision.fields}
        names = [name for name in _COMPARED if name in changed]
        sets = {f"sets_{name}": ExpressionWrapper(Q(fields__has_key=name), BooleanField()) for name in names}
        rows = sorted(seen.order_by().annotate(**sets).values_list("version", *sets))
        self._versions = [version for version, *_ in rows]
        self._fetch(seen, rows, revisions)

    def _fetch(self, seen: RevisionQuerySet, rows: list[tuple[Any, ...]], revisions: list[Revision]) -> None:
        """The first, and the older ones that last set what this page's changed: a query, or none."""
        oldest = revisions[-1].version if revisions else 0
        last = {place: version for version, *sets in rows if version < oldest for place in _true(sets)}
        missing = ({*last.values()} | set(self._versions[:1])) - set(self._by_version)
        for revision in seen.of_versions(missing) if missing else ():
            self._by_version[revision.version] = revision

    def first(self) -> Revision | None:
        """The oldest that the reader may see."""
        return self._by_version[self._versions[0]] if self._versions else None

    def version_before(self, version: int) -> int | None:
        """The newest that the reader saw before that one."""
        at = bisect_left(self._versions, version)
        return self._versions[at - 1] if at else None

    def before(self, revision: Revision, name: str) -> Any:
        """The value of a field before a revision; None where the reader can't know it."""
        setters = [v for v, one in self._by_version.items() if v < revision.version and name in one.fields]
        if not setters:
            # Whoever saw every version knows that a field nobody had set was empty.
            whole = self._versions[: revision.version] == list(range(1, revision.version + 1))
            return _EMPTY.get(name) if whole else None
        setter = max(setters)
        between = [version for version in self._versions if setter <= version <= revision.version]
        # A hidden revision in between may have set it, too: then nothing is known.
        if len(between) != revision.version - setter + 1:
            return None
        return self._by_version[setter].fields[name]


def _true(values: Iterable[bool]) -> list[int]:
    return [place for place, value in enumerate(values) if value]


_EMPTY: dict[str, Any] = {
    "summary": "",
    "body": "",
    "details": {},
    "status": "active",
    **{name: [] for name in _LISTS},
}
_COMPARED = (*_TEXTS, *_LISTS, *_CHOICES, "details")
# In the order in which two versions are read side by side.
_SHOWN = (
    "title",
    "summary",
    "kind",
    "body",
    "details",
    *_LISTS,
    "hardness",
    "weight",
    "visibility",
    "status",
)


def numbers_in(value: Any) -> list[int]:
    """The numbers in a link field of a revision: one, several, or 0 for none."""
    return [
        number
        for number in (value if isinstance(value, list) else [value])
        if isinstance(number, int) and number
    ]


def known_in(memory: Memory, reader: User, revisions: Iterable[Revision]) -> Mapping[int, Memory]:
    """Of the memories that the revisions name, those that the reader may see, in one query."""
    named = {
        number
        for revision in revisions
        for name in LINK_SENTENCES
        if name in revision.fields
        for number in numbers_in(revision.fields[name])
    }
    if not named:
        return {}
    found = Memory.objects.in_project(memory.project).visible_to(reader).with_numbers(named)
    return {other.number: other for other in found.titles_only()}


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """What differs between two versions in the fields that are known of both; nothing of it is cut."""
    return [
        change
        for name in _SHOWN
        if name in before and name in after and before[name] != after[name]
        for change in _value_change(name, after[name], before[name], whole=True)
    ]


def _changes(revision: Revision, past: _Past, known: Mapping[int, Memory]) -> list[Change]:
    told: list[Change] = []
    for name, value in revision.fields.items():
        if name in LINK_SENTENCES:
            told += _link_change(name, value, known)
        elif revision.version > 1 and name not in _UNTOLD:
            told += _value_change(name, value, past.before(revision, name))
    return told


def _link_change(name: str, value: Any, known: Mapping[int, Memory]) -> list[Change]:
    if name == "parent" and not value:
        return [Change("moved to the top level")]
    memories = [known[number] for number in numbers_in(value) if number in known]
    return [Change(LINK_SENTENCES[name], memories=memories)] if memories else []


def _value_change(name: str, value: Any, before: Any, *, whole: bool = False) -> list[Change]:
    said = FIELD_NAMES.get(name, name)
    if name in _TEXTS:
        return [_text_change(said, value, before, whole=whole)]
    if name in _LISTS:
        return [Change(said, items=list_difference(before if isinstance(before, list) else value, value))]
    if name in _CHOICES:
        was = choice_name(name, before) if before else ""
        return [Change(said, before=was, after=choice_name(name, value) or "none")]
    if name == "details" and isinstance(value, dict):
        return _detail_changes(value, before, whole=whole)
    return [Change(said)]


def _text_change(said: str, value: Any, before: Any, *, whole: bool = False) -> Change:
    had = before if isinstance(before, str) else str(value)
    return Change(said, parts=word_difference(had, str(value), whole=whole))


def _detail_changes(value: dict[str, Any], before: Any, *, whole: bool = False) -> list[Change]:
    """The fields of a kind, each by itself; steps as the lines that they are read as."""
    had = before if isinstance(before, dict) else None
    names = dict.fromkeys([*(had or ()), *value])
    changes = []
    for name in names:
        now, was = _detail_text(value.get(name)), _detail_text(had.get(name)) if had is not None else None
        if now != was:
            changes.append(_text_change(detail_name(name), now, was, whole=whole))
    return changes


def _detail_text(value: Any) -> str:
    return steps_as_text(value) if isinstance(value, list) else str(value or "")
