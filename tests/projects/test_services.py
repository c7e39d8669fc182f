"""Projects, members, tokens and accounts: who may do what, every bad field at once, nothing half written."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.db import IntegrityError
from django.utils import timezone

from memoryhub.kernel import tokens
from memoryhub.kernel.errors import DomainError, Forbidden, Invalid, NotFound, SecretDetected
from projects.models import AccessToken, Membership, Project, Role, User
from projects.services import (
    add_member,
    archive_project,
    change_account,
    change_password,
    change_role,
    change_settings,
    create_project,
    create_token,
    create_user,
    deactivate_user,
    note_token_use,
    reactivate_user,
    remove_member,
    restore_project,
    revoke_token,
    role_of,
)
from projects.signing_in import token_of
from tests.factories import PASSWORD, ProjectFactory, UserFactory, member, token_for
from tests.threads import at_once, errors

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def named(act: Any, *args: Any, **given: Any) -> set[str]:
    with pytest.raises((Invalid, SecretDetected)) as refused:
        act(*args, **given)
    return set(refused.value.details.get("fields", {}))


def membership(user: User, project: Project) -> Membership:
    return Membership.objects.get(user=user, project=project)


# --- Projects


def test_a_new_project_has_its_defaults_and_an_owner(charlie: User) -> None:
    project = create_project(slug="harbor", name="Harbor API", owner=charlie)
    assert role_of(charlie, project) is Role.OWNER
    assert {name: getattr(project, name) for name in Project.SETTINGS} == {
        "recall_budget": 6000,
        "recall_mode": "auto",
        "grouping_threshold": 25,
        "critical_target": 7,
        "hygiene_threshold": 70,
        "session_summary_days": 14,
        "session_summary_action": "lower",
        "stale_after_days": 90,
        "checkpoint_stale_hours": 168,
        "default_visibility": "shared",
        "review_policy": "agents",
        "review_needs_second_person": False,
    }
    assert (project.last_number, project.change_counter, project.is_archived) == (0, 0, False)


@pytest.mark.parametrize(
    "slug",
    [
        "",
        "A",
        "a_b",
        "-a",
        "a-",
        "a--b",
        "a b",
        "é",
        "a/b",
        "a.b",
        "x" * 51,
        "a\n",
        "a\x00",
        "\ud800",
        None,
        "%",
    ],
    ids=ascii,
)
def test_a_slug_is_lower_case_words_with_hyphens(charlie: User, slug: Any) -> None:
    assert named(create_project, slug=slug, name="N", owner=charlie) == {"slug"}
    assert not Project.objects.exists()


def test_a_slug_is_used_once(charlie: User, project: Project) -> None:
    assert named(create_project, slug=project.slug, name="N", owner=charlie) == {"slug"}
    archive_project(by=None, project=project)
    assert named(create_project, slug=project.slug, name="N", owner=charlie) == {"slug"}
    create_project(slug="x" * 50, name="N" * 200, owner=charlie)


@pytest.mark.parametrize(
    "name", ["", "  ", "a\nb", "a\u2028b", "\x00", "\ud800", "N" * 201, None, f"x {SECRET}"], ids=ascii
)
def test_a_name_is_one_line_without_a_secret(alice: User, project: Project, name: Any) -> None:
    assert named(create_project, slug="another", name=name, owner=alice) == {"name"}
    assert named(change_settings, by=alice, project=project, fields={"name": name}) == {"name"}
    assert Project.objects.get().name == "Harbor API"


def test_every_bad_field_of_a_new_project_is_named(charlie: User) -> None:
    bad = {"recall_budget": 499, "grouping_threshold": 0, "default_visibility": "secret"}
    got = named(create_project, slug="A", name="", owner=charlie, review_policy="nobody", **bad)
    assert got == {"slug", "name", "review_policy", *bad}


EDGES = [
    ("recall_budget", 500, 499),
    ("recall_budget", 50_000, 50_001),
    ("grouping_threshold", 1, 0),
    ("grouping_threshold", 1000, 1001),
    ("critical_target", 1, 0),
    ("critical_target", 100, 101),
    ("hygiene_threshold", 0, -1),
    ("hygiene_threshold", 100, 101),
    ("session_summary_days", 1, 0),
    ("stale_after_days", 3650, 3651),
    ("checkpoint_stale_hours", 87_600, 87_601),
    ("recall_mode", "grouped", "Grouped"),
    ("session_summary_action", "bag", "delete"),
    ("default_visibility", "private", ""),
    ("review_policy", "everyone", None),
    ("review_needs_second_person", True, "maybe"),
    ("recall_budget", 6000, "many"),
    ("recall_budget", 6000, None),
    ("recall_budget", 6000, []),
]


@pytest.mark.parametrize(("field", "good", "bad"), EDGES)
def test_settings_at_their_edges(alice: User, project: Project, field: str, good: Any, bad: Any) -> None:
    fields = {field: bad, "name": "Another"}
    assert named(change_settings, by=alice, project=project, fields=fields) == {field}
    assert Project.objects.get().name == "Harbor API"
    before = Project.objects.get().change_counter
    changed = change_settings(by=alice, project=project, fields={field: good})
    assert getattr(changed, field) == good
    assert changed.change_counter == before + 1


@pytest.mark.parametrize("field", ["slug", "last_number", "change_counter", "colour", "archived_at"])
def test_what_is_no_setting_is_not_changed(alice: User, project: Project, field: str) -> None:
    assert named(change_settings, by=alice, project=project, fields={field: 5}) == {field}
    assert Project.objects.get().slug == "harbor"


def test_only_owners_change_archive_and_restore(
    alice: User, bob: User, rita: User, rick: User, charlie: User, project: Project
) -> None:
    erin = member(ProjectFactory(), "erin", Role.OWNER)
    closed = UserFactory(is_superuser=True, is_active=False)
    verbs: tuple[Any, ...] = (
        lambda by: change_settings(by=by, project=project, fields={"critical_target": 9}),
        lambda by: archive_project(by=by, project=project),
        lambda by: restore_project(by=by, project=project),
        lambda by: add_member(by=by, project=project, user=charlie, role="reader"),
    )
    for verb in verbs:
        for by, error in (
            (bob, Forbidden),
            (rita, Forbidden),
            (rick, Forbidden),
            (erin, NotFound),
            (closed, DomainError),
        ):
            with pytest.raises(error):
                verb(by)
        verb(alice)
    superuser = UserFactory(is_superuser=True)
    assert archive_project(by=superuser, project=project).is_archived
    assert not restore_project(by=None, project=project).is_archived


# --- Members


def test_members_come_change_and_go(alice: User, charlie: User, project: Project) -> None:
    joined = add_member(by=alice, project=project, user=charlie, role="reader")
    assert role_of(charlie, project) is Role.READER
    assert named(add_member, by=alice, project=project, user=charlie, role="reader") == {"user"}
    change_role(by=alice, membership=joined, role="reviewer")
    assert role_of(charlie, project) is Role.REVIEWER
    remove_member(by=alice, membership=joined)
    assert role_of(charlie, project) is None
    for verb in (
        lambda: remove_member(by=alice, membership=joined),
        lambda: change_role(by=alice, membership=joined, role="reader"),
    ):
        with pytest.raises(NotFound):
            verb()


@pytest.mark.parametrize("role", ["", "Owner", "admin", None, 5])
def test_a_role_is_one_of_four(alice: User, bob: User, charlie: User, project: Project, role: Any) -> None:
    assert named(add_member, by=alice, project=project, user=charlie, role=role) == {"role"}
    assert named(change_role, by=alice, membership=membership(bob, project), role=role) == {"role"}
    assert role_of(bob, project) is Role.CONTRIBUTOR
    assert role_of(charlie, project) is None


def test_a_project_keeps_an_owner(alice: User, bob: User, project: Project) -> None:
    own = membership(alice, project)
    stale = membership(bob, project)
    for verb in (
        lambda: remove_member(by=alice, membership=own),
        lambda: change_role(by=None, membership=own, role="reader"),
    ):
        with pytest.raises(Invalid) as refused:
            verb()
        assert refused.value.details["rule"] == "project_needs_an_owner"
    change_role(by=alice, membership=membership(bob, project), role="owner")
    remove_member(by=bob, membership=own)
    with pytest.raises(Invalid):  # as it is now, not as it was loaded
        remove_member(by=None, membership=stale)
    assert role_of(bob, project) is Role.OWNER


def test_a_closed_account_is_no_owner_to_keep(alice: User, bob: User, project: Project) -> None:
    change_role(by=alice, membership=membership(bob, project), role="owner")
    deactivate_user(by=alice, user=bob)
    with pytest.raises(Invalid):
        remove_member(by=None, membership=membership(alice, project))


@pytest.mark.django_db(transaction=True)
def test_two_owners_that_leave_at_once_dont_leave_nobody() -> None:
    for n in range(5):
        place = ProjectFactory()
        owners = [member(place, f"owner{n}x{m}", Role.OWNER) for m in range(2)]
        rows = [membership(owner, place) for owner in owners]
        refused = errors(at_once(2, lambda m, rows=rows: remove_member(by=None, membership=rows[m])))
        assert [type(error) for error in refused] == [Invalid]
        assert Membership.objects.filter(project=place).count() == 1


# --- Tokens


def test_a_token_is_shown_once_and_kept_as_a_digest(alice: User, project: Project) -> None:
    token, text = create_token(user=alice, projects=[project], rights=["read", "write"], name="laptop")
    assert tokens.well_formed(text)
    kept = AccessToken.objects.filter(pk=token.pk).values().get()
    assert text[11:] not in str(kept)
    assert kept["digest"] == tokens.digest(text)
    assert [*token.rights] == ["read", "write"]
    assert list(token.projects.all()) == [project]
    assert token_of(text) == token


@pytest.mark.parametrize(
    ("given", "bad"),
    [
        ({"name": ""}, {"name"}),
        ({"name": "N" * 81}, {"name"}),
        ({"name": "a\nb"}, {"name"}),
        ({"name": SECRET}, {"name"}),
        ({"rights": []}, {"rights"}),
        ({"rights": ["read", "admin"]}, {"rights"}),
        ({"rights": ["Read"]}, {"rights"}),
        ({"projects": []}, {"projects"}),
        ({"expires_at": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)}, {"expires_at"}),
        ({"name": "", "rights": [], "projects": []}, {"name", "rights", "projects"}),
    ],
    ids=ascii,
)
def test_a_bad_token_is_refused(alice: User, project: Project, given: dict[str, Any], bad: set[str]) -> None:
    good: dict[str, Any] = {"projects": [project], "rights": ["read"], "name": "laptop"}
    assert named(create_token, user=alice, **{**good, **given}) == bad
    assert not AccessToken.objects.exists()


def test_a_token_reaches_only_what_its_user_is_in(alice: User, charlie: User, project: Project) -> None:
    elsewhere = ProjectFactory()
    with pytest.raises(NotFound):
        create_token(user=alice, projects=[project, elsewhere], rights=["read"], name="x")
    with pytest.raises(NotFound):
        create_token(user=charlie, projects=[project], rights=["read"], name="x")
    assert not AccessToken.objects.exists()
    token, _ = token_for(alice, project)
    assert list(Project.objects.reached_by(token)) == [project]
    Membership.objects.filter(user=alice).delete()
    assert not Project.objects.reached_by(token).exists()


def test_who_may_revoke_a_token(alice: User, bob: User, rita: User, charlie: User, project: Project) -> None:
    erin = member(ProjectFactory(), "erin", Role.OWNER)
    for by, allowed in (
        (bob, True),
        (alice, True),
        (None, True),
        (rita, False),
        (charlie, False),
        (erin, False),
    ):
        token, text = token_for(bob, project)
        if allowed:
            assert revoke_token(by=by, token=token).is_revoked
            first = AccessToken.objects.get(pk=token.pk).revoked_at
            assert revoke_token(by=by, token=token).revoked_at == first
            with pytest.raises(DomainError) as refused:
                token_of(text)
            assert refused.value.code == "unauthenticated"
        else:
            with pytest.raises(NotFound):
                revoke_token(by=by, token=token)
            assert token_of(text) == token


def test_a_token_ends_at_its_hour_and_with_its_account(alice: User, bob: User, project: Project) -> None:
    token, text = token_for(bob, project, expires_at=timezone.now() + dt.timedelta(hours=1))
    assert token_of(text) == token
    AccessToken.objects.update(expires_at=timezone.now())
    with pytest.raises(DomainError, match="expired"):
        token_of(text)
    AccessToken.objects.update(expires_at=None)
    deactivate_user(by=alice, user=bob)
    with pytest.raises(DomainError):
        token_of(text)
    reactivate_user(user=bob)
    assert token_of(text) == token


def test_use_is_noted_at_most_every_five_minutes(alice: User, project: Project) -> None:
    token, _ = token_for(alice, project)
    note_token_use(token)
    first = AccessToken.objects.get().last_used_at
    assert first
    note_token_use(AccessToken.objects.get())
    assert AccessToken.objects.get().last_used_at == first
    AccessToken.objects.update(last_used_at=first - dt.timedelta(minutes=6))
    note_token_use(AccessToken.objects.get())
    assert AccessToken.objects.get().last_used_at >= first


# --- Accounts


@pytest.mark.django_db
def test_names_are_unique_whatever_their_case() -> None:
    create_user(username="alice", password=PASSWORD, email="A@Example.COM")
    for name in ("alice", "Alice", "ALICE"):
        assert named(create_user, username=name, password=PASSWORD) == {"username"}
        assert User.objects.named(name)
        assert authenticate(username=name, password=PASSWORD)
    bob = create_user(username="bob", password=PASSWORD)
    assert named(change_account, user=bob, fields={"username": "ALICE"}) == {"username"}
    assert change_account(user=bob, fields={"username": "BOB"}).username == "BOB"
    with pytest.raises(IntegrityError):
        UserFactory(username="aLiCe")


@pytest.mark.parametrize(
    "name", ["", "a b", "é", "a\n", "\x00", "\ud800", "x" * 41, "a/b", "<b>", None], ids=ascii
)
@pytest.mark.django_db
def test_a_bad_name_is_refused(name: Any) -> None:
    assert named(create_user, username=name, password=PASSWORD) == {"username"}
    assert not User.objects.exists()


@pytest.mark.django_db
def test_every_bad_field_of_an_account_is_named() -> None:
    bad = {"email": "nonsense", "time_zone": "Mars/Base", "first_name": "a\nb"}
    assert named(create_user, username="a b", password="short", **bad) == {"username", "password", *bad}
    create_user(username="x" * 40, password=PASSWORD, time_zone="Australia/Melbourne")


@pytest.mark.parametrize("password", ["", "short", "12345678901", "password123"])
@pytest.mark.django_db
def test_a_weak_password_is_refused(password: str) -> None:
    assert named(create_user, username="alice", password=password) == {"password"}
    user = create_user(username="bob", password=PASSWORD)
    assert named(change_password, user=user, password=password) == {"password"}
    assert User.objects.get().check_password(PASSWORD)
    change_password(user=user, password=f"{PASSWORD} again")
    assert User.objects.get().check_password(f"{PASSWORD} again")


def test_closing_an_account(alice: User, bob: User, project: Project) -> None:
    assert role_of(bob, project)
    deactivate_user(by=alice, user=bob)
    assert role_of(User.objects.get(pk=bob.pk), project) is None
    assert not authenticate(username="bob", password=PASSWORD)
    with pytest.raises(Forbidden):
        deactivate_user(by=alice, user=alice)
    reactivate_user(user=bob)
    assert role_of(User.objects.get(pk=bob.pk), project) is Role.CONTRIBUTOR
    assert authenticate(username="bob", password=PASSWORD)
