"""A proposal's fields as a form: a reviewer puts them in other words before he approves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms

from memories.form_fields import LinesField, NumberField, TagsField, TextField
from memories.models import ChangeKind, Kind, Memory, ScopePath, Tag, Visibility, Weight
from memories.reviews.showing import Proposal
from memories.services.checks import DETAILS
from memories.wording import FIELD_NAMES, detail_name
from memoryhub.kernel.errors import DomainError

_STEPS = "steps"
# Empty places for more steps than were proposed.
_MORE_STEPS = 2
# Of a list that are in sight at once.
_MOST_LINES = 8
# A reviewer makes nothing private that isn't his.
_VISIBILITIES = [(one.value, str(one.label)) for one in (Visibility.SHARED, Visibility.PUBLIC)]
# What a new memory can have, whatever was proposed of it.
_ALWAYS = (
    "title",
    "summary",
    "kind",
    "body",
    "details",
    "tags",
    "weight",
    "visibility",
    "parent",
    "hardness",
    "scope_paths",
    "retrieval_hints",
)
_OF_CONSTRAINTS = ("hardness", "scope_paths")
# How many lines, and how long one may be.
_LISTS = {
    "retrieval_hints": (Memory.MAX_HINTS, Memory.HINT_MAX_LENGTH),
    "scope_paths": (Memory.MAX_SCOPES, ScopePath.PATH_MAX_LENGTH),
}


class EditForm(forms.Form):
    """The fields of a proposal with what was proposed in them; only what was changed becomes an edit.

    Of a new memory all that its kind can have, of any other change what it names. Nothing is checked here
    but what can't be read: the service says the rest, and what was typed stays.
    """

    def __init__(self, proposal: Proposal, data: Any = None) -> None:
        super().__init__(data)
        self.review = proposal.review
        self._proposed = {change.name: change.proposed for change in proposal.changes}
        self._creates = self.review.kind == ChangeKind.CREATE
        for name in self._names():
            if name == "details":
                self._add_details()
            elif field := self._field(name):
                field.label = "Bag" if name == "parent" else FIELD_NAMES.get(name, name)
                self._add(name, field, self._proposed.get(name))
        self.fields["note"] = TextField(
            required=False,
            strip=False,
            label="Note to the proposer",
            widget=forms.Textarea(attrs={"rows": 2}),
        )
        self.fields["next"] = forms.Field(required=False, widget=forms.HiddenInput)

    # --- which fields ------------------------------------------------------------------

    def _names(self) -> list[str]:
        named = {name.partition(".")[0] for name in self._proposed}
        kind = self._kind()
        return [
            name
            for name in _ALWAYS
            if name in named or (self._creates and (name not in _OF_CONSTRAINTS or kind == Kind.CONSTRAINT))
        ]

    def _kind(self) -> str:
        """The kind that is typed now, else the proposed one."""
        typed = self.data.get("kind") if self.is_bound else None
        had = self.review.memory.kind if self.review.memory and not self._creates else ""
        return str(typed if typed in Kind.values else self._proposed.get("kind", had))

    def _add(self, name: str, field: forms.Field, value: Any) -> None:
        if isinstance(field, forms.CharField):
            field.strip = False  # allowed text is stored exactly
        if isinstance(value, list):
            field.widget.attrs["rows"] = min(len(value) + 1, _MOST_LINES)
        self.fields[name] = field
        # What wasn't proposed is what an empty field is read as: left empty, it is no edit.
        self.initial[name] = field.to_python("") if value is None else value

    def _field(self, name: str) -> forms.Field | None:
        if name in ("title", "summary", "body"):
            return self._text(name)
        if name == "tags":
            says = (
                f"At most {Memory.MAX_TAGS} of {Tag.NAME_MAX_LENGTH} characters, one a line or with commas."
            )
            return _lower(TagsField(help_text=says))
        if name in _LISTS:
            most, longest = _LISTS[name]
            return _lower(LinesField(help_text=f"One a line: at most {most} of {longest} characters."))
        if name == "parent":
            # A bag that the reviewer can't see is none of his to change.
            if name in self._proposed and self._proposed[name] is None:
                return None
            return NumberField(help_text="The number of a memory to put it into; empty for none.")
        choices: dict[str, Any] = {
            "kind": Kind.choices,
            "weight": Weight.choices,
            "visibility": self._visibilities(),
            "hardness": [("", "none"), ("absolute", "absolute"), ("advisory", "advisory")],
        }
        return forms.ChoiceField(required=False, choices=choices[name])

    def _visibilities(self) -> list[tuple[str, str]]:
        """What was proposed stays among them: a proposer may have asked for private."""
        proposed = self._proposed.get("visibility")
        private = (Visibility.PRIVATE.value, str(Visibility.PRIVATE.label))
        also = [private] if proposed == Visibility.PRIVATE else []
        return [*also, *_VISIBILITIES]

    def _text(self, name: str) -> forms.Field:
        rows = {"title": 1, "summary": 3, "body": 14}[name]
        widget = forms.TextInput() if name == "title" else forms.Textarea(attrs={"rows": rows})
        helps = {
            "title": f"1 to {Memory.TITLE_MAX_LENGTH} characters in one line.",
            "summary": f"1 to {Memory.SUMMARY_MAX_LENGTH} characters of plain text in one paragraph.",
            "body": "Markdown.",
        }
        return TextField(required=False, widget=widget, help_text=helps[name])

    # --- the fields of the kind ---------------------------------------------------------

    def _add_details(self) -> None:
        proposed = [name.partition(".")[2] for name in self._proposed if name.startswith("details.")]
        of_kind = DETAILS.get(Kind(self._kind()), {}) if self._creates and self._kind() else {}
        for key in dict.fromkeys([*of_kind, *proposed]):
            value = self._proposed.get(f"details.{key}") or ""
            if key == _STEPS:
                self._add_steps(value)
                continue
            least = of_kind.get(key, 0)
            helps = f"Required, at least {least} characters." if least > 1 else "Required." if least else ""
            rows = 4 if value or least else 2
            field = TextField(required=False, widget=forms.Textarea(attrs={"rows": rows}), help_text=helps)
            field.label = detail_name(key)
            self._add(f"details.{key}", field, value)

    def _add_steps(self, steps: Any) -> None:
        """Two fields a step; emptying the first takes the step out."""
        steps = steps if isinstance(steps, list) else []
        for at in range(min(len(steps) + _MORE_STEPS, Memory.MAX_STEPS)):
            step = steps[at] if at < len(steps) else {}
            for part, label in (("does", f"Step {at + 1}"), ("depends_on", f"Step {at + 1} depends on")):
                rows = {"rows": 2 if part == "does" else 1}
                field = TextField(required=False, widget=forms.Textarea(attrs=rows))
                field.label = label
                self._add(f"{_STEPS}.{at}.{part}", field, step.get(part, ""))

    # --- what was changed ---------------------------------------------------------------

    def edits(self) -> dict[str, Any]:
        """By field what the reviewer put in other words, as the service takes it."""
        changed = [
            name for name in self.changed_data if name in self.cleaned_data and name not in ("note", "next")
        ]
        edits: dict[str, Any] = {}
        for name in changed:
            head, _, key = name.partition(".")
            if head == "details":
                edits.setdefault("details", {})[key] = self.cleaned_data[name]
            elif head == _STEPS:
                edits.setdefault("details", {})[_STEPS] = self._steps()
            else:
                edits[name] = self.cleaned_data[name]
        return edits

    def _steps(self) -> list[dict[str, str]]:
        places = sorted({int(name.split(".")[1]) for name in self.fields if name.startswith(f"{_STEPS}.")})
        steps = []
        for at in places:
            said = {
                part: self.cleaned_data.get(f"{_STEPS}.{at}.{part}", "") for part in ("does", "depends_on")
            }
            if said["does"].strip():
                steps.append({part: text for part, text in said.items() if text.strip()})
        return steps

    def put(self, refusal: DomainError) -> DomainError | None:
        """The service's refusal at the fields that it names; one that names none is given back."""
        named = refusal.details.get("fields") or {}
        for name, sentence in named.items():
            place = f"{_STEPS}.0.does" if name == f"details.{_STEPS}" else name
            if place in self.fields:
                self.add_error(place, sentence)
            else:
                self.add_error(None, f"{name}: {sentence}")
        return None if named else refusal

    def groups(self) -> Iterator[forms.BoundField]:
        """The fields to be shown, in order, the first bad one in focus; the hidden one is the template's."""
        bad = next((name for name in self.fields if name in self.errors), "")
        for name in self.fields:
            if name == bad:
                self.fields[name].widget.attrs["autofocus"] = True
            if name != "next":
                yield self[name]


def _lower(field: forms.Field) -> forms.Field:
    """A list is a few short lines."""
    field.widget.attrs["rows"] = 2
    return field
