"""Fixes of several on the page: shown first, done as one, refused as a whole; bags; what is proposed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from hygiene.listing import findings_of
from hygiene.services import report_of
from memories.models import Memory
from memories.services import Pending, revise_memory
from projects.models import Project, User
from tests.access.looking import store as whole_store
from tests.factories import MemoryFactory, person
from tests.hygiene.browsing import PAGE, read, seen, send
from tests.hygiene.looking import ago
from tests.memories.bulk import stock

pytestmark = pytest.mark.django_db


def test_several_are_shown_first_and_nothing_is_done(
    client: Client, project: Project, alice: User, made: list[Memory]
) -> None:
    before = whole_store()
    numbers = [
        one["memories"][0]["number"] for one in findings_of(project, alice, rule="crowded_top_level").items
    ]
    response = send(client, alice, "lower", *numbers, how="show", rule="crowded_top_level")
    page = response.content.decode()
    assert response.status_code == 200
    assert page.count("gets low weight") == len(numbers) > 1
    now = report_of(project).score
    scores = [int(score) for score in re.findall(r'class="ring__score"[^>]*>(\d+)<', page)]
    assert scores[0] == now < scores[1]
    assert whole_store() == before
    sent = re.findall(r'name="seen" value="([^"]+)"', page)
    done = send(client, alice, "lower", *numbers, how="apply", seen=sent, rule="crowded_top_level")
    assert done.status_code == 302
    assert report_of(project).score == scores[1]
    assert f"{len(numbers)} memories have low weight now." in read(client, alice)


def test_all_that_is_shown_can_be_chosen_at_once(client: Client, alice: User, made: list[Memory]) -> None:
    numbers = [memory.number for memory in made[:3]]
    response = send(client, alice, "verify", how="show", all="1", shown=[str(number) for number in numbers])
    assert response.content.decode().count("is verified") == 3


def test_choosing_none_is_refused(client: Client, alice: User, made: list[Memory]) -> None:
    response = send(client, alice, "lower", how="show", rule="crowded_top_level")
    assert response.status_code == 422
    assert "Choose at least one memory." in response.content.decode()


def test_a_change_between_refuses_all_of_it_and_says_what_changed(
    client: Client, alice: User, bob: User, project: Project
) -> None:
    first, second = MemoryFactory.create_batch(2, project=project, author=alice)
    old = seen(first, second)
    revise_memory(actor=person(bob), memory=second, expected_version=None, title="Renamed")
    before = whole_store()
    response = send(client, alice, "archive", first.number, second.number, how="apply", seen=old)
    assert response.status_code == 409
    page = response.content.decode()
    assert f"Changed since they were shown: #{second.number}. Nothing was done" in page
    assert "v2 by bob" in page
    assert "title" in page
    assert f'name="seen" value="{second.number}:2"' in page
    assert whole_store() == before


def test_a_new_bag_is_made_filled_and_not_stale(client: Client, project: Project, alice: User) -> None:
    loose = MemoryFactory.create_batch(3, project=project, author=alice, tags=["net"])
    numbers = [memory.number for memory in loose]
    given = {"bag": "0", "title": "Ports", "summary": "What listens where.", "tags": "net"}
    shown = send(client, alice, "bag", *numbers, how="show", **given)
    page = shown.content.decode()
    assert page.count("goes into the new bag “Ports”") == 3
    assert 'name="title" value="Ports"' in page
    sent = re.findall(r'name="seen" value="([^"]+)"', page)
    assert send(client, alice, "bag", *numbers, how="apply", seen=sent, **given).status_code == 302
    bag = Memory.objects.get(title="Ports")
    assert bag.tag_names == ["net"]
    assert Memory.objects.inside(bag).count() == 3
    assert "stale_bag" not in report_of(project).counts
    # What comes later makes it stale, as ever.
    MemoryFactory(project=project, author=alice, tags=["net"], parent=bag)
    assert report_of(project).counts["stale_bag"] == 1


def test_a_bag_that_is_there_gets_its_summary_with_what_comes_in(
    client: Client, project: Project, alice: User
) -> None:
    bag = MemoryFactory(project=project, author=alice, tags=["net"])
    loose = MemoryFactory.create_batch(2, project=project, author=alice, tags=["net"])
    numbers = [memory.number for memory in loose]
    bare = {"bag": str(bag.number), "seen": seen(bag, *loose)}
    for given, stale in (({"summary": "Told with them in it."}, 0), ({}, 1)):
        Memory.objects.filter(pk__in=[memory.pk for memory in loose]).update(parent=None)
        bare["seen"] = seen(bag, *loose)
        response = send(client, alice, "bag", *numbers, how="apply", **bare, **given)
        assert response.status_code == 302, response.content.decode()
        assert report_of(project).counts.get("stale_bag", 0) == stale


def test_a_bag_needs_a_title_and_the_choice_is_kept(client: Client, project: Project, alice: User) -> None:
    project.grouping_threshold = 1
    project.save()
    loose = MemoryFactory.create_batch(3, project=project, author=alice, tags=["net"])
    given = {"bag": "0", "title": "", "summary": "What listens where.", "rule": "crowded_top_level"}
    response = send(client, alice, "bag", loose[1].number, how="show", **given)
    assert response.status_code == 422
    page = response.content.decode()
    assert "What listens where.</textarea>" in page
    assert re.search(rf'name="item" value="{loose[1].number}" form="several" checked', page)


def test_what_a_bag_holds_is_lifted_out(client: Client, project: Project, alice: User, rick: User) -> None:
    bag = MemoryFactory(project=project, author=alice)
    inside = MemoryFactory.create_batch(2, project=project, author=alice, parent=bag)
    address = f"{PAGE}bags/{bag.number}/"
    page = read(client, alice, address)
    assert "Lift out…" in page
    assert "Lift out" not in read(client, rick, address)
    numbers = [memory.number for memory in inside]
    shown = send(client, alice, "lift", *numbers, how="show").content.decode()
    assert shown.count("comes out of its bag") == 2
    done = send(
        client, alice, "lift", *numbers, how="apply", seen=re.findall(r'name="seen" value="([^"]+)"', shown)
    )
    assert done.status_code == 302
    assert not Memory.objects.exclude(parent=None).exists()
    client.force_login(alice)
    assert client.get(f"{PAGE}bags/999/").status_code == 404


def test_an_oversized_bag_leads_to_what_it_holds(client: Client, project: Project, alice: User) -> None:
    rows: list[dict[str, Any]] = [{"tags": ["net"], "touched_at": ago(0)}]
    rows += [{"tags": ["net"], "parent": 0, "touched_at": ago(0)} for _ in range(51)]
    bag = stock(project, alice, rows)[0]
    page = read(client, alice, rule="quality")
    assert f'href="{PAGE}bags/{bag.number}/">Choose what to take out' in page


def test_what_waits_for_a_reviewer_is_said_as_proposed(
    client: Client, alice: User, made: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    def propose(**given: Any) -> list[Any]:
        return [Pending(12)]

    monkeypatch.setattr("hygiene.views.apply_fix", propose)
    response = send(client, alice, "lower", made[0].number, seen=seen(made[0]))
    assert response.status_code == 302
    assert "Proposed as R12, which waits for a reviewer." in read(client, alice)
