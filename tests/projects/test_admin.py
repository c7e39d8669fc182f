"""The admin's door to people, projects, members and tokens: it agrees with the services."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects.attempts import A_NAME
from projects.models import AccessToken, Membership, Project, Role, User
from projects.services import change_settings, deactivate_user
from tests.access.looking import store
from tests.admin_client import act, errors, fill, said, signed_in, staff, typed, url
from tests.factories import PASSWORD, ProjectFactory, member, token_for

SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
USER_ADD = reverse("admin:projects_user_add")
PROJECT_ADD = reverse("admin:projects_project_add")
TOKEN_ADD = reverse("admin:projects_accesstoken_add")


def change(row: Any) -> str:
    return url(type(row), "change", row.pk)


# --- accounts ---------------------------------------------------------------------------


def account(**more: Any) -> dict[str, Any]:
    return {
        "username": "dora",
        "email": "dora@example.com",
        "password1": PASSWORD,
        "password2": PASSWORD,
        **more,
    }


def test_an_account_is_created_through_the_service(admin: Client) -> None:
    assert errors(fill(admin, USER_ADD, **account(first_name=" Dora ", time_zone="Europe/Berlin"))) == {}
    dora = User.objects.get(username="dora")
    assert dora.check_password(PASSWORD)
    assert (dora.first_name, dora.time_zone, dora.is_staff) == (" Dora ", "Europe/Berlin", False)


@pytest.mark.parametrize(
    ("typed", "fields"),
    [
        ({"username": ""}, {"username"}),
        ({"username": "ROOT"}, {"username"}),
        ({"username": "x" * 41}, {"username"}),
        ({"username": "a b"}, {"username"}),
        ({"username": "do\x00ra"}, {"username"}),
        ({"first_name": "a\x07b"}, {"first_name"}),
        ({"first_name": SECRET}, {"first_name"}),
        ({"first_name": "x" * 151}, {"first_name"}),
        ({"email": "nobody"}, {"email"}),
        ({"time_zone": "Mars/Base"}, {"time_zone"}),
        ({"password1": "", "password2": ""}, {"password1", "password2"}),
        ({"password1": "short", "password2": "short"}, {"password1"}),
        ({"password2": "another one entirely"}, {"password2"}),
        (
            {"username": "a b", "email": "x", "time_zone": "x", "password2": "y"},
            {"username", "email", "time_zone", "password2"},
        ),
    ],
)
def test_a_bad_account_names_every_bad_field(admin: Client, typed: dict[str, Any], fields: set[str]) -> None:
    before = store()
    response = fill(admin, USER_ADD, **account(**typed))
    assert set(errors(response)) == fields
    assert store() == before
    for name, value in typed.items():
        assert response.context["adminform"].form[name].value() == value
    for password in (PASSWORD, "another one entirely"):
        assert password.encode() not in response.content


def test_an_account_is_changed_and_an_untouched_form_changes_nothing(admin: Client, charlie: User) -> None:
    before = {name: rows for name, rows in store().items() if "logentry" not in name}
    assert errors(fill(admin, change(charlie))) == {}
    assert {name: rows for name, rows in store().items() if "logentry" not in name} == before
    sent = {"email": "new@example.com", "time_zone": "Asia/Tokyo", "is_staff": "on"}
    assert errors(fill(admin, change(charlie), **sent)) == {}
    charlie.refresh_from_db()
    assert (charlie.email, charlie.time_zone, charlie.is_staff) == ("new@example.com", "Asia/Tokyo", True)
    assert charlie.check_password(PASSWORD)
    found = errors(fill(admin, change(charlie), username="ROOT", time_zone="x", first_name="a\x07b"))
    assert set(found) == {"username", "time_zone", "first_name"}


def test_accounts_are_closed_and_opened(admin: Client, root: User, charlie: User, bob: User) -> None:
    assert errors(fill(admin, change(charlie), is_active=None)) == {}
    charlie.refresh_from_db()
    assert not charlie.is_active
    assert errors(fill(admin, change(charlie), is_active="on")) == {}
    answer = said(act(admin, User, "deactivate", charlie, root, bob))
    assert "2 deactivated." in answer
    assert any("your own account" in sentence for sentence in answer)
    assert "1 reactivated." in said(act(admin, User, "reactivate", bob))
    assert [User.objects.get(pk=user.pk).is_active for user in (charlie, root, bob)] == [False, True, True]


def test_nobody_closes_their_own_account_by_the_form(admin: Client, root: User) -> None:
    found = errors(fill(admin, change(root), is_active=None, email="x@example.com"))
    assert "your own account" in found["__all__"][0]
    root.refresh_from_db()
    assert (root.is_active, root.email) == (True, "root@example.com")


def test_a_password_is_changed_through_the_service(admin: Client, charlie: User) -> None:
    address = reverse("admin:auth_user_password_change", args=(charlie.pk,))
    for new, again in (("short", "short"), ("", ""), (PASSWORD + "1", PASSWORD + "2")):
        assert admin.post(address, {"password1": new, "password2": again}).status_code == 200
    # An account without a password would be one that nobody could use.
    admin.post(address, {"password1": "", "password2": "", "usable_password": "false"})
    charlie.refresh_from_db()
    assert charlie.check_password(PASSWORD)
    new = "another correct horse"
    assert admin.post(address, {"password1": new, "password2": new}).status_code == 302
    charlie.refresh_from_db()
    assert charlie.check_password(new)


def test_rights_in_the_admin_are_given_by_superusers_alone(admin: Client, root: User, charlie: User) -> None:
    group = Group.objects.create(name="curators")
    permission = Permission.objects.get(codename="view_memory")
    sent = {"is_staff": "on", "groups": [group.pk], "user_permissions": [permission.pk]}
    assert errors(fill(admin, change(charlie), **sent)) == {}
    assert list(charlie.groups.all()) == [group]
    assert list(charlie.user_permissions.all()) == [permission]
    clerk = signed_in(staff("clerk", "projects.change_user", "projects.add_user", "projects.view_user"))
    more = {"is_superuser": "on", "is_staff": "on"}
    assert errors(fill(clerk, change(charlie), **more, email="c@example.com")) == {}
    assert errors(fill(clerk, USER_ADD, **account(**more))) == {}
    charlie.refresh_from_db()
    assert (charlie.email, charlie.is_superuser, charlie.groups.count()) == ("c@example.com", False, 1)
    assert not User.objects.get(username="dora").is_superuser


def test_only_a_superuser_touches_a_superuser(root: User) -> None:
    clerk = signed_in(staff("clerk", "projects.change_user", "projects.view_user"))
    password = reverse("admin:auth_user_password_change", args=(root.pk,))
    new = {"password1": "another correct horse", "password2": "another correct horse"}
    assert clerk.post(password, new).status_code == 403
    assert clerk.post(change(root), {"email": "x@example.com"}).status_code == 403
    assert "Only a superuser" in said(act(clerk, User, "deactivate", root))[0]
    root.refresh_from_db()
    assert root.is_active
    assert root.check_password(PASSWORD)


# --- projects ----------------------------------------------------------------------------


def test_a_project_is_created_with_its_owner(admin: Client, charlie: User) -> None:
    sent = {"slug": "quay", "name": " The Quay ", "owner": charlie.pk, "recall_budget": 9000}
    assert errors(fill(admin, PROJECT_ADD, **sent)) == {}
    project = Project.objects.get(slug="quay")
    assert (project.name, project.recall_budget) == (" The Quay ", 9000)
    membership = project.memberships.get()
    assert (membership.user, membership.role) == (charlie, Role.OWNER)
    assert project.review_policy == "agents"


def test_a_new_project_is_asked_who_works_in_it(admin: Client, charlie: User) -> None:
    sent = {"slug": "quay", "name": "Quay", "owner": charlie.pk}
    assert set(errors(fill(admin, PROJECT_ADD, **sent, works_in="everyone"))) == {"works_in"}
    assert errors(fill(admin, PROJECT_ADD, **sent, works_in="none")) == {}
    assert Project.objects.get(slug="quay").review_policy == "none"


@pytest.mark.parametrize(
    ("typed", "fields"),
    [
        ({"slug": "Not a slug", "owner": ""}, {"slug", "owner"}),
        ({"slug": "harbor"}, {"slug"}),
        ({"slug": "x" * 51}, {"slug"}),
        ({"slug": ""}, {"slug"}),
        ({"name": ""}, {"name"}),
        ({"name": "   "}, {"name"}),
        ({"name": "a\x00b"}, {"name"}),
        ({"name": "a\x1bb"}, {"name"}),
        ({"name": "a\u2028b"}, {"name"}),
        ({"name": SECRET}, {"name"}),
        ({"name": "x" * 201}, {"name"}),
        ({"recall_budget": "many", "critical_target": "-1"}, {"recall_budget", "critical_target"}),
        ({"recall_budget": "499", "hygiene_threshold": "101"}, {"recall_budget", "hygiene_threshold"}),
        ({"stale_after_days": "99999999999999999999"}, {"stale_after_days"}),
        ({"default_visibility": "some", "recall_mode": "x"}, {"default_visibility", "recall_mode"}),
        ({"owner": "999999"}, {"owner"}),
        ({"owner": "x", "name": "a\x1bb", "slug": "A"}, {"owner", "name", "slug"}),
    ],
)
def test_a_bad_project_names_every_bad_field(
    admin: Client, project: Project, charlie: User, typed: dict[str, Any], fields: set[str]
) -> None:
    before = store()
    good = {"slug": "quay", "name": "Quay", "owner": charlie.pk}
    assert set(errors(fill(admin, PROJECT_ADD, **{**good, **typed}))) == fields
    assert store() == before
    of_settings = {name: value for name, value in typed.items() if name not in ("slug", "owner")}
    if of_settings:
        assert set(errors(fill(admin, change(project), **of_settings))) == fields - {"slug", "owner"}
        assert store() == before


def test_a_slug_never_changes_and_settings_do(admin: Client, project: Project) -> None:
    sent = {"slug": "other", "name": "Harbour", "review_policy": "everyone"}
    assert errors(fill(admin, change(project), **sent)) == {}
    project.refresh_from_db()
    assert (project.slug, project.name, project.review_policy) == ("harbor", "Harbour", "everyone")
    assert project.change_counter == 1


def test_what_somebody_else_changed_meanwhile_stays(admin: Client, project: Project) -> None:
    """The page was opened before: what it sends back unchanged is no change, and a collision is one."""
    form = admin.get(change(project)).context["adminform"].form
    opened = typed(form)
    change_settings(by=None, project=project, fields={"recall_budget": 9000})
    assert errors(admin.post(change(project), {**opened, "critical_target": 9})) == {}
    project.refresh_from_db()
    assert (project.recall_budget, project.critical_target) == (9000, 9)
    refused = admin.post(change(project), {**opened, "critical_target": 9, "recall_budget": 7000})
    assert "it is now: 9000" in errors(refused)["recall_budget"][0]
    project.refresh_from_db()
    assert project.recall_budget == 9000


def test_projects_are_archived_and_restored(admin: Client, project: Project) -> None:
    assert "1 archived." in said(act(admin, Project, "archive", project))
    project.refresh_from_db()
    assert project.is_archived
    assert "1 restored." in said(act(admin, Project, "restore", project))
    project.refresh_from_db()
    assert not project.is_archived


def test_staff_without_the_role_change_no_project(project: Project, alice: User) -> None:
    outsider = signed_in(staff("outsider", "projects.change_project", "projects.view_project"))
    assert errors(fill(outsider, change(project), name="Mine"))["__all__"]
    assert "archived." not in said(act(outsider, Project, "archive", project))[0]
    project.refresh_from_db()
    assert (project.name, project.is_archived) == ("Harbor API", False)


# --- all of them -----------------------------------------------------------------------------


@pytest.mark.parametrize("model", [User, Project, AccessToken])
def test_nothing_is_deleted(admin: Client, project: Project, bob: User, model: Any) -> None:
    token_for(bob, project)
    row = model.objects.order_by("pk").last()
    for ask in (admin.get, lambda address: admin.post(address, {"post": "yes"})):
        assert ask(url(model, "delete", row.pk)).status_code == 403
    act(admin, model, "delete_selected", row)
    assert model.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("model", [User, Project, Membership, AccessToken])
@pytest.mark.parametrize(
    "query", ["q=%00", "q=x", "active=x", "project=%00", "role=%00", "revoked=yes", "staff=no"]
)
def test_made_up_filters_break_nothing(
    admin: Client, project: Project, bob: User, model: Any, query: str
) -> None:
    assert admin.get(f"{url(model, 'changelist')}?{query}").status_code in (200, 302, 400)


@pytest.mark.parametrize(
    "lookup", ["password__startswith=p", "access_tokens__digest__startswith=a", "memories=1"]
)
def test_no_lookup_reads_secrets(admin: Client, lookup: str) -> None:
    assert admin.get(f"{url(User, 'changelist')}?{lookup}").status_code == 400


def test_lists_cost_the_same_with_3_rows_as_with_23(admin: Client, root: User) -> None:
    def rows(many: int) -> None:
        for n in range(many):
            project = ProjectFactory()
            user = member(project, f"{project.slug}-{n}")
            token_for(user, project)

    def cost(model: Any) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert admin.get(url(model, "changelist")).status_code == 200
        return len(queries)

    models = [User, Project, Membership, AccessToken]
    rows(3)
    admin.get(url(User, "changelist"))
    few = [cost(model) for model in models]
    rows(20)
    assert [cost(model) for model in models] == few
    assert max(few) <= 20


def test_a_closed_account_leaves_the_admin(admin: Client, root: User) -> None:
    deactivate_user(by=None, user=root)
    assert admin.get(url(User, "changelist")).status_code == 302


def test_forms_need_nothing_that_the_content_policy_forbids(
    admin: Client, project: Project, bob: User
) -> None:
    row = Membership.objects.get(user=bob)
    for address in (
        USER_ADD,
        change(bob),
        PROJECT_ADD,
        change(project),
        change(row),
        TOKEN_ADD,
        reverse("admin:auth_user_password_change", args=(bob.pk,)),
        reverse("admin:index"),
    ):
        html = admin.get(address).content.decode()
        assert " style=" not in html
        assert "<style" not in html
        assert " onclick=" not in html
        assert html.count("<script") == html.count("<script src=") + html.count('<script id="django-admin-')


def test_a_body_over_the_limit_is_413(admin: Client, project: Project) -> None:
    assert admin.post(change(project), {"name": "x" * 10_000_000}).status_code == 413


def test_guessing_passwords_at_the_admin_is_bounded_as_at_the_hub_s_own_page(root: User) -> None:
    client, page = Client(), reverse("admin:login")
    typed = {"username": "root", "password": "guess"}
    answers = [client.post(page, typed).status_code for _ in range(A_NAME)]
    assert set(answers) == {200}
    assert client.post(page, {**typed, "password": PASSWORD}).status_code == 429
    assert client.post(reverse("projects:sign_in"), typed).status_code == 429


def test_dates_are_iso(admin: Client, project: Project) -> None:
    assert f"{project.created_at:%Y-%m-%d %H:%M}" in admin.get(change(project)).content.decode()
