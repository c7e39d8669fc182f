"""The pages of members, projects and tokens: who sees what, who changes what, and what is said first."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from projects.models import Membership, Project, Role, User
from projects.services import (
    archive_project,
    change_role,
    create_project,
    deactivate_user,
    remove_member,
)
from tests.admin_client import signed_in
from tests.factories import (
    MembershipFactory,
    MemoryFactory,
    ProjectFactory,
    UserFactory,
    member,
    receipt_in,
    token_for,
)
from tests.mcp_client import Agent
from tests.threads import at_once, errors

pytestmark = pytest.mark.django_db

MEMBERS = "/p/harbor/members/"


def role(user: User, project: Project) -> str | None:
    return Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()


def text(response: Any) -> str:
    return response.content.decode()


# --- members -----------------------------------------------------------------------------


def test_every_member_sees_who_is_in_it_and_owners_alone_change_it(
    project: Project, alice: User, rita: User, bob: User, rick: User, charlie: User
) -> None:
    change = {"user": "charlie", "role": "reader"}
    for user in (rita, bob, rick):
        client = signed_in(user)
        page = text(client.get(MEMBERS))
        assert all(name in page for name in ("alice", "rita", "bob", "rick"))
        assert "Add a member" not in page
        assert client.post(MEMBERS, change).status_code == 403
        assert client.get(f"{MEMBERS}@bob/").status_code == 403
        assert client.post(f"{MEMBERS}@bob/", {"role": "owner"}).status_code == 403
        assert client.post(f"{MEMBERS}@bob/remove/").status_code == 403
    stranger = signed_in(charlie)
    for address in (MEMBERS, f"{MEMBERS}@bob/", f"{MEMBERS}@bob/remove/"):
        assert stranger.post(address, change).status_code == 404
    assert {role(user, project) for user in (rita, bob, rick)} == {"reviewer", "contributor", "reader"}
    assert role(charlie, project) is None
    owner = signed_in(alice)
    assert "Add a member" in text(owner.get(MEMBERS))
    for wrong in ("nobody", "member\x00", "\u202ecod"):
        assert owner.get(f"{MEMBERS}@{wrong}/").status_code == 404


def test_a_member_is_added_by_name_sees_the_project_and_is_let_go(
    project: Project, alice: User, charlie: User
) -> None:
    owner, new = signed_in(alice), signed_in(charlie)
    memory = MemoryFactory(project=project, title="Pelican")
    there = f"/p/harbor/memories/{memory.number}/"
    assert new.get(there).status_code == 404
    response = owner.post(MEMBERS, {"user": "CHARLIE", "role": "contributor"}, follow=True)
    assert "charlie is a contributor now" in text(response)
    assert "Pelican" in text(new.get(there))
    assert "Harbor API" in text(new.get("/"))
    token, secret = token_for(charlie, project)
    page = text(owner.get(f"{MEMBERS}@charlie/"))
    assert "private memories stay theirs" in page
    assert "1 token of theirs opens nothing here" in page
    assert text(owner.get(MEMBERS)).count("1 token") == 1
    owner.post(f"{MEMBERS}@charlie/", {"role": "reader"})
    assert role(charlie, project) == "reader"
    owner.post(f"{MEMBERS}@charlie/remove/")
    assert new.get(there).status_code == 404
    assert Agent(secret, path="/mcp/p/harbor").post("tools/list").status_code == 404
    assert token.public_part not in text(owner.get("/p/harbor/members/"))


@pytest.mark.parametrize(
    "given",
    [
        {"user": "nobody", "role": "reader"},
        {"user": "bob", "role": "reader"},
        {"user": "closed", "role": "reader"},
        {"user": "charlie", "role": "king"},
        {"user": "", "role": "reader"},
        {"user": "a\x00b", "role": "reader"},
        {"user": "x" * 41, "role": "reader"},
        {"user": "<script>alert(1)</script>", "role": "reader"},
        {},
    ],
)
def test_what_is_no_member_to_be_is_refused_at_its_field(
    project: Project, alice: User, bob: User, charlie: User, given: dict[str, str]
) -> None:
    deactivate_user(by=None, user=UserFactory(username="closed"))
    response = signed_in(alice).post(MEMBERS, given)
    assert response.status_code == 422
    page = text(response)
    assert "field__error" in page
    assert "<script>alert" not in page
    assert Membership.objects.filter(project=project).count() == 2


def test_the_last_owner_cant_go_and_can_when_there_is_another(
    project: Project, alice: User, bob: User
) -> None:
    owner = signed_in(alice)
    refused = owner.post(f"{MEMBERS}@alice/", {"role": "reader"})
    assert refused.status_code == 422
    refused = owner.post(f"{MEMBERS}@alice/remove/")
    assert refused.status_code == 422
    assert "A project needs an owner. Make somebody else one first." in text(refused)
    owner.post(f"{MEMBERS}@bob/", {"role": "owner"})
    assert "You left Harbor API." in text(owner.post(f"{MEMBERS}@alice/remove/", follow=True))
    assert role(alice, project) is None
    assert owner.get(MEMBERS).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_act_on_each_other_at_once_leave_one() -> None:
    """Whoever comes second is no owner any more, and is told so."""

    def demote(by: User, row: Membership) -> Any:
        return change_role(by=by, membership=row, role="reader")

    def remove(by: User, row: Membership) -> Any:
        return remove_member(by=by, membership=row)

    for n in range(6):
        place = ProjectFactory()
        owners = [member(place, f"owner{n}x{m}", Role.OWNER) for m in range(2)]
        rows = [owner.memberships.get() for owner in owners]
        verb = demote if n % 2 else remove
        results = at_once(2, lambda m, o=owners, r=rows, v=verb: v(o[m], r[1 - m]))
        (refused,) = errors(results)
        assert type(refused).__name__ in ("NoSuchProject", "RoleTooLow"), refused
        assert Membership.objects.filter(project=place, role=Role.OWNER).count() == 1


def test_what_a_member_wrote_in_private_doesnt_show_that_they_wrote(
    project: Project, alice: User, bob: User
) -> None:
    MemoryFactory(project=project, author=bob, visibility="private")
    assert text(signed_in(alice).get(MEMBERS)).count("wrote nothing yet") == 2
    assert text(signed_in(bob).get(MEMBERS)).count("wrote nothing yet") == 1
    receipt_in(project, bob)
    assert text(signed_in(alice).get(MEMBERS)).count("wrote nothing yet") == 1


@pytest.mark.parametrize("many", [3, 130])
def test_members_take_as_many_queries_for_many_and_come_in_pages(
    project: Project, alice: User, many: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    people = User.objects.bulk_create([User(username=f"m{n:03}") for n in range(many)])
    Membership.objects.bulk_create([Membership(project=project, user=user) for user in people])
    client = signed_in(alice)
    with django_assert_num_queries(15):
        response = client.get(MEMBERS)
    seen = text(response)
    assert len(seen) < 150_000
    cursor = response.context["page"].next_cursor
    assert bool(cursor) == (many > 100)
    if cursor:
        rest = text(client.get(MEMBERS, {"cursor": cursor}))
        assert "m129" in rest
        assert "m129" not in seen
        assert "alice" in text(client.get(MEMBERS, {"cursor": "x" + cursor}))


def test_a_members_tokens_come_in_pages_and_all_are_counted(
    project: Project, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projects.tokens.PAGE", 2)
    for _ in range(3):
        token_for(bob, project)
    token_for(bob, MembershipFactory(user=bob).project)
    owner, here = signed_in(alice), f"{MEMBERS}@bob/"
    page = text(owner.get(here))
    assert "3 tokens of theirs open nothing here" in page
    assert page.count("row--token") == 2
    following = re.search(r'rel="next" href="[^"?]*(\?cursor=[^"]+)"', page)
    assert following
    assert text(owner.get(here + following.group(1))).count("row--token") == 1
    # A cursor is of one member's.
    token_for(alice, project)
    assert owner.get(f"{MEMBERS}@alice/{following.group(1)}").context["page"].is_first


# --- making a project ----------------------------------------------------------------------


def test_somebody_makes_a_project_and_says_who_works_in_it(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert "Make a project" in text(client.get("/"))
    made = client.post("/projects/new/", {"name": "Harbor: the API", "works_in": "none"})
    assert made["Location"] == "/p/harbor-the-api/connect/"
    client.post("/projects/new/", {"name": "Quay", "slug": "pier", "works_in": "agents"})
    rows = Project.objects.values_list("slug", "review_policy", "memberships__user", "memberships__role")
    assert list(rows.order_by("slug")) == [
        ("harbor-the-api", "none", charlie.pk, "owner"),
        ("pier", "agents", charlie.pk, "owner"),
    ]
    archive_project(by=charlie, project=Project.objects.get(slug="pier"))
    again = client.post("/projects/new/", {"name": "Quay", "slug": "pier", "works_in": "agents"})
    assert again.status_code == 422
    assert "A project has this slug already, or had it." in text(again)


@pytest.mark.parametrize(
    ("given", "bad"),
    [
        ({"name": "", "works_in": "none"}, {"name"}),
        ({"name": "N", "works_in": "everyone"}, {"works_in"}),
        ({"name": "N"}, {"works_in"}),
        ({"name": "日本", "works_in": "none"}, {"slug"}),
        ({"name": "N", "slug": "A b", "works_in": "none"}, {"slug"}),
        ({"name": "a\u2028b", "slug": "a", "works_in": "none"}, {"name"}),
        ({"name": "x" * 201, "slug": "x" * 51, "works_in": ""}, {"name", "slug", "works_in"}),
    ],
)
def test_a_bad_new_project_names_its_fields(
    client: Client, charlie: User, given: dict[str, str], bad: set[str]
) -> None:
    client.force_login(charlie)
    response = client.post("/projects/new/", given)
    assert response.status_code == 422
    assert set(response.context["form"].errors) == bad
    assert not Project.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_slug_that_two_ask_for_at_once_is_one_s(transactional_db: None) -> None:
    owner = UserFactory()
    made = at_once(4, lambda n: create_project(slug="pier", name=f"N{n}", owner=owner))
    assert [set(error.details["fields"]) for error in errors(made)] == [{"slug"}] * 3
    assert Project.objects.count() == Membership.objects.count() == 1
