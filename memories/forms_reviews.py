"""The shape of what the review pages take: filters, a note, several proposals at once."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from memories.form_fields import TextField
from memories.listing import ANY
from memories.models import Review
from memories.reviews.listing import ReviewFilter
from memories.services import DECISIONS, REVIEWS_MAX
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.refs import read_number

_MINE, _OTHERS = "mine", "others"
_NO_NOTE = "Say why: the proposer learns from it what to do differently."


class QueueForm(forms.Form):
    """What the queue is narrowed to. An address with a value that isn't one is refused, never ignored."""

    status = forms.ChoiceField(
        required=False,
        choices=[
            ("", "waiting"),
            ("approved", "approved"),
            ("rejected", "rejected"),
            ("withdrawn", "withdrawn"),
            (ANY, "any status"),
        ],
    )
    proposer = forms.ChoiceField(
        required=False, choices=[("", "anybody"), (_MINE, "me and my agents"), (_OTHERS, "others")]
    )
    session = forms.CharField(
        required=False,
        max_length=WriteContext.MAX_LENGTHS["session"],
        widget=forms.TextInput(attrs={"placeholder": "any", "autocapitalize": "none"}),
    )

    NARROWING = ("status", "proposer", "session")

    @property
    def narrowing(self) -> dict[str, str]:
        """The filters that are set."""
        return {name: self.cleaned_data[name] for name in self.NARROWING if self.cleaned_data.get(name)}

    def review_filter(self) -> ReviewFilter:
        said = self.narrowing
        mine = {_MINE: True, _OTHERS: False}.get(said.get("proposer", ""))
        status = said.get("status") or Review.Status.PENDING.value
        return ReviewFilter(status=status, mine=mine, session=said.get("session"))

    def address(self, **more: str | None) -> str:
        """The query string of this page, without what is empty."""
        found = urlencode({name: value for name, value in {**self.narrowing, **more}.items() if value})
        return f"?{found}" if found else ""


class DecisionForm(forms.Form):
    """A decision with its note, and which proposal to go on with."""

    decision = forms.ChoiceField(choices=[(decision, decision) for decision in DECISIONS])
    note = TextField(required=False, strip=False, label="Note", widget=forms.Textarea(attrs={"rows": 3}))
    next = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)

    def clean_next(self) -> int | None:
        """A made-up number leads to the queue, not to an error."""
        return read_number(self.cleaned_data.get("next")) or None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("decision") == "reject" and not cleaned.get("note", "").strip():
            self.add_error("note", _NO_NOTE)
        return cleaned


class SeveralForm(DecisionForm):
    """One decision on several proposals."""

    reviews = forms.TypedMultipleChoiceField(
        coerce=int, error_messages={"required": "Tick the proposals first."}
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sent = self.data.getlist("reviews") if isinstance(self.data, QueryDict) else []
        # Numbers are all that can be meant; whether there are such proposals is the page's to say.
        self.ticked = [number for number in map(read_number, sent) if number][: REVIEWS_MAX + 1]
        several = cast(forms.TypedMultipleChoiceField, self.fields["reviews"])
        several.choices = [(str(number), str(number)) for number in self.ticked]
