"""What the admin's forms for memories read: exactly what was typed, as the services take it."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from memories.errors import MovedOn
from memories.form_fields import LinesField, NumberField, NumbersField, TagsField, TextField
from memories.models import Kind, Memory, Visibility, Weight
from memories.services import check_fields
from memories.services.checks import DETAILS
from memories.wording import FIELD_NAMES
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.admin import ServiceForm
from memoryhub.kernel.arguments import Unreadable, read_object
from memoryhub.kernel.errors import DomainError, Problems
from memoryhub.kernel.refs import MAX_NUMBER
from memoryhub.kernel.text import shortened
from projects.models import Project

# As much of somebody else's change as stands in an error; the page of the memory has the rest.
_SHOWN_CHANGE = 2000

# The admin shows private memories to nobody, so it makes none either.
VISIBILITIES = [(one.value, one.label) for one in (Visibility.SHARED, Visibility.PUBLIC)]


class DetailsField(TextField):
    """An object as JSON text. Its text is shown again as it was typed, also when it can't be read."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 10, "cols": 80})
        super().__init__(required=False, widget=widget, help_text=_details_help(), **kwargs)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        try:
            return read_object(text) if text.strip() else {}
        except Unreadable:
            raise ValidationError('Must be a JSON object, such as {"reason": "..."}.') from None

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return json.dumps(value, ensure_ascii=False, indent=2) if value else ""

    def run_validators(self, value: Any) -> None:
        """Nothing: the service checks each key."""


def _details_help() -> str:
    """The fields of each kind, from the rules themselves."""
    kinds = []
    for kind, fields in DETAILS.items():
        named = [f"{name} (required, at least {least})" if least else name for name, least in fields.items()]
        kinds.append(f"{kind.label}: {', '.join(named)}")
    return f"As JSON, by kind. {'; '.join(kinds)}. The other kinds have none."


class _MemoryForm(ServiceForm):
    """The fields of a memory. The service checks limits and texts, so that every door says the same."""

    kind = forms.ChoiceField(choices=Kind.choices, initial=Kind.NOTE)
    title = TextField(
        required=False,
        widget=forms.TextInput(attrs={"size": 80}),
        help_text=f"1 to {Memory.TITLE_MAX_LENGTH} characters in one line.",
    )
    summary = TextField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 100}),
        help_text=f"1 to {Memory.SUMMARY_MAX_LENGTH} characters of plain text in one paragraph: "
        "what happened and why it matters.",
    )
    body = TextField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 16, "cols": 100}),
        help_text=f"Markdown, up to {Memory.BODY_MAX_LENGTH:,} characters.",
    )
    details = DetailsField()
    hardness = forms.ChoiceField(
        choices=[("", "none"), ("absolute", "absolute"), ("advisory", "advisory")],
        required=False,
        help_text="Required of a constraint; other kinds have none.",
    )
    scope_paths = LinesField(
        help_text=f"For constraints: at most {Memory.MAX_SCOPES} paths from the top of the repository, "
        "one a line."
    )
    tags = TagsField(help_text=f"At most {Memory.MAX_TAGS}, one a line or with commas: a-z, 0-9 and hyphens.")
    retrieval_hints = LinesField(
        label=FIELD_NAMES["retrieval_hints"],
        help_text=f"At most {Memory.MAX_HINTS} of {Memory.HINT_MAX_LENGTH} characters, one a line: "
        "other words somebody might search for.",
    )
    weight = forms.ChoiceField(choices=Weight.choices, initial=Weight.NORMAL)
    visibility = forms.ChoiceField(
        choices=VISIBILITIES,
        initial=Visibility.SHARED,
        help_text="The admin shows private memories to nobody, and makes none.",
    )
    parent = NumberField(label="Bag", help_text="The number of the memory to put it into; empty for none.")
    supersedes = NumbersField(help_text="Numbers of older memories that this one replaces.")
    related_to = NumbersField(help_text="Numbers of related memories.")
    contradicts = NumbersField(help_text="Numbers of memories that this one contradicts.")
    reason = TextField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 100}),
        help_text="Why: kept with the history.",
    )

    class Meta:
        model = Memory
        fields = ()

    FIELDS = (
        "kind",
        "title",
        "summary",
        "body",
        "details",
        "hardness",
        "scope_paths",
        "tags",
        "retrieval_hints",
        "weight",
        "visibility",
        "parent",
    )
    LINKS: tuple[str, ...] = ("supersedes", "related_to", "contradicts")

    def given(self) -> dict[str, Any]:
        """What the services take: what could be read and says something, with the reason."""
        raise NotImplementedError

    def check_shape(self) -> None:
        problems = Problems()
        memory = self.instance if self.instance.pk else None
        check_fields(context=WriteContext(), problems=problems, memory=memory, **self.given())
        problems.raise_if_any()


class AddMemoryForm(_MemoryForm):
    """A new memory of a project."""

    project = forms.ModelChoiceField(Project.objects.current())

    def given(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if name != "project" and (name in ("title", "summary") or value not in ("", [], {}, 0))
        }


class ChangeMemoryForm(_MemoryForm):
    """A change of what was read at `expected_version`; fields that weren't touched stay untouched."""

    expected_version = forms.IntegerField(min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput)
    unlink = NumbersField(help_text="Numbers of memories to which the links end; needs a reason.")

    LINKS = (*_MemoryForm.LINKS, "unlink")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        memory = self.instance
        now = {name: getattr(memory, name) for name in self.FIELDS if name not in ("tags", "parent")}
        parent = memory.parent.number if memory.parent else 0
        kept = {"tags": memory.tag_names, "parent": parent, "expected_version": memory.version}
        self.initial = {**self.initial, **now, **kept}

    def given(self) -> dict[str, Any]:
        changed = {name: self.cleaned_data[name] for name in self.changed_data if name in self.cleaned_data}
        if "details" in changed:
            changed["details"] = _changed_keys(self.instance.details, changed["details"])
        return {name: value for name, value in changed.items() if name != "expected_version"}

    def clean(self) -> dict[str, Any]:
        # A hidden field has no place of its own on the page.
        if "expected_version" in self.errors:
            self.add_error(None, "The page has lost the version that you read. Open the memory again.")
        return self.cleaned_data

    def show_refusal(self, refusal: DomainError) -> None:
        """A conflict also says what is stored now: nothing is overwritten, nothing typed is lost."""
        super().show_refusal(refusal)
        if isinstance(refusal, MovedOn):
            for name in refusal.details["changed"]:
                if name in self.FIELDS:
                    value = self.fields[name].prepare_value(self.initial[name])
                    self._put(name, f"Is now: {shortened(str(value), _SHOWN_CHANGE) or 'empty'}")


def _changed_keys(had: dict[str, Any], typed: dict[str, Any]) -> dict[str, Any]:
    """Only the keys that changed: others may be thin, from an import, and stay accepted."""
    gone = dict.fromkeys(set(had) - set(typed), "")
    return gone | {key: value for key, value in typed.items() if key not in had or had[key] != value}
