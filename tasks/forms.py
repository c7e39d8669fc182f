"""The shape of what the web takes about tasks: a task's fields, its status, its claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms

from memories.form_fields import NumberField, NumbersField, TagLineField, TextField, problems_of
from memories.form_widgets import area, line, summary_help, tags_help, title_help
from memories.models import Memory, Tag
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.refs import MAX_NUMBER
from tasks.models import Priority, Task, TaskStatus


class TaskForm(forms.Form):
    """A task's fields, as they are typed. The service checks them, so that every door says the same."""

    title = TextField(
        required=False,
        strip=False,
        widget=line(Task.TITLE_MAX_LENGTH),
        help_text=title_help(Task.TITLE_MAX_LENGTH),
    )
    summary = TextField(
        required=False,
        strip=False,
        widget=area(3, Task.SUMMARY_MAX_LENGTH),
        help_text=summary_help(Task.SUMMARY_MAX_LENGTH, "what it is about, and why."),
    )
    description = TextField(
        required=False,
        strip=False,
        widget=area(12, Task.DESCRIPTION_MAX_LENGTH),
        help_text=f"Markdown, at most {Task.DESCRIPTION_MAX_LENGTH:,} characters: what is to be "
        "done, and how one knows.",
    )
    priority = forms.ChoiceField(choices=Priority.choices, initial=Priority.NORMAL)
    assignee = forms.ChoiceField(required=False)
    tags = TagLineField(help_text=tags_help(Memory.MAX_TAGS, Tag.NAME_MAX_LENGTH))
    parent = NumberField(label="Part of", help_text="The number of a task; empty for none.")
    blocked_by = NumbersField(label="Waits for", help_text="Numbers of tasks, with commas.")
    reason = TextField(
        required=False,
        strip=False,
        widget=area(2, Task.REASON_MAX_LENGTH),
        label="Why it is new",
        help_text="Kept with the history.",
    )

    FIELDS = ("title", "summary", "description", "priority", "assignee", "tags", "parent", "blocked_by")

    def __init__(self, *args: Any, members: Sequence[str], assignee: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Who left the project stays assigned until somebody says otherwise.
        names = list(dict.fromkeys([*members, *([assignee] if assignee else [])]))
        choice = cast(forms.ChoiceField, self.fields["assignee"])
        choice.choices = [("", "nobody"), *((name, name) for name in names)]

    @property
    def problems(self) -> list[tuple[str, str, str]]:
        """What is wrong, for above the form."""
        return problems_of(self)

    def given(self) -> dict[str, Any]:
        """The fields as the services store them, so that they can be compared with what stands."""
        given = {name: self.cleaned_data[name] for name in self.FIELDS}
        tags = list(dict.fromkeys(tag.lower() for tag in given["tags"]))
        return {**given, "tags": tags, "blocked_by": sorted(set(given["blocked_by"]))}

    def given_new(self) -> dict[str, Any]:
        """The same of a new task: what was left empty isn't said."""
        always = ("title", "summary")
        return {
            name: value for name, value in self.given().items() if name in always or value not in ("", [], 0)
        }

    def put(self, refusal: DomainError) -> None:
        """A refusal at the fields that it names, in this form's words for them; else above the form."""
        named = refusal.details.get("fields") or {}
        for name, sentence in named.items():
            self.add_error(name if name in self.fields else None, sentence)
        if not named:
            self.add_error(None, refusal.message)


class EditTaskForm(TaskForm):
    """A change of what was read at `expected_version`."""

    expected_version = forms.IntegerField(min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].label = "Why it changes"

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "expected_version" in self.errors:
            # A hidden field has no place of its own on the page.
            self.add_error(None, "The page has lost the version that you read. Open it again.")
        return cleaned

    @classmethod
    def initial_of(cls, values: Mapping[str, Any], version: int) -> dict[str, Any]:
        """What the form begins with, of a task's values as a change names them."""
        typed = {name: as_typed(values[name]) for name in cls.FIELDS}
        return {**typed, "expected_version": version}


def as_typed(value: Any) -> Any:
    """A value as somebody would type it into a form: numbers and tags with commas, none empty."""
    return ", ".join(map(str, value)) if isinstance(value, list) else value or ""


class StatusForm(forms.Form):
    """How far it is now, and why."""

    status = forms.ChoiceField(choices=TaskStatus.choices)
    reason = TextField(required=False, strip=False, widget=area(1))
    expected_version = forms.IntegerField(min_value=1, max_value=MAX_NUMBER)


class ClaimForm(forms.Form):
    """For how long somebody takes a task."""

    LENGTHS = ((30, "30 minutes"), (60, "1 hour"), (240, "4 hours"), (480, "8 hours"), (1440, "1 day"))

    minutes = forms.IntegerField(
        required=False, widget=forms.Select(choices=LENGTHS), initial=Task.CLAIM_MINUTES
    )

    def clean_minutes(self) -> int:
        minutes = self.cleaned_data["minutes"]
        return Task.CLAIM_MINUTES if minutes is None else int(minutes)
