"""What happened in a project: all of it for who may see it, narrowed by the address, in pages."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memories.models import Revision
from memories.services import approve_review, archive_memory, reject_review, revise_memory
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.activity import Wanted, facets, facets_of, feed_of, session_of, totals_of
from projects.filters_activity import ActivityFilters
from projects.models import Project, Role, User
from projects.services import change_account
from tests.admin_client import signed_in
from tests.factories import (
    MemoryFactory,
    ProjectFactory,
    agent,
    member,
    person,
    receipt_in,
    task_in,
    token_for,
)
from tests.reviews.asking import policy, propose

pytestmark = pytest.mark.django_db

ACTIVITY = "/p/harbor/activity/"
SESSION = f"{ACTIVITY}session/"


def told(project: Project, reader: User, **wanted: Any) -> list[str]:
    """What a feed says, newest first: `R1 proposed (new) by bob's agent`."""
    events = feed_of(project, reader, Wanted(**wanted)).events
    return [f"{event.mark} {event.did} by {event.who.by}" for event in events]


@pytest.fixture
def happened(project: Project, alice: User, rita: User, bob: User) -> Project:
    """Everything that there is: written, archived, proposed, approved, rejected, worked on, handed over."""
    token, _ = token_for(bob, project)
    by = Actor(
        user=bob,
        door=Door.MCP,
        token=token,
        context=WriteContext(session="s-1", client="claude-code", model="opus", branch="main", commit="abc"),
    )
    memory = MemoryFactory(project=project, title="Stored")
    archive_memory(actor=person(alice), memory=memory, expected_version=1, reason="It is automatic now.")
    MemoryFactory(project=project, author=bob, visibility="private", title="Secret", actor=by)
    policy(project, "agents")
    good = propose(by, project, title="Good", summary="It is good.")
    bad = propose(by, project, title="Bad", summary="It is bad.")
    approve_review(actor=person(rita), review=good)
    reject_review(actor=agent(alice, "s-2"), review=bad, note="Not so.")
    task_in(project, bob)
    receipt_in(project, bob)
    return project


def test_a_reviewer_reads_all_of_it_but_what_is_private(happened: Project, rita: User) -> None:
    assert told(happened, rita) == [
        "#5 handed over by bob",
        "#4 added the task by bob",
        "R2 rejected (new) by alice's agent",
        "#3 stored by bob's agent (laptop)",
        "R1 approved (new) by rita",
        "R2 proposed (new) by bob's agent (laptop)",
        "R1 proposed (new) by bob's agent (laptop)",
        "#1 archived by alice",
        "#1 stored by alice",
    ]


def test_others_read_no_proposals_but_their_own_and_what_is_private_is_its_authors(
    happened: Project, bob: User, rick: User, charlie: User
) -> None:
    open_to_all = ["#5", "#4", "#3", "#1", "#1"]
    assert [line.split()[0] for line in told(happened, rick)] == open_to_all
    mine = told(happened, bob)
    assert "#2 stored by bob's agent (laptop)" in mine
    assert "R2 rejected (new) by alice's agent" in mine
    assert told(happened, charlie) == []
    assert session_of(happened, charlie, "s-1") is None
    page = signed_in(rick).get(ACTIVITY).content.decode()
    assert "Secret" not in page
    assert "Bad" not in page
    assert "approved by rita" in page


@pytest.mark.parametrize(
    ("wanted", "many"),
    [
        ({"person": "BOB"}, 5),
        ({"person": "alice"}, 3),
        ({"agent": "laptop"}, 3),
        ({"session": "s-1"}, 3),
        ({"session": "s-2"}, 1),
        ({"door": "mcp"}, 4),
        ({"door": "web", "person": "rita"}, 1),
        ({"session": "s-1", "person": "rita"}, 0),
        ({"person": "nobody"}, 0),
        ({"person": "the operator"}, 0),
        ({"session": "S-1"}, 0),
        ({"session": "\x00"}, 0),
    ],
    ids=str,
)
def test_it_is_narrowed_exactly(happened: Project, rita: User, wanted: dict[str, str], many: int) -> None:
    assert len(told(happened, rita, **wanted)) == many


def test_every_choice_says_how_many_it_would_leave(happened: Project, rita: User) -> None:
    """Of agents those that are offered: what others did by one's own isn't told."""
    for given in ("", "person=BOB&session=s-1", "kind=proposals&door=mcp&since=2026-01-01"):
        filters = ActivityFilters(QueryDict(given), happened, rita)
        assert filters.is_valid(), filters.errors
        wanted = filters.wanted()
        counts = facets_of(happened, rita, wanted)
        assert counts.total == totals_of(happened, rita, wanted).many > 0
        for name in ("person", "kind", "door"):
            for value, _ in filters.form.fields[name].choices:
                left = replace(wanted, **{name: value})
                many = counts.by_choice[name].get(value, 0)
                assert not value or many == totals_of(happened, rita, left).many, (given, name, value)
                if name == "kind":
                    assert not value or many == len(feed_of(happened, rita, left).events)
    page = signed_in(rita).get(ACTIVITY, {"person": "BOB", "door": "mcp"}).content.decode()
    for said in ("alice (1)", "BOB (3)", "proposals (2)", "tasks (0)", "browser (2)", "anybody</option>"):
        assert said in page, said


def test_where_there_is_much_the_newest_are_counted(
    happened: Project, rita: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facets, "LOOKED_AT", 2)
    page = signed_in(rita).get(ACTIVITY).content.decode()
    # Of each kind: two of three that were stored, one of one that was handed over.
    for said in ("memories (2+)", "hand-offs (1+)", "administration</option>", "Counted are the newest"):
        assert said in page, said


def test_a_day_is_one_of_the_readers_zone(project: Project, alice: User) -> None:
    MemoryFactory(project=project, title="Pelican")
    at = dt.datetime(2026, 3, 1, 2, 0, tzinfo=dt.UTC)
    Revision.objects.update(created_at=at)
    client = signed_in(alice)
    there = {"2026-02-28": False, "2026-03-01": True, "2026-03-02": False}
    for zone, shifted in (("UTC", 0), ("America/New_York", 1)):
        change_account(user=alice, fields={"time_zone": zone})
        for day, found in there.items():
            asked = (dt.date.fromisoformat(day) - dt.timedelta(days=shifted)).isoformat()
            page = client.get(ACTIVITY, {"since": asked, "until": asked}).content.decode()
            assert ("Pelican" in page) == found, (zone, asked)
    for span, found in (("since=2026-03-01", False), ("until=2026-02-27", False), ("since=2026-02-28", True)):
        assert ("Pelican" in client.get(f"{ACTIVITY}?{span}").content.decode()) == found, span


@pytest.mark.parametrize(
    "query",
    [
        "door=window",
        "kind=window",
        "since=soon",
        "until=9999-12-31",
        "since=0001-01-01",
        "since=2026-03-02&until=2026-03-01",
        f"agent={'x' * 81}",
        f"session={'x' * 81}",
    ],
)
def test_an_address_that_cant_be_one_is_refused(project: Project, alice: User, query: str) -> None:
    response = signed_in(alice).get(f"{ACTIVITY}?{query}")
    assert response.status_code == 422
    assert "notice--bad" in response.content.decode()


@pytest.mark.parametrize(
    "query", ["person=%00", "session=%00", "agent=%ED%A0%80", "cursor=x", "person=<b>", "session=%E2%80%AE"]
)
def test_a_made_up_address_breaks_nothing(project: Project, alice: User, query: str) -> None:
    response = signed_in(alice).get(f"{ACTIVITY}?{query}")
    assert response.status_code in (200, 422)
    assert "<b>" not in response.content.decode().split("<main")[1].split("</form>")[0]
    assert signed_in(alice).get(f"{SESSION}?id={query.split('=')[1]}").status_code == 404


def test_pages_follow_one_another_and_miss_nothing(happened: Project, rita: User) -> None:
    for n in range(4):
        task_in(happened, title=f"Task {n}")
    everything = told(happened, rita)
    seen, cursor = [], ""
    while True:
        page = feed_of(happened, rita, Wanted(), cursor=cursor, limit=2)
        seen += [f"{event.mark} {event.did} by {event.who.by}" for event in page.events]
        if page.next_cursor is None:
            break
        # What is written meanwhile doesn't move what follows.
        cursor = page.next_cursor
        receipt_in(happened, summary=f"One more, {len(seen)}.")
    assert seen == everything
    # A cursor of somebody else, or of other filters, opens page one.
    first = feed_of(happened, rita, Wanted(door="web"), cursor=cursor)
    assert first.is_first


def shares(project: Project, reader: User, **wanted: Any) -> dict[str, Any]:
    totals = totals_of(project, reader, Wanted(**wanted))
    assert totals.many == sum(each.many for each in totals.rows)
    return {each.person: (each.many, dict(each.agents)) for each in totals.rows}


def test_totals_say_how_much_is_whose_as_far_as_one_may_see_it(
    happened: Project, rita: User, bob: User, rick: User, charlie: User
) -> None:
    seen = {"bob": (5, {"laptop": 3}), "alice": (3, {}), "rita": (1, {})}
    assert shares(happened, rita) == seen
    assert shares(happened, bob)["bob"] == (6, {"laptop": 4})
    assert shares(happened, rick) == {"bob": (3, {"laptop": 1}), "alice": (2, {})}
    assert shares(happened, charlie) == {}
    assert shares(happened, rita, session="s-1") == {"bob": (3, {"laptop": 3})}
    tomorrow = timezone.now() + dt.timedelta(days=1)
    assert shares(happened, rita, since=tomorrow) == {}
    assert shares(happened, rita, before=tomorrow) == seen
    page = signed_in(rita).get(ACTIVITY, {"until": "2999-01-01"}).content.decode()
    assert "?until=2999-01-01&amp;person=bob" in page
    assert "?until=2999-01-01&amp;person=bob&amp;agent=laptop" in page


def test_the_last_days_are_a_click_away(project: Project, alice: User) -> None:
    change_account(user=alice, fields={"time_zone": "Pacific/Kiritimati"})
    MemoryFactory(project=project, title="Pelican")
    client = signed_in(alice)
    page = client.get(ACTIVITY, {"person": "alice"}).content.decode()
    today = (timezone.now() + dt.timedelta(hours=14)).date()
    week = f"?person=alice&amp;since={today - dt.timedelta(days=6)}&amp;until={today}"
    assert f'href="?person=alice&amp;since={today}&amp;until={today}">Today</a>' in page
    assert f'href="{week}">Last 7 days</a>' in page
    page = client.get(ACTIVITY + week.replace("&amp;", "&")).content.decode()
    assert "Pelican" in page
    assert f'href="{week}" aria-current="true">Last 7 days</a>' in page


def test_what_a_command_did_in_one_go_is_one_row_that_opens(project: Project, alice: User) -> None:
    upkeep = Actor(user=None, door=Door.COMMAND, context=WriteContext(session="upkeep"))
    made = [MemoryFactory(project=project, title=f"Fact {n}") for n in range(3)]
    for memory in made:
        revise_memory(actor=upkeep, memory=memory, expected_version=1, weight="low")
    revise_memory(actor=person(alice), memory=made[0], expected_version=2, weight="normal")
    revise_memory(actor=upkeep, memory=made[0], expected_version=3, weight="low")
    runs = feed_of(project, alice, Wanted()).runs
    assert [len(run.events) for run in runs] == [1, 1, 3, 1, 1, 1]
    client = signed_in(alice)
    page = client.get(ACTIVITY).content.decode()
    assert page.count("upkeep, 3 times") == 1
    assert page.count("?person=the%20operator") == 4
    assert len(told(project, alice, person="the operator")) == 4
    assert len(told(project, alice, person="alice")) == 4
    page = client.get(ACTIVITY, {"person": "the operator"}).content.decode()
    assert '<option value="the operator" selected>' in page
    assert "upkeep, 4 times" in page


def test_agents_are_chosen_from_the_names_that_one_may_know(
    project: Project, alice: User, bob: User, rick: User
) -> None:
    token_for(bob, project)
    token_for(bob, project)
    for user, knows in ((alice, True), (bob, True), (rick, False)):
        page = signed_in(user).get(ACTIVITY).content.decode()
        assert page.count('<option value="laptop">') == knows, user


def test_a_session_says_what_it_did_and_from_where(happened: Project, rita: User, bob: User) -> None:
    found = session_of(happened, rita, "s-1")
    assert found
    heard = [(each.name, each.value) for each in found.heard]
    assert heard == [
        ("person", "bob"),
        ("agent", "laptop"),
        ("client", "claude-code"),
        ("model", "opus"),
        ("branch", "main"),
        ("commit", "abc"),
    ]
    assert found.many == 3
    mine = session_of(happened, bob, "s-1")
    assert mine
    assert mine.many == 4
    assert found.first <= found.last
    page = signed_in(rita).get(SESSION, {"id": "s-1"}).content.decode()
    assert "Good" in page
    assert "Secret" not in page
    decided = session_of(happened, rita, "s-2")
    assert decided
    assert [each.value for each in decided.heard] == ["alice"]


def test_a_session_with_more_places_than_are_told_apart_is_counted_whole(
    project: Project, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projects.activity.feed.GROUPS_MAX", 2)
    for branch in ("a", "b", "c", "d"):
        context = WriteContext(session="long", branch=branch)
        by = Actor(user=bob, door=Door.MCP, context=context)
        MemoryFactory(project=project, author=bob, actor=by)
    found = session_of(project, alice, "long")
    assert found
    assert (found.many, found.heard_more) == (4, True)
    assert [each.value for each in found.heard] == ["bob", "a", "b"]
    moments = Revision.objects.order_by("pk").values_list("created_at", flat=True)
    assert [found.first, found.last] == [moments[0], moments[3]]
    page = signed_in(alice).get(SESSION, {"id": "long"}).content.decode()
    assert "4 things that you may see" in page
    assert "than are told apart here" in page


def test_a_session_that_i_may_not_see_is_like_one_that_isnt_there(
    project: Project, alice: User, bob: User, charlie: User
) -> None:
    MemoryFactory(project=project, author=bob, visibility="private", actor=agent(bob, "mine"))
    asked = [signed_in(alice).get(SESSION, {"id": name}) for name in ("mine", "none")]
    assert [response.status_code for response in asked] == [404, 404]
    said = [response.content.decode().split("<main")[1] for response in asked]
    assert said[0] == said[1].replace("none", "mine")
    assert signed_in(bob).get(SESSION, {"id": "mine"}).status_code == 200
    assert signed_in(charlie).get(SESSION, {"id": "mine"}).status_code == 404
    other = ProjectFactory(slug="other")
    member(other, "otto", Role.OWNER)
    MemoryFactory(project=other, actor=agent(User.objects.get(username="otto"), "theirs"))
    assert signed_in(alice).get(SESSION, {"id": "theirs"}).status_code == 404


@pytest.mark.parametrize("many", [3, 33])
def test_it_takes_as_many_queries_for_much_as_for_little(
    project: Project, alice: User, bob: User, many: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(many):
        memory = MemoryFactory(project=project, title=f"Fact {n} {'x' * 100}", actor=agent(bob, "s-1"))
        revise_memory(actor=agent(bob, "s-1"), memory=memory, expected_version=1, summary="Said otherwise.")
    task_in(project, bob)
    client = signed_in(alice)
    with django_assert_num_queries(15):
        page = client.get(ACTIVITY)
    assert len(page.content) < 150_000
    with django_assert_num_queries(16):
        assert client.get(ACTIVITY, {"since": "2026-01-01"}).status_code == 200
    with django_assert_num_queries(19):
        assert client.get(f"{SESSION}?{urlencode({'id': 's-1'})}").status_code == 200


def test_hostile_texts_stay_texts(project: Project, alice: User, bob: User) -> None:
    hostile = "<img src=x onerror=alert(1)>\u202egnp"
    by = agent(bob, hostile)
    MemoryFactory(project=project, title=hostile, actor=by, reason=hostile)
    client = signed_in(alice)
    for page in (
        client.get(ACTIVITY),
        client.get(SESSION, {"id": hostile}),
        client.get(ACTIVITY, {"session": hostile, "person": hostile[:40]}),
    ):
        assert page.status_code == 200
        said = page.content.decode()
        assert "<img" not in said
        assert "[U+202E]" in said


def test_an_empty_project_says_how_to_begin(project: Project, alice: User) -> None:
    client = signed_in(alice)
    assert "Connect an agent" in client.get(ACTIVITY).content.decode()
    day = timezone.now().date().isoformat()
    assert "fits these filters" in client.get(ACTIVITY, {"since": day}).content.decode()


def test_an_agents_session_is_named_by_nothing_that_breaks_a_page(project: Project, alice: User) -> None:
    """The address of a session is a query, whatever stands in its id."""
    odd = "a/b?c=d&e=<script>é\u202e #"
    MemoryFactory(project=project, actor=agent(alice, odd), title="Pelican")
    client = signed_in(alice)
    page = client.get(ACTIVITY).content.decode()
    assert "<script>é" not in page
    address = page[page.index("/p/harbor/activity/session/?id=") :].split('"')[0]
    assert "Pelican" in client.get(address).content.decode()
