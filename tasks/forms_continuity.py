"""The shape of what the web takes about continuity: which receipts, which stream, a checkpoint's file."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from memories.form_fields import TextField
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.refs import MAX_NUMBER, read_number
from tasks.history import CHECKPOINT_NAMES
from tasks.models import Checkpoint, Receipt


class AcknowledgeForm(forms.Form):
    """The ticked receipts, or the one whose button was pressed."""

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        sent = data.getlist("one") or data.getlist("receipts")
        self.numbers = [number for number in map(read_number, sent) if number]

    def clean(self) -> dict[str, Any]:
        most = Receipt.MAX_ACKNOWLEDGED
        if not self.numbers:
            raise forms.ValidationError(
                "No receipt is ticked. Tick those that you take over, then acknowledge them."
            )
        if len(self.numbers) > most:
            raise forms.ValidationError(f"Ticked {len(self.numbers)}; at most {most} are taken over at once.")
        return self.cleaned_data


class StreamForm(forms.Form):
    """Which stream an address is about; `main` where it doesn't say."""

    stream = forms.CharField(required=False, max_length=Checkpoint.STREAM_MAX_LENGTH, strip=False)

    @property
    def name(self) -> str:
        return str(self.cleaned_data["stream"]) or Checkpoint.MAIN


class FileForm(forms.Form):
    """A checkpoint as its file, with the version that was read; without one it is a new stream's."""

    stream = TextField(
        strip=False,
        required=False,
        help_text=f"1 to {Checkpoint.STREAM_MAX_LENGTH} characters, such as the name of a branch.",
    )
    text = TextField(
        strip=False,
        required=False,
        label="CURRENT_STATE.md",
        widget=forms.Textarea(attrs={"rows": 30, "spellcheck": "true"}),
    )
    expected_version = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput
    )

    def put(self, refusal: DomainError) -> None:
        """A refusal at the file, each sentence under the heading of its section; else above the form."""
        named = refusal.details.get("fields") or {}
        for name, sentence in named.items():
            if name in self.fields:
                self.add_error(name, sentence)
            else:
                self.add_error("text", f"{CHECKPOINT_NAMES.get(name, name)}: {sentence}")
        if not named:
            self.add_error(None, refusal.message)
