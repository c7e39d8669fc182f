"""The filters of the list of memories: each fills a word of `MemoryFilter`, by which every list is read."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.urls import reverse

from memories.filters import TaggedFilterSet, tags_filter
from memories.listing import ANY, MemoryFilter
from memories.models import Kind, Memory, Origin, Place, Status, Visibility, Weight
from memories.ordering import NEWEST, ORDERS, Order
from memories.parts import finding_choices
from memories.querysets import MemoryQuerySet
from memories.scopes import covering_paths
from memories.search import QUERY_MAX_LENGTH, SearchFilter
from memories.search.types import MEMORY
from memoryhub.kernel.arguments import Number, read_moment
from memoryhub.kernel.filters import AddressFilterSet, AddressForm, ReadFilter, typed
from projects.models import Project, User

_LISTED = [("active", "active, as a flat list")]
_SEARCHED = [("active", "active")]
_OTHERS = [("superseded", "superseded"), ("archived", "archived"), (ANY, "any status")]
_VERIFIED = {"yes": True, "no": False}
_TIME = "A date such as 2026-03-12, or a date-time with a zone."


def _path(text: str) -> str:
    """A path that scopes may cover, as it was typed. Raises ValueError."""
    covering_paths(text)
    return text


class ListForm(AddressForm):
    """Beside single values: archived memories aren't in the index."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if (cleaned.get("q") or "").strip() and cleaned.get("status") == Status.ARCHIVED:
            self.add_error(
                "status", "Archived memories aren't searched by words. Empty the search to list them."
            )
        return cleaned


class MemoryFilterSet(TaggedFilterSet):
    """What the list is narrowed to. Without any filter it is the top level, with bags to open."""

    BESIDE = ("q", "sort", "match")
    # Behind "More filters", because they are rarer.
    MORE = ("match", "author", "origin", "verified", "finding", "since", "before", "scope", "bag")

    q = django_filters.CharFilter(max_length=QUERY_MAX_LENGTH, label="Search")
    kind = django_filters.ChoiceFilter(choices=Kind.choices, label="Kind", empty_label="any kind")
    weight = django_filters.ChoiceFilter(choices=Weight.choices, label="Weight", empty_label="any weight")
    visibility = django_filters.ChoiceFilter(
        choices=Visibility.choices, label="Visibility", empty_label="any visibility"
    )
    status = django_filters.ChoiceFilter(
        choices=[*_LISTED, *_OTHERS], label="Status", empty_label="active, grouped by bag"
    )
    place = django_filters.ChoiceFilter(choices=Place.choices, label="Place", empty_label="anywhere")
    tag = tags_filter()
    match = django_filters.ChoiceFilter(
        choices=[(ANY, "any of the tags")], label="Of several tags", empty_label="all tags"
    )
    author = django_filters.CharFilter(
        max_length=60, label="Author", widget=typed(placeholder="anybody", list="authors-there")
    )
    origin = django_filters.ChoiceFilter(choices=Origin.choices, label="Origin", empty_label="any origin")
    verified = django_filters.ChoiceFilter(
        choices=[("yes", "verified"), ("no", "never verified")], label="Verified", empty_label="any"
    )
    finding = django_filters.ChoiceFilter(choices=finding_choices, label="Finding", empty_label="any or none")
    since = ReadFilter(
        read=read_moment, label="Touched since", widget=typed(placeholder="2026-03-12"), help_text=_TIME
    )
    before = ReadFilter(read=read_moment, label="Touched before", widget=typed(placeholder="2026-04-01"))
    scope = ReadFilter(read=_path, label="Covers the path", widget=typed(placeholder="src/billing"))
    bag = ReadFilter(read=Number().read, label="In the bag", widget=typed(placeholder="#48"))
    sort = django_filters.ChoiceFilter(
        choices=[(name, order.label) for name, order in ORDERS.items() if order is not NEWEST],
        label="Sort",
        empty_label=NEWEST.label,
    )

    class Meta(AddressFilterSet.Meta):
        model = Memory
        form = ListForm
        fields = ()

    def __init__(self, data: Any, project: Project, reader: User) -> None:
        super().__init__(data, Memory.objects.in_project(project).visible_to(reader))
        self.project, self.reader = project, reader
        if self.sent("q"):
            self.filters["status"].extra |= {
                "choices": [*_SEARCHED, *_OTHERS],
                "empty_label": "active or superseded",
            }

    @property
    def query(self) -> str:
        """What is searched for."""
        return str(self.form.cleaned_data.get("q") or "").strip()

    @property
    def order(self) -> Order:
        """How the list is sorted; a search is by what fits best."""
        return ORDERS[self.form.cleaned_data.get("sort") or NEWEST.name]

    @property
    def path(self) -> str:
        """The list itself, without a query string."""
        return reverse("memories:list", args=(self.project.slug,))

    def _value(self, name: str) -> Any:
        return self.form.cleaned_data.get(name) or None

    def memory_filter(self) -> MemoryFilter:
        """For the exact list."""
        parent = self._value("bag")
        return MemoryFilter(
            **self._words(),
            status=self._value("status") or Status.ACTIVE.value,
            finding=self._value("finding"),
            parent=parent if self.is_narrowed else 0,
        )

    def facet_filter(self) -> MemoryFilter:
        """The same without what is only how it is shown: the choices count what is inside bags, too."""
        return MemoryFilter(
            **self._words(),
            status=self._value("status") or Status.ACTIVE.value,
            finding=self._value("finding"),
            parent=self._value("bag"),
        )

    def search_filter(self) -> SearchFilter:
        """The same for the ranked search, which knows of a status by itself."""
        status = self._value("status")
        listed = MemoryFilter(**self._words(), parent=self._value("bag"))
        return SearchFilter(
            types=[MEMORY],
            status=None if status == ANY else status,
            finding=self._value("finding"),
            listed=None if listed == MemoryFilter() else listed,
        )

    def _words(self) -> dict[str, Any]:
        exact = ("kind", "weight", "visibility", "place", "origin", "author", "scope", "since", "before")
        return {
            **{name: self._value(name) for name in exact},
            "tags": self.tags,
            "tags_match": self._value("match") or "all",
            "verified": _VERIFIED.get(self._value("verified") or ""),
        }

    def filter_queryset(self, queryset: MemoryQuerySet) -> MemoryQuerySet:
        """By `MemoryFilter`, as every list: the filters here name its words and decide nothing."""
        return self.memory_filter().within(queryset, self.reader)

    @property
    def cleared(self) -> str:
        """Whether any of the tags will do means nothing without tags."""
        return self.address(**dict.fromkeys([*self.narrowing, "match"]))

    @property
    def first_fields(self) -> list[forms.BoundField]:
        """Those that are always shown."""
        return [field for field in self.form if field.name not in (*self.MORE, "q", "sort")]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        """The rarer ones."""
        return [field for field in self.form if field.name in self.MORE]

    @property
    def shows_more(self) -> bool:
        """Whether one of the rarer ones is set."""
        return any(self.sent(name) for name in self.MORE)
