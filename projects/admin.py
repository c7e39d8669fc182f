"""The admin's door to people, projects, members and access tokens, through the services.

Only superusers hand out rights in the admin, touch the accounts of superusers and make tokens for
others: a token reads what its user reads, private memories too.
"""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from memoryhub.kernel.admin import ExactFilter, ServiceAdmin, choice_filter, yes_no_filter
from memoryhub.kernel.admin_extending import Extendable
from memoryhub.kernel.errors import DomainError
from projects import admin_calls  # noqa: F401 - registers what is noted of calls
from projects.admin_forms import (
    AddMemberForm,
    AddProjectForm,
    AddTokenForm,
    AddUserForm,
    AdminSignInForm,
    ChangeMemberForm,
    ChangeProjectForm,
    ChangeUserForm,
    PasswordForm,
)
from projects.models import AccessToken, Membership, Project, ReviewPolicy, Role, User
from projects.services import (
    add_member,
    archive_project,
    change_account,
    change_role,
    change_settings,
    create_project,
    create_token,
    create_user,
    deactivate_user,
    reactivate_user,
    remove_member,
    restore_project,
    revoke_token,
)

admin.site.login_form = AdminSignInForm

_SUPERUSERS_OWN = ("is_staff", "is_superuser", "groups", "user_permissions")


class ProjectFilter(ExactFilter):
    """Of one project."""

    title = "project"
    parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return Project.objects.values_list("slug", "name")

    def narrowed(self, queryset: Any, value: str) -> Any:
        return queryset.filter(project__slug=value)


@admin.register(User)
class UserAdmin(ServiceAdmin, DjangoUserAdmin):
    """Accounts: created, changed, deactivated; never deleted."""

    form, add_form, change_password_form = ChangeUserForm, AddUserForm, PasswordForm
    list_display = ("username", "email", "first_name", "last_name", "is_active", "is_staff", "last_login")
    list_filter = (
        yes_no_filter("active", "active", Q(is_active=True)),
        yes_no_filter("staff", "staff", Q(is_staff=True)),
        yes_no_filter("superuser", "superuser", Q(is_superuser=True)),
    )
    search_fields = ("username", "first_name", "last_name", "email")
    ordering = ("username",)
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password", "first_name", "last_name", "email", "time_zone")}),
        ("Account", {"fields": ("is_active", "last_login", "date_joined")}),
        ("Rights in the admin", {"fields": _SUPERUSERS_OWN}),
    )
    add_fieldsets = (
        (None, {"fields": ("username", "email", "password1", "password2")}),
        ("Person", {"fields": ("first_name", "last_name", "time_zone")}),
        ("Rights in the admin", {"fields": ("is_staff", "is_superuser")}),
    )
    actions = ("deactivate", "reactivate")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        return fieldsets if obj or _may_all(request) else fieldsets[:-1]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        more = () if obj is None or _may_all(request) else _SUPERUSERS_OWN
        return ("last_login", "date_joined", *more)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may change accounts could otherwise sign in as a superuser, by a new password."""
        may = super().has_change_permission(request, obj)
        return may and (obj is None or not obj.is_superuser or _may_all(request))

    def add_with_service(self, request: HttpRequest, form: Any) -> User:
        return create_user(**form.account())

    def change_with_service(self, request: HttpRequest, obj: User, form: Any) -> User:
        changed = {name: form.cleaned_data[name] for name in form.changed_data}
        user = change_account(user=obj, fields=changed)
        if changed.get("is_active") is True:
            return reactivate_user(user=user)
        if changed.get("is_active") is False:
            return deactivate_user(by=_asker(request), user=user)
        return user

    @admin.action(description="Deactivate the accounts", permissions=["change"])
    def deactivate(self, request: HttpRequest, queryset: Any) -> None:
        rows = self._changeable(request, queryset)
        self.for_each(
            request, rows, lambda user: deactivate_user(by=_asker(request), user=user), "deactivated"
        )

    @admin.action(description="Open the accounts again", permissions=["change"])
    def reactivate(self, request: HttpRequest, queryset: Any) -> None:
        rows = self._changeable(request, queryset)
        self.for_each(request, rows, lambda user: reactivate_user(user=user), "reactivated")

    def _changeable(self, request: HttpRequest, queryset: Any) -> list[User]:
        rows = [user for user in queryset if self.has_change_permission(request, user)]
        if len(rows) < len(queryset):
            sentence = "Only a superuser changes the account of a superuser."
            self.message_user(request, sentence, messages.ERROR)
        return rows


@admin.register(Project)
class ProjectAdmin(Extendable, ServiceAdmin):
    """Projects: created with an owner, changed, archived; never deleted."""

    list_display = (
        "slug",
        "name",
        "review_policy",
        "default_visibility",
        "members",
        "created_at",
        "archived_at",
    )
    list_filter = (
        choice_filter("review_policy", ReviewPolicy),
        yes_no_filter("archived", "archived", Q(archived_at__isnull=False)),
    )
    search_fields = ("slug", "name")
    ordering = ("slug",)
    actions = ("archive", "restore")
    _KEPT = ("slug", "uid", "created_at", "archived_at")

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request).annotate(member_count=Count("memberships"))
        return self.extended(request, rows)

    @admin.display(ordering="member_count")
    def members(self, project: Any) -> int:
        return int(project.member_count)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        kwargs["form"] = ChangeProjectForm if obj else AddProjectForm
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        first = ("slug", "name") if obj else ("slug", "name", "owner", "works_in")
        asked = [name for name in Project.SETTINGS if obj or name != "review_policy"]
        return (
            (None, {"fields": first}),
            ("Settings", {"fields": asked}),
            *(((None, {"fields": ("uid", "created_at", "archived_at")}),) if obj else ()),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self._KEPT if obj else ()

    def add_with_service(self, request: HttpRequest, form: Any) -> Project:
        return create_project(**form.project())

    def change_with_service(self, request: HttpRequest, obj: Project, form: Any) -> Project:
        return change_settings(by=_asker(request), project=obj, fields=form.changes, seen=form.seen)

    @admin.action(description="Archive: nothing in them changes any more", permissions=["change"])
    def archive(self, request: HttpRequest, queryset: Any) -> None:
        by = _asker(request)
        self.for_each(request, queryset, lambda project: archive_project(by=by, project=project), "archived")

    @admin.action(description="Restore from the archive", permissions=["change"])
    def restore(self, request: HttpRequest, queryset: Any) -> None:
        by = _asker(request)
        self.for_each(request, queryset, lambda project: restore_project(by=by, project=project), "restored")


@admin.register(Membership)
class MembershipAdmin(ServiceAdmin):
    """Members of projects."""

    list_display = ("user", "project", "role", "joined_at")
    list_filter = (ProjectFilter, choice_filter("role", Role))
    list_select_related = ("user", "project")
    search_fields = ("user__username", "project__slug", "project__name")
    actions = ("remove",)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        kwargs["form"] = ChangeMemberForm if obj else AddMemberForm
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("project", "user", "role", *(("joined_at",) if obj else ()))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("project", "user", "joined_at") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def add_with_service(self, request: HttpRequest, form: Any) -> Membership:
        return add_member(by=_asker(request), **form.cleaned_data)

    def change_with_service(self, request: HttpRequest, obj: Membership, form: Any) -> Membership:
        return change_role(by=_asker(request), membership=obj, role=form.cleaned_data["role"])

    def remove_with_service(self, request: HttpRequest, obj: Membership) -> None:
        remove_member(by=_asker(request), membership=obj)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except DomainError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return HttpResponseRedirect(reverse("admin:projects_membership_change", args=(object_id,)))

    @admin.action(description="Remove from the project", permissions=["delete"])
    def remove(self, request: HttpRequest, queryset: Any) -> None:
        self.for_each(request, queryset, lambda row: self.delete_model(request, row), "removed")


@admin.register(AccessToken)
class AccessTokenAdmin(ServiceAdmin):
    """Access tokens: made, shown once, revoked; never edited."""

    list_display = (
        "name",
        "user",
        "starts_with",
        "reaches",
        "may",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
    )
    list_filter = (yes_no_filter("revoked", "revoked", Q(revoked_at__isnull=False)),)
    list_select_related = ("user",)
    search_fields = ("name", "user__username", "public_part")
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> Any:
        """All for superusers; for other staff their own and those that reach a project they own."""
        tokens = (
            AccessToken.objects.all()
            if _may_all(request)
            else AccessToken.objects.visible_to(_asker(request))
        )
        return tokens.prefetch_related("projects")

    @admin.display(description="token")
    def starts_with(self, token: AccessToken) -> str:
        return f"mh_{token.public_part}…"

    @admin.display(description="projects")
    def reaches(self, token: AccessToken) -> str:
        return ", ".join(project.slug for project in token.projects.all())

    @admin.display(description="rights")
    def may(self, token: AccessToken) -> str:
        return ", ".join(token.rights)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change=change, **{**kwargs, "form": AddTokenForm})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.list_display if obj else ("user", "name", "projects", "rights", "expires_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.list_display if obj else ()

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user" and not _may_all(request):
            kwargs["queryset"] = User.objects.filter(pk=_asker(request).pk)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return super().has_change_permission(request)

    def add_with_service(self, request: HttpRequest, form: Any) -> AccessToken:
        token, text = create_token(**form.cleaned_data)
        self.message_user(request, f"Access token {token.name}, shown this once: {text}", messages.WARNING)
        return token

    @admin.action(description="Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: Any) -> None:
        by = _asker(request)
        self.for_each(request, queryset, lambda token: revoke_token(by=by, token=token), "revoked")


def _asker(request: HttpRequest) -> User:
    """Who is signed in: the admin lets nobody in who isn't."""
    return cast(User, request.user)


def _may_all(request: HttpRequest) -> bool:
    return _asker(request).is_superuser
