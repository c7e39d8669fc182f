"""The pages of members, projects and tokens: who sees what, who changes what, and what is said first."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from memoryhub.kernel import tokens
from projects.attempts import A_NAME, attempts
from projects.models import AccessToken, Membership, Project, Role, User
from projects.services import (
    add_member,
    archive_project,
    change_role,
    create_project,
    deactivate_user,
    remove_member,
)
from tests.access.looking import plain
from tests.admin_client import signed_in
from tests.factories import (
    PASSWORD,
    MemoryFactory,
    ProjectFactory,
    UserFactory,
    agent,
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
    with django_assert_num_queries(14):
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


# --- tokens ---------------------------------------------------------------------------------


def test_my_tokens_are_those_of_all_my_projects_and_nobody_elses(
    client: Client, project: Project, bob: User, alice: User
) -> None:
    other, left = ProjectFactory(slug="other", name="Other"), ProjectFactory(slug="left", name="Left")
    add_member(by=None, project=other, user=bob, role=Role.READER)
    row = add_member(by=None, project=left, user=bob, role=Role.READER)
    hers, _ = token_for(alice, project)
    token_for(bob, left, project)
    remove_member(by=None, membership=row)
    client.force_login(bob)
    page = text(client.get("/tokens/"))
    assert hers.public_part not in page
    assert "Left" not in page
    given = {"name": "both", "projects": ["harbor", "other"], "rights": ["read", "write"]}
    made = client.post("/tokens/", given)
    assert "no-store" in made["Cache-Control"]
    (secret,) = set(tokens.PATTERN.findall(text(made)))
    assert secret not in text(client.get("/tokens/"))
    assert "/mcp --header" in text(made).replace("&quot;", '"')
    assert not Agent(secret, path="/mcp/p/other").call("memory_recall").is_error
    for bad in ({**given, "projects": ["left"]}, {**given, "projects": []}, {**given, "rights": ["review"]}):
        assert client.post("/tokens/", bad).status_code == 422
    mine = AccessToken.objects.get(name="both")
    assert client.post(f"/tokens/{hers.public_part}/revoke/").status_code == 404
    client.post(f"/tokens/{mine.public_part}/revoke/")
    assert Agent(secret).post("tools/list").status_code == 401
    assert "revoked" in text(client.get("/tokens/"))


def test_an_owner_sees_tokens_of_the_project_and_not_where_else_they_reach(
    project: Project, alice: User, bob: User, rick: User
) -> None:
    elsewhere = ProjectFactory(slug="elsewhere", name="Elsewhere")
    add_member(by=None, project=elsewhere, user=bob, role=Role.READER)
    token, secret = token_for(bob, project, elsewhere)
    owner = signed_in(alice)
    page = text(owner.get("/p/harbor/tokens/"))
    assert token.public_part in page
    assert "bob" in page
    assert "lsewhere" not in page
    assert token.public_part not in text(signed_in(rick).get("/p/harbor/tokens/"))
    there = f"/p/harbor/connect/{token.public_part}/revoke/"
    assert signed_in(rick).post(there).status_code == 404
    assert owner.post(there, {"back": "tokens"})["Location"] == "/p/harbor/tokens/"
    assert Agent(secret).post("tools/list").status_code == 401


@pytest.mark.parametrize("address", ["/tokens/", "/p/harbor/tokens/"])
@pytest.mark.parametrize("many", [3, 60])
def test_tokens_take_as_many_queries_for_many_and_come_in_pages(
    project: Project,
    alice: User,
    address: str,
    many: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    made = AccessToken.objects.bulk_create(
        [AccessToken(user=alice, name=f"t{n}", public_part=f"part{n}", digest="0" * 64) for n in range(many)]
    )
    project.access_tokens.set(made)
    client = signed_in(alice)
    with django_assert_max_num_queries(9):
        response = client.get(address)
    page = response.context["page"]
    assert [len(page.items), bool(page.next_cursor)] == [min(many, 50), many > 50]
    assert len(response.content) < 150_000
    if page.next_cursor:
        assert len(client.get(address, {"cursor": page.next_cursor}).context["page"].items) == 10


# --- the first call -------------------------------------------------------------------------


def test_the_first_call_is_seen_to_arrive(
    project: Project, alice: User, bob: User, rick: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client, htmx = signed_in(bob), {"HX-Request": "true"}
    made = client.post("/p/harbor/connect/", {"name": "laptop", "rights": ["read"]})
    (secret,) = set(tokens.PATTERN.findall(text(made)))
    token = AccessToken.objects.get()
    there = f"/p/harbor/connect/{token.public_part}/first-call/"
    assert "Waiting for the first call" in text(made)
    assert there in text(made)
    assert secret not in there
    client.get("/")
    with django_assert_num_queries(4):  # two of them know who asks
        assert client.get(there, headers=htmx).status_code == 204
    again = f"/p/harbor/connect/?token={token.public_part}"
    assert client.get(there)["Location"] == again
    assert "Waiting for the first call" in text(client.get(again))
    assert signed_in(rick).get(there, headers=htmx).status_code == 404
    Agent(secret).call("memory_recall")
    arrived = client.get(there, headers=htmx)
    assert arrived.status_code == 200
    assert "arrived" in text(arrived)
    assert "hx-trigger" not in text(arrived)
    assert 'id="announcement"' in text(arrived)
    assert "The first call with “laptop” arrived" in text(client.get(again))


def test_waiting_ends_when_the_token_does(project: Project, alice: User, bob: User) -> None:
    token, _ = token_for(bob, project)
    signed_in(alice).post(f"/p/harbor/connect/{token.public_part}/revoke/")
    there = f"/p/harbor/connect/{token.public_part}/first-call/"
    answer = text(signed_in(bob).get(there, headers={"HX-Request": "true"}))
    assert "is revoked: no call with it will arrive" in answer
    assert "hx-trigger" not in answer


# --- the account ----------------------------------------------------------------------------


def test_a_new_password_ends_the_sessions_of_other_browsers(project: Project, bob: User) -> None:
    here, there = Client(), Client()
    for browser in (here, there):
        assert browser.login(username="bob", password=PASSWORD)
    _, secret = token_for(bob, project)
    new = "another battery, horse and staple"
    typed = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    for wrong in (
        {**typed, "old_password": "guess"},
        {**typed, "new_password2": "other"},
        {**typed, "new_password1": "bob", "new_password2": "bob"},
        {},
    ):
        refused = here.post("/profile/password/", wrong)
        assert refused.status_code == 422
        assert "field__error" in text(refused)
        assert new not in text(refused)
    assert there.get("/").status_code == 200
    assert here.post("/profile/password/", typed)["Location"] == "/profile/"
    assert here.get("/").status_code == 200
    assert SESSION_KEY in here.session
    assert there.get("/").status_code == 302
    assert Client().login(username="bob", password=new)
    assert not Agent(secret).call("memory_recall").is_error


def test_the_present_password_cant_be_guessed_at_length(bob: User) -> None:
    client = signed_in(bob)
    typed = {"old_password": "guess", "new_password1": "x", "new_password2": "x"}
    for _ in range(A_NAME - 1):
        attempts.hit(f"password:{bob.pk}", A_NAME)
    assert [client.post("/profile/password/", typed).status_code for _ in range(2)] == [422, 429]


def test_density_is_kept_like_the_theme(client: Client, db: None) -> None:
    assert "data-density" not in text(client.get("/sign-in/"))
    response = client.post("/density/", {"density": "compact", "next": "/sign-in/"})
    assert response["Location"] == "/sign-in/"
    assert client.cookies["density"]["httponly"]
    assert 'data-density="compact"' in text(client.get("/sign-in/"))
    client.cookies["density"] = "evil"
    assert "evil" not in plain(client.get("/sign-in/"))
    assert client.post("/density/", {"density": "x", "next": "https://evil.example"})["Location"] == "/"


def test_an_agents_session_is_named_by_nothing_that_breaks_a_page(project: Project, alice: User) -> None:
    """The address of a session is a query, whatever stands in its id."""
    odd = "a/b?c=d&e=<script>é\u202e #"
    MemoryFactory(project=project, actor=agent(alice, odd), title="Pelican")
    client = signed_in(alice)
    page = text(client.get("/p/harbor/activity/"))
    assert "<script>é" not in page
    address = page[page.index("/p/harbor/activity/session/?id=") :].split('"')[0]
    assert "Pelican" in text(client.get(address))
