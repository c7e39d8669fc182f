"""Filters of lists as they stand in an address: applied, or refused with what would be valid; never ignored.

The base of every list's filters. A list declares its filters as any `django_filters.FilterSet` does; pages
get from here the active ones as chips, each choice with its count, and the address that says it all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import urlencode

import django_filters
from django import forms

from memoryhub.kernel.arguments import Unreadable
from memoryhub.kernel.text import printable


class AddressForm(forms.Form):
    """The form behind a set of filters: a choice that isn't one is told what the choices are."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if isinstance(field, forms.ChoiceField):
                sent = printable(self.data.get(name))
                valid = ", ".join(str(value) for value, _ in field.choices if value)
                sentence = f"“{sent}” isn't one of these: {valid}."
                field.error_messages = {**field.error_messages, "invalid_choice": sentence.replace("%", "%%")}


class ReadField(forms.CharField):
    """Text that a function of `kernel.arguments` reads: what it can't read is refused with its sentence."""

    def __init__(self, *args: Any, read: Callable[[str], Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read = read

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            return self._read(text)
        except (Unreadable, ValueError) as wrong:
            raise forms.ValidationError(str(wrong)) from None


class ReadFilter(django_filters.Filter):  # type: ignore[misc]
    """A filter whose value is read by `read`."""

    field_class = ReadField


@dataclass(frozen=True)
class Chip:
    """An active filter: what it says, and the address of the list without it."""

    name: str
    says: str
    without: str


class AddressFilterSet(django_filters.FilterSet):  # type: ignore[misc]
    """Filters that stand in the address of a list.

    `BESIDE` names parameters that narrow nothing, such as the order; they stay when the filters are
    cleared. Each filter has a `label`; choices have an `empty_label` for "any".
    """

    BESIDE: ClassVar[tuple[str, ...]] = ("q", "sort")

    class Meta:
        form = AddressForm

    def sent(self, name: str) -> str:
        """The value of a parameter as the address has it; empty for none."""
        return str(self.data.get(name) or "").strip()

    @cached_property
    def said(self) -> dict[str, str]:
        """Every parameter that has a value, in the order in which the filters are declared."""
        return {name: self.sent(name) for name in self.filters if self.sent(name)}

    @property
    def narrowing(self) -> dict[str, str]:
        """Those that narrow the list."""
        return {name: value for name, value in self.said.items() if name not in self.BESIDE}

    @property
    def is_narrowed(self) -> bool:
        return bool(self.narrowing)

    def address(self, **more: str | None) -> str:
        """The query string of the list as it is, changed by `more`; None takes a parameter out."""
        said = {name: value for name, value in {**self.said, **more}.items() if value}
        return f"?{urlencode(said)}" if said else ""

    @property
    def cleared(self) -> str:
        """The query string without any filter."""
        return self.address(**dict.fromkeys(self.narrowing))

    @cached_property
    def chips(self) -> list[Chip]:
        """The active filters, each with the query string of the list without it."""
        return [chip for name, value in self.narrowing.items() for chip in self.chips_of(name, value)]

    def chips_of(self, name: str, value: str) -> Iterable[Chip]:
        """Those of one parameter: one, unless a subclass reads several values from it."""
        yield self.chip(name, self.label_of(name, value), None)

    def chip(self, name: str, value: str, left: str | None) -> Chip:
        """A chip that says the label and `value`, and leaves `left` of the parameter."""
        return Chip(name, f"{self.form.fields[name].label}: {value}", self.address(**{name: left}))

    def label_of(self, name: str, value: str) -> str:
        """What a value is called on the page."""
        return self._labels.get(name, {}).get(value, value)

    @cached_property
    def _labels(self) -> dict[str, dict[str, str]]:
        """Of each choice its label, without a count."""
        return {
            name: {str(value): str(label) for value, label in field.choices if value}
            for name, field in self.form.fields.items()
            if isinstance(field, forms.ChoiceField)
        }

    def count(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Say at each choice how many there are under the other filters; none told are none there."""
        for name, many in counts.items():
            field: Any = self.form.fields[name]
            field.choices = [
                (value, f"{label} ({many.get(value, 0):,})") for value, label in self._labels[name].items()
            ]
