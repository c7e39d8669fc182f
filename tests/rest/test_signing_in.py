"""Who gets in: a token, or the session of a page with its CSRF token; and how often."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memories.models import Memory, Review
from projects.models import AccessToken, Project, User
from projects.services import revoke_token
from tests.factories import MembershipFactory, MemoryFactory, ProjectFactory, token_for
from tests.mcp_client import CONTEXT
from tests.rest.script import Script
from tests.reviews.asking import policy, propose

HERE = "/api/v1/projects/harbor"
NEW = {"title": "One", "summary": "What one says.", "kind": "fact", "write_context": CONTEXT}


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", "Basic YTpi", "mh_x", "Bearer " + "a" * 9000])
def test_what_is_no_token_gets_nobody_in(header: str, client: Client, project: Project, alice: User) -> None:
    client.force_login(alice)
    response = client.get(f"{HERE}/memories", headers={"Authorization": header})
    # Not even somebody with a good session: a script with a bad token must not become a person.
    assert refusal(response) == (401, "unauthenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_nobody_is_asked_to_sign_in(client: Client, project: Project) -> None:
    response = client.get(f"{HERE}/memories")
    assert refusal(response) == (401, "unauthenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_revoked_an_expired_and_another_project_s_token(project: Project, alice: User) -> None:
    token, text = token_for(alice, project)
    assert Script(text).get("/memories").status_code == 200
    token.refresh_from_db()
    assert token.last_used_at is not None
    revoke_token(by=alice, token=token)
    assert refusal(Script(text).get("/memories")) == (401, "unauthenticated")
    old, text = token_for(alice, project, expires_at=timezone.now() + dt.timedelta(hours=1))
    AccessToken.objects.filter(pk=old.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    assert refusal(Script(text).get("/memories")) == (401, "unauthenticated")
    other = ProjectFactory(slug="other")
    MembershipFactory(project=other, user=alice)
    elsewhere = token_for(alice, other)[1]
    MemoryFactory(project=project)
    assert refusal(Script(elsewhere).get("/memories/1")) == (404, "not_found")


@pytest.mark.parametrize(
    ("who", "write"), [("alice", 201), ("rita", 201), ("bob", 201), ("rick", 403), ("charlie", 404)]
)
def test_roles_hold_with_a_token_and_with_a_session(
    who: str, write: int, request: pytest.FixtureRequest, project: Project, alice: User
) -> None:
    user = request.getfixturevalue(who)
    MemoryFactory(project=project, author=alice)
    hidden = MemoryFactory(project=project, author=alice, visibility="private")
    read = 404 if who == "charlie" else 200
    browser = Client()
    browser.force_login(user)
    doors = [Script("", client=browser)]
    if who != "charlie":
        doors.append(Script(token_for(user, project)[1]))
    for number, door in enumerate(doors):
        assert door.get("/memories/1").status_code == read
        assert door.get(f"/memories/{hidden.number}").status_code == (200 if who == "alice" else 404)
        assert (
            door.post("/memories", **{**NEW, "title": f"{number}", "summary": f"{number}"}).status_code
            == write
        )


def test_a_session_writes_with_the_page_s_csrf_token_alone(project: Project, alice: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    assert browser.get(f"{HERE}/memories").status_code == 200
    sent: dict[str, Any] = {"data": json.dumps(NEW), "content_type": "application/json"}
    assert refusal(browser.post(f"{HERE}/memories", **sent)) == (403, "forbidden")
    assert not Memory.objects.exists()
    browser.get("/profile/")
    token = browser.cookies["csrftoken"].value
    answer = browser.post(f"{HERE}/memories", headers={"X-CSRFToken": token}, **sent)
    assert answer.status_code == 201
    # At a page it is the person who writes, not an agent of theirs.
    revision = Memory.objects.get().revisions.get()
    assert (revision.actor_kind, revision.door) == ("person", "rest")


def test_a_person_decides_what_their_agent_proposed_and_the_agent_does_not(
    project: Project, alice: User
) -> None:
    policy(project, "agents")
    review = propose(alice, project)
    script = Script(token_for(alice, project, rights=("read", "write", "review"))[1])
    assert refusal(script.post(f"/reviews/{review.ref}/decision", decision="approve")) == (403, "forbidden")
    browser = Client()
    browser.force_login(alice)
    by_hand = Script("", client=browser)
    assert by_hand.post(f"/reviews/{review.ref}/decision", decision="approve").status_code == 200
    assert Review.objects.get().status == "approved"


def test_calls_are_counted_for_tokens_and_for_sessions(project: Project, alice: User, settings: Any) -> None:
    settings.MEMORYHUB_CALLS_PER_MINUTE = 2
    browser = Client()
    browser.force_login(alice)
    for door in (Script(token_for(alice, project)[1]), Script("", client=browser)):
        assert [door.get("/memories").status_code for _ in range(3)] == [200, 200, 429]
        refused = door.get("/memories")
        assert refused.json()["code"] == "rate_limited"
        assert 0 < int(refused["Retry-After"]) <= 60


def test_an_inactive_account_is_out(project: Project, bob: User) -> None:
    text = token_for(bob, project)[1]
    browser = Client()
    browser.force_login(bob)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    for door in (Script(text), Script("", client=browser)):
        assert refusal(door.get("/memories")) == (401, "unauthenticated")


def test_the_projects_are_those_in_reach(project: Project, alice: User) -> None:
    other = ProjectFactory(slug="other")
    MembershipFactory(project=other, user=alice)
    text = token_for(alice, project)[1]
    said = Client().get("/api/v1/projects", headers={"Authorization": f"Bearer {text}"}).json()
    assert [one["project"] for one in said["projects"]] == ["harbor"]
    assert other.slug not in str(said["projects"])


def test_anybody_reads_the_document_and_it_tells_nothing_of_the_hub(client: Client, project: Project) -> None:
    response = client.get("/api/v1/schema")
    assert response.status_code == 200
    assert response.json()["openapi"].startswith("3.1")
    assert "Harbor" not in response.content.decode()
