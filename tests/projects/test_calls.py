"""The record of calls: who called what and how it ended, read by those it concerns, never what was asked."""

from __future__ import annotations

import datetime as dt
import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memoryhub.kernel.calls import Note
from projects.attempts import A_NAME
from projects.calls import facets
from projects.calls import waiting as waiting_module
from projects.calls.pages import calls_page
from projects.calls.waiting import waiting
from projects.filters_calls import CallsFilters
from projects.loading import project_of
from projects.models import Call, Project, Role, User
from projects.services import prune_calls, revoke_token
from tests.factories import PASSWORD, ProjectFactory, member, token_for
from tests.mcp_client import Agent
from tests.test_reference import ROOT

pytestmark = pytest.mark.django_db

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)


def kept() -> list[Call]:
    """What is in the record now, oldest first."""
    waiting.store()
    return list(Call.objects.order_by("pk"))


def told(call: Call) -> tuple[Any, ...]:
    return (
        call.door,
        call.name,
        call.user and call.user.username,
        call.token_name,
        call.project and call.project.slug,
        call.outcome,
    )


def calls_of(user: User, project: Project | None, count: int, **fields: Any) -> list[Call]:
    given = {"at": timezone.now(), "door": "mcp", "name": "memory_get", "outcome": "ok", "milliseconds": 1.5}
    return Call.objects.bulk_create(
        Call(user=user, project=project, **{**given, **fields}) for _ in range(count)
    )


def test_one_row_a_call_of_an_agent(project: Project, alice: User) -> None:
    token, text = token_for(alice, project)
    agent = Agent(text, "/mcp/p/harbor")
    agent.call("memory_search", query="what-was-asked")
    agent.call("memory_get", ref=99)
    agent.call("made_up_tool")
    agent.post("tools/list")
    agent.post("what-was-asked/list")
    rows = kept()
    who = ("alice", token.name, "harbor")
    assert [told(row) for row in rows] == [
        ("mcp", "memory_search", *who, "ok"),
        ("mcp", "memory_get", *who, "not_found"),
        ("mcp", "no such tool", *who, "not_found"),
        ("mcp", "tools/list", *who, "ok"),
        ("mcp", "mcp", *who, rows[-1].outcome),
    ]
    assert all(row.milliseconds > 0 and row.token_id == token.pk for row in rows)
    assert "what-was-asked" not in json.dumps([list(map(str, row.__dict__.values())) for row in rows])


def test_one_row_a_call_of_a_script(client: Client, project: Project, alice: User) -> None:
    token, text = token_for(alice, project)
    sent = {"Authorization": f"Bearer {text}"}
    here = "/api/v1/projects/harbor"
    client.get(f"{here}/search?query=what-was-asked", headers=sent)
    client.get(f"{here}/memories/99", headers=sent)
    client.get("/api/v1/projects/elsewhere/recall", headers=sent)
    client.get("/api/v1/what-was-asked", headers=sent)
    client.delete(f"{here}/memories/99", headers=sent)
    client.force_login(alice)
    client.get(f"{here}/recall")
    who = ("alice", token.name)
    route = "api/v1/projects/<slug:slug>/memories/<int:number>"
    assert [told(row) for row in kept()] == [
        ("rest", "memory_search", *who, "harbor", "ok"),
        ("rest", "memory_get", *who, "harbor", "not_found"),
        ("rest", "memory_recall", *who, None, "not_found"),
        ("rest", "GET api/<path:rest>", None, "", None, "not_found"),
        ("rest", f"DELETE {route}", *who, None, "invalid"),
        ("rest", "memory_recall", "alice", "", "harbor", "ok"),
    ]


def test_a_token_that_is_good_no_more_is_noted_with_its_owner(project: Project, alice: User) -> None:
    token, text = token_for(alice, project)
    revoke_token(by=alice, token=token)
    Agent(text, "/mcp/p/harbor").post("tools/list")
    Agent("mh_made-up").post("tools/list")
    assert [told(row) for row in kept()] == [
        ("mcp", "mcp", "alice", token.name, None, "unauthenticated"),
        ("mcp", "mcp", None, "", None, "unauthenticated"),
    ]


def test_a_limit_that_is_passed_is_told_once_a_minute(project: Project, alice: User, settings: Any) -> None:
    settings.MEMORYHUB_CALLS_PER_MINUTE = 2
    agent = Agent(token_for(alice, project)[1], "/mcp/p/harbor")
    for _ in range(6):
        agent.post("tools/list")
    outcomes = [row.outcome for row in kept()]
    assert outcomes[:3] == ["ok", "ok", "rate_limited"]
    assert len(outcomes) <= 4, "one more where the minute turned"


def test_sign_ins_without_what_was_typed(client: Client, alice: User) -> None:
    client.post("/sign-in/", {"username": "my-password-in-the-wrong-field", "password": "y"})
    client.post("/sign-in/", {"username": "ALICE", "password": "wrong"})
    client.post("/sign-in/", {"username": "alice", "password": PASSWORD})
    client.post("/sign-out/")
    client.post("/admin/login/", {"username": "alice", "password": "wrong"})
    assert [told(row) for row in kept()] == [
        ("web", "sign in", None, "", None, "unauthenticated"),
        ("web", "sign in", "alice", "", None, "unauthenticated"),
        ("web", "sign in", "alice", "", None, "ok"),
        ("web", "sign out", "alice", "", None, "ok"),
        ("admin", "sign in", "alice", "", None, "unauthenticated"),
    ]


def test_attempts_past_the_limit_are_told_once_a_minute(client: Client, alice: User) -> None:
    for _ in range(A_NAME + 5):
        client.post("/sign-in/", {"username": "alice", "password": "wrong"})
    rows = [told(row) for row in kept()]
    assert len(rows) <= A_NAME + 2, "one more where the minute turned"
    assert rows[A_NAME] == ("web", "sign in", None, "", None, "rate_limited")


def test_writes_at_pages_and_nothing_else(
    client: Client, project: Project, alice: User, charlie: User
) -> None:
    client.force_login(alice)
    client.get("/p/harbor/")
    client.post("/theme/", {"theme": "dark"})
    client.post("/p/harbor/members/", {"user": "charlie", "role": "reader"})
    client.post("/p/harbor/members/", {"user": "nobody-of-the-name", "role": "reader"})
    client.force_login(ProjectFactory(slug="other") and User.objects.create(username="stranger"))
    client.post("/p/harbor/members/", {"user": "charlie", "role": "reader"})
    Client().post("/p/harbor/members/", {"user": "charlie", "role": "reader"})
    assert [told(row) for row in kept() if row.name != "sign in"] == [
        ("web", "projects:members", "alice", "", "harbor", "ok"),
        ("web", "projects:members", "alice", "", "harbor", "invalid"),
        # Not in alice's list: it is nothing to the project that a stranger knocked.
        ("web", "projects:members", "stranger", "", None, "not_found"),
    ]


def test_owners_read_all_members_their_own_strangers_nothing(
    project: Project, alice: User, bob: User, charlie: User
) -> None:
    other = ProjectFactory(slug="other")
    member(other, "dora", Role.OWNER)
    calls_of(alice, project, 1, name="of_alice")
    calls_of(bob, project, 1, name="of_bob", token_name="laptop")
    calls_of(bob, other, 1, name="elsewhere")
    calls_of(bob, None, 1, name="nowhere")
    seen = {}
    for user in (alice, bob, charlie):
        client = Client()
        client.force_login(user)
        response = client.get("/p/harbor/calls/")
        text = response.content.decode()
        seen[user.username] = (response.status_code, [n for n in NAMES if n in text])
    assert seen == {
        "alice": (200, ["of_alice", "of_bob"]),
        "bob": (200, ["of_bob"]),
        "charlie": (404, []),
    }


NAMES = ("of_alice", "of_bob", "elsewhere", "nowhere")


def test_the_list_is_narrowed_and_paged(client: Client, project: Project, alice: User, bob: User) -> None:
    calls_of(alice, project, 120)
    calls_of(bob, project, 1, name="memory_add", outcome="forbidden", token_name="lap<b>top", door="rest")
    client.force_login(alice)
    page = client.get("/p/harbor/calls/").content.decode()
    assert page.count('class="row ') == 50
    assert "lap&lt;b&gt;top" in page
    older = client.get("/p/harbor/calls/" + page.partition('rel="next" href="')[2].partition('"')[0])
    assert older.content.decode().count('class="row ') == 50
    for narrowed in (
        "person=BOB",
        "agent=lap<b>top",
        "name=memory_add",
        "outcome=forbidden",
        "outcome=refused",
        "door=rest",
    ):
        text = client.get(f"/p/harbor/calls/?{narrowed}").content.decode()
        assert text.count('class="row ') == 1, narrowed
    # A choice holds at once: the part that comes anew, at its own address.
    part = client.get("/p/harbor/calls/?door=rest", headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert part.content.decode().count('class="row ') == 1
    assert part["HX-Push-Url"] == "/p/harbor/calls/?door=rest"
    assert "No call fits" in client.get("/p/harbor/calls/?name=what-nobody-called").content.decode()
    assert client.get("/p/harbor/calls/?name=%00").status_code == 422
    assert client.get("/p/harbor/calls/?door=window").status_code == 422
    # Whoever isn't an owner chooses nobody: the argument is one that the page doesn't have.
    client.force_login(bob)
    text = client.get("/p/harbor/calls/?person=alice").content.decode()
    assert text.count('class="row ') == 1
    assert 'name="person"' not in text


def test_every_choice_says_how_many_it_would_leave(
    client: Client, project: Project, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls_of(alice, project, 4)
    calls_of(alice, project, 3, outcome="conflict", at=NOW)
    calls_of(bob, project, 2, name="memory_add", outcome="forbidden", token_name="laptop", door="rest")
    calls_of(bob, project, 1, token_name="laptop")
    here = project_of(alice, "harbor")
    for given in (
        "",
        "person=BOB",
        "outcome=refused&door=rest",
        "agent=laptop",
        "until=2026-06-01",
        "name=x",
    ):
        filters = CallsFilters(QueryDict(given), here, alice)
        assert filters.is_valid(), filters.errors
        wanted = filters.wanted()
        assert wanted
        counts = facets.facets_of(here, alice, wanted)
        assert counts.total == len(calls_page(here, alice, wanted).items)
        choices = {name: [v for v, _ in filters.form.fields[name].choices] for name in ("person", "outcome")}
        for name, values in {
            **choices,
            "door": ["mcp", "rest"],
            "name": ["memory_get", "memory_add"],
        }.items():
            for value in filter(None, values):
                left = calls_page(here, alice, replace(wanted, **{name: value}))
                assert counts.by_choice[name].get(value, 0) == len(left.items), (given, name, value)
    client.force_login(alice)
    page = client.get("/p/harbor/calls/?door=rest").content.decode()
    for said in ("bob (2)", "alice (0)", "not ok (2)", "MCP (8)", '<option value="memory_add">2</option>'):
        assert said in page, said
    # Of a long record the newest are counted: of others nothing is said.
    with monkeypatch.context() as patched:
        patched.setattr(facets, "LOOKED_AT", 3)
        page = client.get("/p/harbor/calls/").content.decode()
        for said in ("bob (3+)", "alice</option>", "not ok (2+)", '"memory_add">2+</option>', "Counted are"):
            assert said in page, said
    # Others count their own.
    client.force_login(bob)
    page = client.get("/p/harbor/calls/").content.decode()
    assert "not ok (2)" in page
    assert "MCP (1)" in page


def test_what_is_old_or_too_much_is_pruned(project: Project, alice: User, settings: Any) -> None:
    settings.MEMORYHUB_CALLS_KEPT, settings.MEMORYHUB_CALLS_KEPT_DAYS = 20, 30
    calls_of(alice, project, 3, at=NOW - dt.timedelta(days=31))
    calls_of(alice, project, 15, at=NOW - dt.timedelta(days=29))
    # A flood from nobody drives out nobody's alone.
    calls_of(None, None, 50, at=NOW, name="flood")  # type: ignore[arg-type]
    assert prune_calls(at=NOW) == 3 + 48
    assert Call.objects.filter(user=alice).count() == 15
    calls_of(alice, project, 10, at=NOW, name="new")
    assert prune_calls(at=NOW) == 5
    assert Call.objects.filter(name="new").count() == 10
    assert Call.objects.filter(name="flood").count() == 2
    assert prune_calls(at=NOW) == 0


def test_a_call_writes_nothing_until_it_is_answered(project: Project, alice: User) -> None:
    agent = Agent(token_for(alice, project)[1], "/mcp/p/harbor")
    agent.call("memory_recall")
    with CaptureQueriesContext(connection) as queries:
        agent.call("memory_recall")
    assert not [query for query in queries if "projects_call" in query["sql"]]
    with CaptureQueriesContext(connection) as queries:
        assert waiting.store() == 2
    assert len([query for query in queries if "projects_call" in query["sql"]]) == 1


def test_what_the_database_does_not_take_waits_and_what_is_too_much_is_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, alice: User
) -> None:
    def away(notes: Any) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(waiting_module, "MOST", 5)
    for number in range(7):
        waiting.add(Note(door="mcp", name=f"n{number}", outcome="ok", user=alice.pk))
    with monkeypatch.context() as patched:
        patched.setattr(waiting_module, "store_calls", away)
        assert waiting.store() == 0
        patched.setattr(waiting_module, "store_calls", lambda notes: (_ for _ in ()).throw(DatabaseError()))
    assert "2 calls were not kept" in caplog.text
    assert [row.name for row in kept()] == ["n0", "n1", "n2", "n3", "n4"]


def test_the_admin_shows_the_record_to_staff_and_changes_nothing(admin: Client, alice: User) -> None:
    (call,) = calls_of(alice, None, 1, name="sign in", door="web")
    page = "/admin/projects/call/"
    assert "sign in" in admin.get(f"{page}?sign_in=yes&door=web").content.decode()
    assert admin.get(f"{page}{call.pk}/change/").status_code == 200
    assert admin.post(f"{page}{call.pk}/change/", {"name": "x"}).status_code == 403
    admin.force_login(alice)
    assert admin.get(page).status_code == 302


LEAVES = """
import django
django.setup()
from django.db import connection
from memoryhub.kernel.calls import Note
from projects.calls.waiting import waiting
from projects.models import Call
with connection.schema_editor() as editor:
    editor.create_model(Call)
for number in range(3):
    waiting.add(Note(door="mcp", name="memory_get", outcome="ok"))
"""


def test_a_process_that_ends_keeps_its_calls_first(tmp_path: Path) -> None:
    """On a store of its own, with the thread that a worker has."""
    environment = {
        "PATH": os.environ["PATH"],
        "MEMORYHUB_DATA": str(tmp_path),
        "SECRET_KEY": "x",
        "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
    }
    subprocess.run([sys.executable, "-c", LEAVES], cwd=ROOT, env=environment, check=True)
    with sqlite3.connect(tmp_path / "memoryhub.sqlite3") as store:
        assert store.execute("SELECT count(*) FROM projects_call").fetchone() == (3,)
