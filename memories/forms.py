"""The shape of what the web takes about memories."""

from __future__ import annotations

from django import forms


class HistoryForm(forms.Form):
    """Where the history of a memory goes on."""

    before = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
