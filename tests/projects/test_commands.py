"""The operator's commands: what they make, what they print, how they refuse."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memoryhub.kernel import tokens
from projects.models import AccessToken, Project, Role, User
from projects.services import role_of
from projects.signing_in import token_of
from tests.factories import PASSWORD, member


def run(*args: Any, **options: Any) -> str:
    """What a command prints."""
    out = StringIO()
    call_command(*args, stdout=out, **options)
    return out.getvalue()


def refusal(*args: Any) -> str:
    with pytest.raises(CommandError) as refused:
        run(*args)
    sentence = str(refused.value)
    assert "Traceback" not in sentence
    return sentence


@pytest.mark.django_db
def test_a_user_is_created_with_a_password_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALICES_PASSWORD", PASSWORD)
    said = run("create_user", "alice", "--email", "a@example.com", "--password-env", "ALICES_PASSWORD")
    user = User.objects.get()
    assert user.check_password(PASSWORD)
    assert (user.email, user.is_superuser, user.is_staff) == ("a@example.com", False, False)
    assert "alice" in said
    assert PASSWORD not in said
    run("create_user", "root", "--email", "r@example.com", "--password-env", "ALICES_PASSWORD", "--admin")
    assert User.objects.get(username="root").is_superuser


@pytest.mark.django_db
def test_a_bad_user_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = ("--email", "a@example.com", "--password-env", "ALICES_PASSWORD")
    monkeypatch.delenv("ALICES_PASSWORD", raising=False)
    assert "ALICES_PASSWORD is not set" in refusal("create_user", "alice", *rest)
    monkeypatch.setenv("ALICES_PASSWORD", "short")
    assert "password" in refusal("create_user", "alice", *rest)
    monkeypatch.setenv("ALICES_PASSWORD", PASSWORD)
    assert "username" in refusal("create_user", "a b", *rest)
    run("create_user", "alice", *rest)
    assert "Somebody has this name" in refusal("create_user", "ALICE", *rest)
    assert User.objects.count() == 1


def test_a_project_is_created_with_its_owner_and_policy(charlie: User) -> None:
    run("create_project", "harbor", "--name", "Harbor API", "--owner", "CHARLIE")
    project = Project.objects.get()
    assert (project.name, project.review_policy) == ("Harbor API", "agents")
    assert role_of(charlie, project) is Role.OWNER
    run("create_project", "alone", "--name", "Alone", "--owner", "charlie", "--review", "none")
    assert Project.objects.get(slug="alone").review_policy == "none"
    assert "slug" in refusal("create_project", "harbor", "--name", "x", "--owner", "charlie")
    assert "slug" in refusal("create_project", "Har bor", "--name", "x", "--owner", "charlie")
    assert "no user 'nobody'" in refusal("create_project", "x", "--name", "x", "--owner", "nobody")
    assert refusal("create_project", "x", "--name", "x", "--owner", "charlie", "--review", "maybe")
    assert Project.objects.count() == 2


def test_a_member_is_added_or_given_another_role(alice: User, charlie: User, project: Project) -> None:
    for role in Role.values:
        run("add_member", "harbor", "charlie", "--role", role)
        assert role_of(charlie, project) == role
    run("add_member", "harbor", "charlie", "--role", "reader")
    assert "needs an owner" in refusal("add_member", "harbor", "alice", "--role", "reader")
    assert "no project 'nowhere'" in refusal("add_member", "nowhere", "charlie", "--role", "reader")
    assert "no user 'nobody'" in refusal("add_member", "harbor", "nobody", "--role", "reader")
    assert refusal("add_member", "harbor", "charlie", "--role", "admin")


def test_a_token_is_printed_alone_on_the_last_line(alice: User, project: Project) -> None:
    said = run("create_token", "alice", "--project", "harbor", "--rights", "read, write")
    text = said.splitlines()[-1]
    assert said.endswith(f"{text}\n")
    assert tokens.well_formed(text)
    token = AccessToken.objects.get()
    assert token_of(text) == token
    assert (token.can_read, token.can_write, token.can_review) == (True, True, False)
    assert text not in said.removesuffix(f"{text}\n")


def test_a_token_of_several_projects(alice: User, project: Project) -> None:
    other = Project.objects.create(slug="other", name="Other")
    second = ("--project", "other", "--rights", "read", "--name", "build")
    assert "other" in refusal("create_token", "alice", "--project", "harbor", *second)
    run("add_member", "other", "alice", "--role", "reader")
    run("create_token", "alice", "--project", "harbor", "--project", "harbor", *second)
    token = AccessToken.objects.get()
    assert token.name == "build"
    assert set(token.projects.all()) == {project, other}


def test_a_bad_token_is_refused_in_a_sentence(alice: User, charlie: User, project: Project) -> None:
    member(project, "bob")
    for args in (
        ("alice", "--project", "harbor", "--rights", "read,admin"),
        ("alice", "--project", "harbor", "--rights", ""),
        ("charlie", "--project", "harbor", "--rights", "read"),
        ("nobody", "--project", "harbor", "--rights", "read"),
        ("alice", "--project", "nowhere", "--rights", "read"),
        ("alice", "--project", "harbor", "--rights", "read", "--name", "N" * 81),
    ):
        assert refusal("create_token", *args)
    assert not AccessToken.objects.exists()
