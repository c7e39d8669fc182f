"""The shape of what the web takes about members."""

from __future__ import annotations

from typing import Any

from django import forms

from memoryhub.kernel.text import storable
from projects.models import Role, User

_SAYS = {
    Role.READER: "reader: reads",
    Role.CONTRIBUTOR: "contributor: writes and proposes",
    Role.REVIEWER: "reviewer: also decides",
    Role.OWNER: "owner: also manages it",
}


def _role_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        choices=[(role.value, _SAYS[role]) for role in Role], initial=Role.CONTRIBUTOR.value
    )


class AddMemberForm(forms.Form):
    """Somebody who has an account, and the role that they get."""

    user = forms.CharField(
        max_length=User.USERNAME_MAX_LENGTH,
        label="User name",
        widget=forms.TextInput(
            attrs={"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    role = _role_field()

    def clean_user(self) -> Any:
        name: str = self.cleaned_data["user"]
        user = User.objects.named(name) if storable(name) else None
        if user is None or not user.is_active:
            raise forms.ValidationError(
                "Nobody who can sign in has this name. Ask for the exact one, or have the account made first."
            )
        return user


class RoleForm(forms.Form):
    """Another role for a member."""

    role = _role_field()
    # What a service refused beside it.
    refusal = ""
