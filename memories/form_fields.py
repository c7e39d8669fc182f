"""Form fields for what memories hold: text as it was typed, lists one a line, numbers as people write them.

The services check what was read, so that every door says the same.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from memories.form_widgets import tag_line
from memoryhub.kernel.arguments import Numbers, Unreadable
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.text import tidy


class TextField(forms.CharField):
    """Text as it was typed, but for a browser's CRLF."""

    def to_python(self, value: Any) -> Any:
        return tidy(super().to_python(value) or "")


class LinesField(TextField):
    """A list, one text a line."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 4, "cols": 60}), **kwargs)

    def to_python(self, value: Any) -> Any:
        return [line for line in super().to_python(value).split("\n") if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def run_validators(self, value: Any) -> None:
        """Nothing: the service checks each line."""


class TagsField(LinesField):
    """Tags, one a line or with commas between them."""

    def to_python(self, value: Any) -> Any:
        parts = [part.strip() for line in super().to_python(value) for part in line.split(",")]
        return [part for part in parts if part]


class TagLineField(TagsField):
    """Tags in one line, with commas between them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.widget = tag_line()

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value


class NumberField(TextField):
    """The number of a memory of the same project, as `48` or `#48`; empty is none, 0 to the service."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        number = read_number(text) if text.strip() else 0
        if number is None:
            raise ValidationError("Must be a number such as 48 or #48, or empty.")
        return number

    def prepare_value(self, value: Any) -> Any:
        return value or ""

    def run_validators(self, value: Any) -> None:
        """Nothing: the service loads it."""


class NumbersField(TextField):
    """Numbers of memories of the same project, with commas between them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def to_python(self, value: Any) -> Any:
        try:
            return Numbers().read(super().to_python(value))
        except Unreadable:
            raise ValidationError("Must be numbers such as 48, 52.") from None

    def run_validators(self, value: Any) -> None:
        """Nothing: the service loads them."""


def problems_of(form: forms.BaseForm) -> list[tuple[str, str, str]]:
    """What is wrong, in the order of the page: the id of the control, what it is called, the sentence."""
    found = [("", "", str(error)) for error in form.non_field_errors()]
    return found + [
        (form[name].id_for_label or form[name].auto_id, str(form[name].label), str(error))
        for name in form.fields
        for error in form.errors.get(name, ())
    ]
