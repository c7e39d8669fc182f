"""The admin's door to members and access tokens."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from memoryhub.kernel import tokens
from projects.models import AccessToken, Membership, Project, Role, User
from tests.access.looking import store
from tests.admin_client import act, errors, fill, grant, said, signed_in, staff, url
from tests.factories import MembershipFactory, token_for
from tests.mcp_client import Agent

SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
MEMBER_ADD = reverse("admin:projects_membership_add")
TOKEN_ADD = reverse("admin:projects_accesstoken_add")


def change(row: Any) -> str:
    return url(type(row), "change", row.pk)


# --- members -----------------------------------------------------------------------------


def test_members_are_added_changed_and_removed(
    admin: Client, project: Project, alice: User, charlie: User
) -> None:
    sent = {"project": project.pk, "user": charlie.pk, "role": "reader"}
    assert errors(fill(admin, MEMBER_ADD, **sent)) == {}
    assert "already" in errors(fill(admin, MEMBER_ADD, **sent))["user"][0]
    membership = Membership.objects.get(user=charlie)
    assert errors(fill(admin, change(membership), role="reviewer", user=alice.pk)) == {}
    membership.refresh_from_db()
    assert (membership.role, membership.user) == ("reviewer", charlie)
    assert "role" in errors(fill(admin, change(membership), role="king"))
    delete = url(Membership, "delete", membership.pk)
    assert admin.get(delete).status_code == 200
    assert admin.post(delete, {"post": "yes"}).status_code == 302
    assert not Membership.objects.filter(user=charlie).exists()


def test_the_last_owner_stays(admin: Client, project: Project, alice: User, bob: User) -> None:
    owner = Membership.objects.get(user=alice)
    assert "needs an owner" in errors(fill(admin, change(owner), role="reader"))["__all__"][0]
    answer = admin.post(url(Membership, "delete", owner.pk), {"post": "yes"}, follow=True)
    assert "needs an owner" in said(answer)[0]
    answer = said(act(admin, Membership, "remove", owner, Membership.objects.get(user=bob)))
    assert "1 removed." in answer
    assert any("needs an owner" in sentence for sentence in answer)
    assert list(Membership.objects.values_list("user", "role")) == [(alice.pk, "owner")]


def test_staff_manage_the_members_of_what_they_own(project: Project, alice: User, charlie: User) -> None:
    rights = [f"projects.{what}_membership" for what in ("add", "change", "delete", "view")]
    outsider = signed_in(staff("outsider", *rights))
    sent = {"project": project.pk, "user": charlie.pk, "role": "owner"}
    assert "harbor" in errors(fill(outsider, MEMBER_ADD, **sent))["__all__"][0]
    answer = outsider.post(url(Membership, "delete", Membership.objects.get(user=alice).pk), {"post": "yes"})
    assert answer.status_code == 302
    assert Membership.objects.filter(user=alice).exists()
    alice.is_staff = True
    alice.save()
    grant(alice, *rights)
    assert errors(fill(signed_in(alice), MEMBER_ADD, **sent)) == {}


# --- access tokens --------------------------------------------------------------------------


def token_form(user: User, project: Project, **more: Any) -> dict[str, Any]:
    return {"user": user.pk, "name": "laptop", "projects": [project.pk], "rights": ["read"], **more}


def test_a_secret_is_shown_once(admin: Client, project: Project, bob: User) -> None:
    response = fill(admin, TOKEN_ADD, **token_form(bob, project))
    assert errors(response) == {}
    page = admin.get(response["Location"])
    text = next(sentence for sentence in said(page) if "shown this once" in sentence).split()[-1]
    token = AccessToken.objects.get()
    assert tokens.matches(text, token.digest)
    assert (token.user, token.rights, list(token.projects.all())) == (bob, ["read"], [project])
    assert Agent(text).call("project_overview").json["project"] == "harbor"
    for address in (response["Location"], change(token), url(AccessToken, "history", token.pk)):
        shown = admin.get(address).content.decode()
        assert text not in shown
        assert token.digest not in shown
    assert text not in str(list(LogEntry.objects.values()))


@pytest.mark.parametrize(
    ("typed", "fields"),
    [
        ({"name": ""}, {"name"}),
        ({"name": " "}, {"name"}),
        ({"name": "x" * 81}, {"name"}),
        ({"name": "a\x00b"}, {"name"}),
        ({"name": "a\x1bb"}, {"name"}),
        ({"name": SECRET}, {"name"}),
        ({"rights": []}, {"rights"}),
        ({"rights": ["rule"]}, {"rights"}),
        ({"projects": []}, {"projects"}),
        ({"projects": ["x"]}, {"projects"}),
        ({"expires_at_0": "2001-01-01", "expires_at_1": "10:00"}, {"expires_at"}),
        ({"expires_at_0": "soon", "expires_at_1": ""}, {"expires_at"}),
        ({"user": ""}, {"user"}),
        (
            {"user": "", "name": "a\x1bb", "rights": [], "projects": []},
            {"user", "name", "rights", "projects"},
        ),
    ],
)
def test_a_bad_token_names_every_bad_field(
    admin: Client, project: Project, bob: User, typed: dict[str, Any], fields: set[str]
) -> None:
    before = store()
    assert set(errors(fill(admin, TOKEN_ADD, **{**token_form(bob, project), **typed}))) == fields
    assert store() == before


def test_a_token_is_for_a_project_of_its_user(admin: Client, project: Project, charlie: User) -> None:
    assert "harbor" in errors(fill(admin, TOKEN_ADD, **token_form(charlie, project)))["__all__"][0]
    assert not AccessToken.objects.exists()


def test_a_token_is_revoked_and_never_edited_or_deleted(admin: Client, project: Project, bob: User) -> None:
    token, text = token_for(bob, project)
    assert admin.get(change(token)).status_code == 200
    assert admin.post(change(token), {"name": "other"}).status_code == 403
    assert admin.post(url(AccessToken, "delete", token.pk), {"post": "yes"}).status_code == 403
    assert "1 revoked." in said(act(admin, AccessToken, "revoke", token))
    assert Agent(text).post("tools/list").status_code == 401


def test_staff_make_tokens_for_themselves_and_see_those_they_may_revoke(
    project: Project, alice: User, bob: User
) -> None:
    others, _ = token_for(bob, project)
    rights = [f"projects.{what}_accesstoken" for what in ("add", "change", "view")]
    clerk = staff("clerk", *rights)
    MembershipFactory(project=project, user=clerk, role=Role.READER)
    client = signed_in(clerk)
    assert "user" in errors(fill(client, TOKEN_ADD, **token_form(bob, project)))
    assert errors(fill(client, TOKEN_ADD, **token_form(clerk, project))) == {}
    rows = client.get(url(AccessToken, "changelist")).context["cl"].result_list
    assert [token.user for token in rows] == [clerk]
    assert client.get(change(others)).status_code == 302
    act(client, AccessToken, "revoke", others)
    others.refresh_from_db()
    assert not others.is_revoked
