"""The shape of what the pages take on which something is done with a memory, or its history is read."""

from __future__ import annotations

from typing import Any

from django import forms

from memories.form_fields import TextField
from memories.form_widgets import area
from memories.models import Memory
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.refs import MAX_NUMBER


class ReasonForm(forms.Form):
    """Why something is done, and on which version; the service says what is wrong with either."""

    reason = TextField(
        required=False,
        strip=False,
        label="Why",
        help_text="Kept with the history, and read by whoever reviews it.",
        widget=area(2, Memory.REASON_MAX_LENGTH),
    )
    expected_version = forms.IntegerField(min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        # A hidden field has no place of its own on the page.
        if "expected_version" in self.errors:
            self.add_error(None, "The page has lost the version that you read. Open the memory again.")
        return self.cleaned_data

    def put(self, refusal: DomainError) -> None:
        """A refusal at the reason, or above it."""
        for name, sentence in (refusal.details.get("fields") or {"": refusal.message}).items():
            self.add_error(name if name in self.fields else None, sentence)


class CompareForm(forms.Form):
    """Where the history goes on, and which two versions are compared: the address of the page."""

    before = forms.IntegerField(required=False, min_value=1, max_value=MAX_NUMBER)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("from", "to"):  # one of them is a word of the language
            self.fields[name] = forms.IntegerField(required=False, min_value=1, max_value=MAX_NUMBER)
            self.fields[name].widget.attrs["inputmode"] = "numeric"

    @property
    def two(self) -> list[int]:
        """The versions to compare; none where the address names fewer than two."""
        asked = [self.cleaned_data.get(name) for name in ("from", "to")]
        return [version for version in asked if version] if all(asked) else []
