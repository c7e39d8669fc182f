"""The shape of what the hygiene page sends: a fix, what it is done to, what was typed, the versions seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from hygiene.fixes import CHOSEN_MAX, FIXES, Fix, Given, Item
from hygiene.rules.table import BY_NAME
from memories.models import Memory, ScopePath, Tag
from memories.services import NEW_BAG

_ITEM = re.compile(r"([1-9]\d{0,9})(?:-([1-9]\d{0,9}))?")
_SEEN = re.compile(r"([1-9]\d{0,9}):([1-9]\d{0,9})")
_BETWEEN = re.compile(r"[\s,]+")
# In what way a fix is asked for: at once for a single one, shown first, and done after it was shown.
NOW, SHOW, APPLY = "now", "show", "apply"


class Many(forms.Field):
    """Values of one name, each read on its own; one that can't be read refuses them all."""

    widget = forms.MultipleHiddenInput

    def __init__(self, read: Callable[[str], Any], **given: Any) -> None:
        super().__init__(required=False, **given)
        self._read = read

    def to_python(self, value: Any) -> list[Any]:
        try:
            return list(dict.fromkeys(self._read(one) for one in value or ()))
        except ValueError:
            raise forms.ValidationError("This page sent something else. Load it again.") from None


def _item(text: str) -> Item:
    found = _ITEM.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return Item(int(found[1]), int(found[2] or 0))


def _seen(text: str) -> tuple[int, int]:
    found = _SEEN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return int(found[1]), int(found[2])


@dataclass(frozen=True)
class Asked:
    """What was asked for."""

    fix: Fix
    items: list[Item]
    given: Given
    seen: Mapping[int, int]
    how: str

    @property
    def is_single(self) -> bool:
        return self.how == NOW


class FixForm(forms.Form):
    """A fix of some memories. What is typed is judged by the services, which name every bad field."""

    fix = forms.ChoiceField(choices=[(name, fix.label) for name, fix in FIXES.items()])
    how = forms.ChoiceField(choices=[(name, name) for name in (NOW, SHOW, APPLY)])
    item = Many(_item)
    # All that the page shows, whatever is chosen.
    all = forms.BooleanField(required=False)
    shown = Many(_item)
    seen = Many(_seen)
    rule = forms.ChoiceField(required=False, choices=[(name, name) for name in BY_NAME])
    cursor = forms.CharField(required=False)
    # The memory whose page the fix came from.
    back = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    bag = forms.TypedChoiceField(required=False, coerce=int, empty_value=None, label="Into")
    title = forms.CharField(required=False, label="Title of a new bag")
    summary = forms.CharField(
        required=False,
        label="Summary",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=f"Plain text, one paragraph, 1 to {Memory.SUMMARY_MAX_LENGTH} characters.",
    )
    reason = forms.CharField(required=False, label="Why both hold")
    tags = forms.CharField(
        required=False,
        label="Tags",
        widget=forms.TextInput(attrs={"autocapitalize": "none"}),
        help_text=f"Lower case, with spaces between them, each at most {Tag.NAME_MAX_LENGTH} characters.",
    )
    scope_paths = forms.CharField(
        required=False,
        label="Paths it covers",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
        help_text="Relative to the repository, with spaces between them, such as src/billing. Each at most "
        f"{ScopePath.PATH_MAX_LENGTH} characters.",
    )

    def __init__(self, *args: Any, bags: list[tuple[int, str]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Whether there is such a bag is the service's to say: the page names a hundred at most.
        named = [(number, f"#{number} {title}") for number, title in bags or ()]
        field: Any = self.fields["bag"]
        field.choices = [(NEW_BAG, "a new bag"), *named]
        if self.is_bound:
            sent = str(self.data.get("bag") or "")
            if sent.isascii() and sent.isdigit() and len(sent) < 10 and int(sent) not in dict(field.choices):
                field.choices = [*field.choices, (int(sent), f"#{int(sent)}")]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        fix = FIXES.get(cleaned.get("fix", ""))
        items: list[Item] = cleaned.get("shown" if cleaned.get("all") else "item") or []
        if fix is None or self.errors:
            return cleaned
        if not items:
            self.add_error(None, "Choose at least one memory.")
        elif len(items) > CHOSEN_MAX:
            self.add_error(None, f"{len(items)} are chosen; at most {CHOSEN_MAX} are changed at once.")
        elif not fix.several and len(items) > 1:
            self.add_error(None, "This is done one by one.")
        elif fix.pair and not all(item.other for item in items):
            self.add_error(None, "This takes two memories.")
        elif cleaned["how"] != SHOW and not cleaned.get("seen"):
            self.add_error(None, "This page sent no versions. Load it again.")
        cleaned["items"] = items
        return cleaned

    @property
    def asked(self) -> Asked:
        """What a valid form asks for."""
        cleaned = self.cleaned_data
        given = Given(
            summary=cleaned["summary"],
            reason=cleaned["reason"],
            tags=[tag for tag in _BETWEEN.split(cleaned["tags"]) if tag],
            paths=[path for path in _BETWEEN.split(cleaned["scope_paths"]) if path],
            bag=cleaned["bag"] or NEW_BAG,
            title=cleaned["title"],
        )
        return Asked(FIXES[cleaned["fix"]], cleaned["items"], given, dict(cleaned["seen"]), cleaned["how"])

    @property
    def inputs(self) -> list[forms.BoundField]:
        """The fields that its fix asks people for."""
        fix = FIXES.get(str(self["fix"].value() or ""))
        return [self[name] for name in fix.inputs] if fix else []

    @property
    def is_for_several(self) -> bool:
        return self["how"].value() == SHOW

    @property
    def sent_items(self) -> list[str]:
        """The items as they were sent, also where the form can't be read."""
        return [str(value) for value in self["item"].value() or ()]
