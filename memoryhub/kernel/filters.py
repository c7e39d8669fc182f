"""Filters of lists as they stand in an address: applied, or refused with what would be valid; never ignored.

The base of every list's filters. A list declares its filters as any `django_filters.FilterSet` does; pages
get from here the active ones as chips, each choice with its count, and the address that says it all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast
from urllib.parse import urlencode

import django_filters
from django import forms
from django.core.validators import MaxLengthValidator, ProhibitNullCharactersValidator
from django_filters.fields import ChoiceField

from memoryhub.kernel.arguments import Unreadable
from memoryhub.kernel.text import printable


def _choices(field: Any) -> Iterable[tuple[Any, Any]]:
    choices: Iterable[tuple[Any, Any]] = field.choices
    return choices


class AddressForm(forms.Form):
    """The form behind a set of filters: a choice that isn't one is told what the choices are."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if isinstance(field, forms.ChoiceField):
                sent = printable(self.data.get(name))
                valid = ", ".join(str(value) for value, _ in _choices(field) if value)
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


class ReadFilter(django_filters.Filter):
    """A filter whose value is read by `read`."""

    field_class = ReadField


class OpenChoiceField(ChoiceField):
    """Offers choices, and takes any other text: what nothing has is found nowhere, and no error."""

    def __init__(self, *args: Any, max_length: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.validators += [MaxLengthValidator(max_length), ProhibitNullCharactersValidator()]

    def to_python(self, value: Any) -> str:
        text: str = super().to_python(value)
        return text.strip()

    def valid_value(self, value: Any) -> bool:
        return True


class OpenChoiceFilter(django_filters.Filter):
    """A filter with an `OpenChoiceField`."""

    field_class = OpenChoiceField


def typed(**attrs: str) -> forms.TextInput:
    """What a filter is typed into: names as they are, not as a phone would correct them."""
    return forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off", **attrs})


@dataclass(frozen=True)
class Chip:
    """An active filter: what it says, and the address of the list without it."""

    name: str
    says: str
    without: str


class AddressFilterSet(django_filters.FilterSet):
    """Filters that stand in the address of a list.

    `BESIDE` names parameters that narrow nothing, such as the order; they stay when the filters are
    cleared. Each filter has a `label`; choices have an `empty_label` for "any". `NARROWED` names those
    that narrow the list where nothing is chosen, too: to what waits, say.
    """

    BESIDE: ClassVar[tuple[str, ...]] = ("q", "sort")
    NARROWED: ClassVar[tuple[str, ...]] = ()

    class Meta:
        form = AddressForm

    def sent(self, name: str) -> str:
        """The value of a parameter as the address has it; empty for none."""
        text = str(self.data.get(name) or "")
        return text if self.filters[name].extra.get("strip") is False else text.strip()

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
            name: {str(value): str(label) for value, label in _choices(field)}
            for name, field in self.form.fields.items()
            if isinstance(field, forms.ChoiceField)
        }

    def count(self, counts: Mapping[str, Mapping[str, int]], *, at_least: bool = False) -> None:
        """Say at each choice how many there are under the other filters; none told are none there.

        `at_least`: not all was counted. Then a choice says `12+`, and nothing where none were found. Of a
        filter that is `NARROWED` the count of "" is said where nothing is chosen.
        """
        for name, labels in self._labels.items():
            if name not in counts:
                continue
            many, field = counts[name], cast(Any, self.form.fields[name])
            said = {value: _counted(label, many.get(value, 0), at_least) for value, label in labels.items()}
            field.choices = [(value, label) for value, label in said.items() if value]
            if name in self.NARROWED:
                field.empty_label = said[""]


def _counted(label: str, many: int, at_least: bool) -> str:
    if at_least:
        return f"{label} ({many:,}+)" if many else label
    return f"{label} ({many:,})"
