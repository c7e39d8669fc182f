"""The shape of what the review pages take: a note, several proposals at once."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.http import QueryDict

from memories.form_fields import TextField
from memories.reviews.places import Place
from memories.services import DECISIONS, REVIEWS_MAX

_NO_NOTE = "Say why: the proposer learns from it what to do differently."


class DecisionForm(forms.Form):
    """A decision with its note, and which proposal to go on with."""

    decision = forms.ChoiceField(choices=[(decision, decision) for decision in DECISIONS])
    note = TextField(required=False, strip=False, label="Note", widget=forms.Textarea(attrs={"rows": 3}))
    # As the place calls it; a made-up one leads to the queue, not to an error.
    next = forms.Field(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("decision") == "reject" and not cleaned.get("note", "").strip():
            self.add_error("note", _NO_NOTE)
        return cleaned


class SeveralForm(DecisionForm):
    """One decision on several proposals: those that are ticked, or with `whole` all of a session."""

    whole = forms.BooleanField(required=False)
    reviews = forms.MultipleChoiceField(error_messages={"required": "Tick the proposals first."})

    def __init__(self, place: Place, data: QueryDict, *, session: str = "") -> None:
        super().__init__(data)
        self.is_whole = bool(session and data.get("whole"))
        read = {text: place.read_ref(text) for text in data.getlist("reviews")}
        # Names are all that can be meant; whether there are such proposals is the page's to say.
        self.refs = [ref for ref in read.values() if ref][: REVIEWS_MAX + 1]
        self.ticked = [text for text, ref in read.items() if ref][: REVIEWS_MAX + 1]
        several = cast(forms.MultipleChoiceField, self.fields["reviews"])
        several.choices = [(text, text) for text in self.ticked]
        several.required = not self.is_whole
