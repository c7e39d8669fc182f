"""The shape of a project's settings on forms, in the browser and in the admin. Services say what may be."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from memoryhub.kernel.admin import ServiceForm
from projects.errors import SettingsMoved
from projects.models import Project, ReviewPolicy
from projects.services.checking import checked
from projects.settings_words import GROUPS, LABELS, MEANS, Group


class RowForm(ServiceForm):
    """A form whose fields are a row's own: the service's check of the row names every bad one."""

    unchecked: tuple[str, ...] = ()

    def check_shape(self) -> None:
        row = copy.copy(self.instance)
        read = {field.name for field in row._meta.concrete_fields} & set(self.cleaned_data)
        for name in read:
            setattr(row, name, self.cleaned_data[name])
        checked(row, exclude=(*self.unchecked, *(set(self.fields) - read)))


class SeenForm(RowForm):
    """A form that carries the values that its page showed: only what was changed there is sent on, and
    what somebody else changed meanwhile is seen to be a conflict.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = True

    @property
    def seen(self) -> dict[str, Any]:
        """By field, the value that the page showed; what can't be read was none."""
        found = {}
        for name, field in self.fields.items():
            sent = field.hidden_widget().value_from_datadict(
                self.data, self.files, self.add_initial_prefix(name)
            )
            try:
                if sent is not None:
                    found[name] = field.to_python(sent)
            except ValidationError:
                continue
        return found

    @property
    def changes(self) -> dict[str, Any]:
        """By field, what is to be another value than the page showed."""
        shown = self.seen
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if name not in shown or shown[name] != value
        }

    def show_refusal(self, refusal: Any) -> None:
        """Of a conflict each field says what it is by now, and that is what was seen from here on."""
        super().show_refusal(refusal)
        if isinstance(refusal, SettingsMoved):
            now = {self.add_initial_prefix(name): str(value) for name, value in refusal.now.items()}
            self.data = {**self.data.dict(), **now}  # type: ignore[attr-defined]


class SettingsForm(SeenForm):
    """A project's name and settings, each with what it means for those who work in it."""

    class Meta:
        model = Project
        fields = ("name", *Project.SETTINGS)

    def __init__(self, *args: Any, may_change: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label, field.help_text = LABELS[name], MEANS[name]
            field.disabled = not may_change
            field.show_hidden_initial = may_change

    def groups(self) -> list[tuple[Group, list[Any]]]:
        """The fields as the page shows them: under headings."""
        return [(group, [self[name] for name in group.fields]) for group in GROUPS]

    def chosen(self, project: Project) -> Project:
        """A copy of the project with the values that could be read; stored nowhere."""
        tried = copy.copy(project)
        for name, value in self.cleaned_data.items():
            if name not in self.errors:
                setattr(tried, name, value)
        return tried


class PolicyOfWork(forms.ChoiceField):
    """Who works in a project; its value is the review policy that fits them."""

    WHO: ClassVar[tuple[tuple[str, str], ...]] = (
        (ReviewPolicy.NONE.value, "Just me: what my agents store is in force at once"),
        (ReviewPolicy.AGENTS.value, "A team: what agents change in shared memory waits for a reviewer"),
    )

    def __init__(self, **kwargs: Any) -> None:
        given = {
            "label": "Who works in it?",
            "choices": self.WHO,
            "widget": forms.RadioSelect,
            "initial": ReviewPolicy.AGENTS.value,
            "help_text": "It can be changed later in the settings, as the review policy.",
        }
        super().__init__(**{**given, **kwargs})


class NewProjectForm(forms.Form):
    """A project to be made. An address that is left empty is made of the name."""

    name = forms.CharField(
        max_length=Project.NAME_MAX_LENGTH, help_text="What people call it, such as Harbor API."
    )
    slug = forms.CharField(
        required=False,
        max_length=Project.SLUG_MAX_LENGTH,
        label="Address",
        help_text="Part of every address: a-z, 0-9 and hyphens. Empty: made of the name. It never changes "
        "and is never used again.",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    works_in = PolicyOfWork()

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("slug") and "slug" not in self.errors and cleaned.get("name"):
            cleaned["slug"] = (
                slugify(cleaned["name"])[: Project.SLUG_MAX_LENGTH].strip("-_").replace("_", "-")
            )
            if not cleaned["slug"]:
                self.add_error("slug", "None can be made of this name. Write one, such as harbor-api.")
        return cleaned

    def project(self) -> dict[str, Any]:
        """What `create_project` takes, beside the owner."""
        given = dict(self.cleaned_data)
        return {"review_policy": given.pop("works_in"), **given}
