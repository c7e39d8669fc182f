"""The shape of what the web takes about accounts and tokens. Services say what may be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.password_validation import password_validators_help_texts
from django.utils import timezone

from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.text import visible_marks
from memoryhub.kernel.tools import Right
from projects.context import DENSITIES, SHORTCUTS, THEMES
from projects.models import AccessToken, Project, Role
from projects.zones import known_zones

# What a role can use at all: more in a token would promise what its user may not do.
RIGHTS = {
    Role.READER: (Right.READ,),
    Role.CONTRIBUTOR: (Right.READ, Right.WRITE),
    Role.REVIEWER: tuple(Right),
    Role.OWNER: tuple(Right),
}
_SAYS = {
    Right.READ: "Read: recall, search, everything you may see",
    Right.WRITE: "Write: store, change, archive",
    Right.REVIEW: "Review: decide what waits",
}


def put_on(form: forms.BaseForm, refusal: DomainError) -> None:
    """A service's refusal, as errors at the fields it names; the rest above the form."""
    fields: dict[str, str] = refusal.details.get("fields") or {}
    for name, sentence in fields.items():
        form.add_error(name if name in form.fields else None, sentence)
    if not fields:
        form.add_error(None, refusal.message)


class SignInForm(AuthenticationForm):
    """Django's, with one sentence for every failure: it never tells which names exist."""

    error_messages = {
        "invalid_login": "Name and password don't match an account. Try again.",
        "inactive": "Name and password don't match an account. Try again.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "Name"
        self.fields["username"].widget.attrs["autocapitalize"] = "none"
        if self.is_bound:
            # The name stands there already.
            self.fields["username"].widget.attrs.pop("autofocus", None)
            self.fields["password"].widget.attrs["autofocus"] = True


class TokenForm(forms.Form):
    """A token to be made: what it is called, what it may do, how long."""

    LONGEST = dt.timedelta(days=3650)

    name = forms.CharField(
        max_length=AccessToken.NAME_MAX_LENGTH,
        help_text="What it is for, such as laptop or build.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    rights = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label="It may")
    expires_on = forms.DateField(
        required=False,
        label="Good until",
        help_text="Through that day. Empty: until it is revoked.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )

    def __init__(self, *args: Any, role: Role, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rights = cast(forms.MultipleChoiceField, self.fields["rights"])
        rights.choices = [(right, _SAYS[right]) for right in RIGHTS[role]]
        rights.initial = [right for right in RIGHTS[role] if right is not Right.REVIEW]

    def clean_expires_on(self) -> dt.date | None:
        day: dt.date | None = self.cleaned_data["expires_on"]
        today = timezone.localdate()
        if day and not today <= day <= today + self.LONGEST:
            raise forms.ValidationError("Choose a day from today on, within ten years.")
        return day

    @property
    def expires_at(self) -> dt.datetime | None:
        """The end of the chosen day in the reader's zone."""
        day: dt.date | None = self.cleaned_data["expires_on"]
        end = dt.time(23, 59, 59)
        return dt.datetime.combine(day, end, timezone.get_current_timezone()) if day else None


class MyTokenForm(TokenForm):
    """A token of mine for as many of my projects as I like."""

    projects = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="For",
        help_text="It sees nothing outside of these.",
    )

    field_order = ("name", "projects", "rights", "expires_on")

    def __init__(self, *args: Any, mine: Sequence[Project], **kwargs: Any) -> None:
        # What the highest of my roles can use; in each project it is never more than my role there.
        roles = [Role(project.role) for project in mine]  # type: ignore[attr-defined]
        super().__init__(*args, role=max(roles, key=lambda role: role.rank, default=Role.READER), **kwargs)
        self._by_slug = {project.slug: project for project in mine}
        field = cast(forms.MultipleChoiceField, self.fields["projects"])
        field.choices = [
            (project.slug, f"{visible_marks(project.name)} ({role})")
            for project, role in zip(mine, roles, strict=True)
        ]
        if len(mine) == 1:
            field.initial = [mine[0].slug]

    @property
    def chosen(self) -> list[Project]:
        """The projects that were ticked."""
        return [self._by_slug[slug] for slug in self.cleaned_data["projects"]]


class PasswordForm(PasswordChangeForm):
    """Django's, asking for the present password, in words of ours. The service sets it."""

    error_messages = {
        "password_incorrect": "This is not your present password. Type it again.",
        "password_mismatch": "The two new passwords differ. Type the same twice.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = {
            "old_password": "Present password",
            "new_password1": "New password",
            "new_password2": "New password again",
        }
        for name, label in labels.items():
            self.fields[name].label = label
        self.fields["new_password1"].help_text = " ".join(password_validators_help_texts())
        self.fields["new_password2"].help_text = ""
        self.fields["old_password"].widget.attrs.pop("autofocus", None)

    def save(self, commit: bool = True) -> Any:
        raise NotImplementedError("Forms never save. Call change_password.")


class ThemeForm(forms.Form):
    """Which of the looks; `system` follows the machine."""

    theme = forms.ChoiceField(choices=list(THEMES.items()))


class DensityForm(forms.Form):
    """How close together rows stand."""

    density = forms.ChoiceField(choices=list(DENSITIES.items()))


class ShortcutsForm(forms.Form):
    """Whether single letters do something."""

    shortcuts = forms.ChoiceField(choices=list(SHORTCUTS.items()))


class TimeZoneForm(forms.Form):
    """The zone in which times are shown."""

    time_zone = forms.ChoiceField(
        label="Time zone",
        choices=lambda: [(name, name.replace("_", " ")) for name in sorted(known_zones())],
    )
