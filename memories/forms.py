"""The shape of what the web takes about memories: the filters of the list, all of them in the address."""

from __future__ import annotations

import re
from typing import Any, cast
from urllib.parse import urlencode

from django import forms

from memories.listing import ANY, MemoryFilter
from memories.models import Kind, Memory, Origin, Status, Tag, Visibility, Weight
from memories.parts import finding_choices
from memories.search import MEMORY, QUERY_MAX_LENGTH, SearchFilter

_BETWEEN_TAGS = re.compile(r"[\s,]+")
_LISTED = [("", "active, by bag"), ("active", "active, one by one")]
_SEARCHED = [("", "active or superseded"), ("active", "active")]
_OTHERS = [("superseded", "superseded"), ("archived", "archived"), (ANY, "any status")]


def _choices(choices: Any, any_name: str) -> list[tuple[str, str]]:
    return [("", any_name), *choices.choices]


class FilterForm(forms.Form):
    """What the list is narrowed to. An address with a value that isn't one is refused, never ignored."""

    q = forms.CharField(required=False, max_length=QUERY_MAX_LENGTH, label="Search")
    kind = forms.ChoiceField(required=False, choices=_choices(Kind, "any kind"))
    status = forms.ChoiceField(required=False)
    weight = forms.ChoiceField(required=False, choices=_choices(Weight, "any weight"))
    visibility = forms.ChoiceField(required=False, choices=_choices(Visibility, "any I may see"))
    tag = forms.CharField(
        required=False,
        max_length=(Tag.NAME_MAX_LENGTH + 2) * Memory.MAX_TAGS,
        label="Tags",
        widget=forms.TextInput(attrs={"placeholder": "all of these", "autocapitalize": "none"}),
    )
    origin = forms.ChoiceField(required=False, choices=_choices(Origin, "any origin"))
    author = forms.CharField(
        required=False,
        max_length=60,
        widget=forms.TextInput(attrs={"placeholder": "anybody", "autocapitalize": "none"}),
    )

    finding = forms.ChoiceField(required=False)

    NARROWING = ("kind", "status", "weight", "visibility", "tag", "origin", "author", "finding")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        status = cast(forms.ChoiceField, self.fields["status"])
        searching = self.data.get("q", "").strip()
        finding = cast(forms.ChoiceField, self.fields["finding"])
        finding.choices = [("", "any or none"), *finding_choices()]
        status.choices = [*(_SEARCHED if searching else _LISTED), *_OTHERS]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.query and cleaned.get("status") == Status.ARCHIVED:
            self.add_error(
                "status", "Archived memories aren't searched by words. Empty the search to list them."
            )
        return cleaned

    def _value(self, name: str) -> str | None:
        return self.cleaned_data.get(name) or None

    @property
    def query(self) -> str:
        return str(self.cleaned_data.get("q", "")).strip()

    @property
    def tags(self) -> list[str]:
        return [tag for tag in _BETWEEN_TAGS.split(self.cleaned_data.get("tag", "").lower()) if tag]

    @property
    def narrowing(self) -> dict[str, str]:
        """The filters that are set, beside the search."""
        return {name: self.cleaned_data[name] for name in self.NARROWING if self.cleaned_data.get(name)}

    @property
    def is_narrowed(self) -> bool:
        return bool(self.narrowing)

    def memory_filter(self) -> MemoryFilter:
        """For the exact list; without any filter it is the top level, with bags to open."""
        return MemoryFilter(
            kind=self._value("kind"),
            status=self._value("status") or Status.ACTIVE.value,
            weight=self._value("weight"),
            visibility=self._value("visibility"),
            tags=self.tags,
            origin=self._value("origin"),
            author=self._value("author"),
            parent=None if self.is_narrowed else 0,
            finding=self._value("finding"),
        )

    def search_filter(self) -> SearchFilter:
        """The same for the ranked search, of memories: tasks and receipts have pages of their own."""
        status = self._value("status")
        return SearchFilter(
            types=[MEMORY],
            kinds=[kind for kind in [self._value("kind")] if kind],
            tags=self.tags,
            status=None if status == ANY else status,
            weight=self._value("weight"),
            visibility=self._value("visibility"),
            origin=self._value("origin"),
            author=self._value("author"),
            finding=self._value("finding"),
        )

    def address(self, **more: str | None) -> str:
        """The query string of this page, without what is empty: what is in it can be sent to a colleague."""
        said = {"q": self.query, **self.narrowing, **more}
        found = urlencode({name: value for name, value in said.items() if value})
        return f"?{found}" if found else ""


class HistoryForm(forms.Form):
    """Where the history of a memory goes on."""

    before = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
