"""What the admin's forms for people, projects, members and tokens read. Services check and write it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.admin.widgets import AdminSplitDateTime, FilteredSelectMultiple
from django.contrib.auth.forms import AdminPasswordChangeForm, ReadOnlyPasswordHashField
from django.contrib.auth.models import Group, Permission
from django.contrib.auth.password_validation import password_validators_help_text_html

from memoryhub.kernel.admin import ServiceForm
from memoryhub.kernel.tools import Right
from projects.attempts import count_attempt
from projects.forms_settings import PolicyOfWork, RowForm, SeenForm
from projects.models import AccessToken, Membership, Project, User
from projects.services import change_password
from projects.services.checking import checked
from projects.services.people import ACCOUNT_FIELDS, STAFF_FIELDS


class AdminSignInForm(AdminAuthenticationForm):
    """Django's, counted together with the hub's own page: no second door for guessing passwords."""

    def clean(self) -> dict[str, Any]:
        if self.request is not None:
            count_attempt(self.request)
        return super().clean()


def _password(label: str, help_text: str = "") -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "new-password"})
    return forms.CharField(label=label, widget=widget, help_text=help_text)


class AddUserForm(RowForm):
    """A new account. What is typed twice is the password."""

    places = {"password": "password1"}
    unchecked = ("password",)

    password1 = _password("Password", password_validators_help_text_html())
    password2 = _password("Password again", "The same once more, against slips of the pen.")

    class Meta:
        model = User
        fields = (*ACCOUNT_FIELDS, *STAFF_FIELDS)

    def clean_password2(self) -> str:
        again: str = self.cleaned_data["password2"]
        if "password1" in self.cleaned_data and again != self.cleaned_data["password1"]:
            raise forms.ValidationError("The two passwords differ. Type the same twice.")
        return again

    def account(self) -> dict[str, Any]:
        """What `create_user` takes."""
        own = (*ACCOUNT_FIELDS, *STAFF_FIELDS)
        given = {name: value for name, value in self.cleaned_data.items() if name in own}
        return {**given, "password": self.cleaned_data["password1"]}


class ChangeUserForm(RowForm):
    """An account's own fields and, for superusers, what it may do in the admin."""

    unchecked = ("password",)

    password = ReadOnlyPasswordHashField(
        label="Password", help_text="Kept as a digest that nobody can read. It can be replaced."
    )
    groups = forms.ModelMultipleChoiceField(
        Group.objects.all(), required=False, widget=FilteredSelectMultiple("groups", is_stacked=False)
    )
    user_permissions = forms.ModelMultipleChoiceField(
        Permission.objects.select_related("content_type"),
        required=False,
        widget=FilteredSelectMultiple("permissions", is_stacked=False),
        help_text="What a staff member who is no superuser may do in the admin.",
    )

    class Meta:
        model = User
        fields = (
            *ACCOUNT_FIELDS,
            "is_active",
            "is_staff",
            "is_superuser",
            "groups",
            "user_permissions",
            "password",
        )


class PasswordForm(AdminPasswordChangeForm):
    """Somebody's new password, through the service. To have none is no choice: nobody could sign in."""

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.fields.pop("usable_password", None)
        for name in ("password1", "password2"):
            self.fields[name].required = True

    def save(self, commit: bool = True) -> Any:
        return change_password(user=self.user, password=self.cleaned_data["password1"])


class AddProjectForm(RowForm):
    """A new project with its first owner. Who works in it decides its review policy."""

    owner = forms.ModelChoiceField(
        User.objects.filter(is_active=True).order_by("username"), help_text="Its first owner."
    )
    works_in = PolicyOfWork()

    places = {"review_policy": "works_in"}

    class Meta:
        model = Project
        fields = ("slug", "name", *(name for name in Project.SETTINGS if name != "review_policy"))

    def project(self) -> dict[str, Any]:
        """What `create_project` takes."""
        given = dict(self.cleaned_data)
        return {"review_policy": given.pop("works_in"), **given}


class ChangeProjectForm(SeenForm):
    """A project's name and settings; the slug never changes."""

    class Meta:
        model = Project
        fields = ("name", *Project.SETTINGS)


class AddMemberForm(ServiceForm):
    """A user, a project, a role."""

    class Meta:
        model = Membership
        fields = ("project", "user", "role")


class ChangeMemberForm(ServiceForm):
    """Another role for a member."""

    class Meta:
        model = Membership
        fields = ("role",)


class AddTokenForm(ServiceForm):
    """A new access token; its secret is shown once, after saving."""

    projects = forms.ModelMultipleChoiceField(
        Project.objects.current(),
        widget=forms.CheckboxSelectMultiple,
        help_text="It sees nothing outside these. Its user has to be a member of each.",
    )
    rights = forms.MultipleChoiceField(
        choices=[(right.value, right.value) for right in Right],
        widget=forms.CheckboxSelectMultiple,
        initial=[Right.READ.value, Right.WRITE.value],
        help_text="Never more than its user may do.",
    )
    expires_at = forms.SplitDateTimeField(
        required=False,
        widget=AdminSplitDateTime,
        help_text="Leave both empty for a token that doesn't expire.",
    )

    class Meta:
        model = AccessToken
        fields = ("user", "name")

    def check_shape(self) -> None:
        named = AccessToken(name=self.cleaned_data.get("name", ""))
        others = {field.name for field in AccessToken._meta.concrete_fields} - {"name"}
        if "name" in self.cleaned_data:
            checked(named, exclude=tuple(others))
