"""Fixes on the page: of one finding, and of several, which are shown first and refused as a whole."""

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
from tests.hygiene.browsing import FIX, HTMX, PAGE, item_of, read, seen, send
from tests.hygiene.looking import ago
from tests.memories.bulk import stock

pytestmark = pytest.mark.django_db


# --- one finding ----------------------------------------------------------------------------------


def test_a_summary_is_written_and_the_score_moves(
    client: Client, project: Project, bob: User, made: list[Memory]
) -> None:
    bag = made[0]
    before = report_of(project).score
    said = {"seen": seen(bag), "summary": "Ports: 8080 for the API.", "rule": "stale_bag"}
    response = send(client, bob, "summary", bag.number, **said)
    assert response["Location"] == f"{PAGE}?rule=stale_bag"
    bag.refresh_from_db()
    assert bag.summary == "Ports: 8080 for the API."
    page = client.get(response["Location"]).content.decode()
    after = report_of(project).score
    assert f"#{bag.number} has its new summary." in page
    assert f"Score {before} → {after}." in page
    assert after > before


def test_htmx_gets_the_part_that_moves_with_the_score_beside_it(
    client: Client, project: Project, alice: User, made: list[Memory]
) -> None:
    bag = made[0]
    said = {"seen": seen(bag), "summary": "Ports, told anew.", "rule": "stale_bag", "headers": HTMX}
    response = send(client, alice, "summary", bag.number, **said)
    assert response.status_code == 200
    part = response.content.decode()
    assert "<html" not in part
    after = report_of(project).score
    assert f'stroke-dasharray="{302 * after // 100} 302"' in part
    assert 'id="announcement" hx-swap-oob' in part
    assert re.search(rf'id="side-score"[^>]*hx-swap-oob[^>]*>{after}<', part)
    assert "HX-Request" in response["Vary"]


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_refused_input_is_said_and_what_was_typed_is_kept(
    client: Client, alice: User, made: list[Memory], headers: dict[str, str]
) -> None:
    bag, before = made[0], whole_store()
    said = {"seen": seen(bag), "summary": "# A heading <b>", "rule": "stale_bag", "headers": headers}
    response = send(client, alice, "summary", bag.number, **said)
    assert response.status_code == 422
    page = response.content.decode()
    assert "# A heading &lt;b&gt;</textarea>" in page
    assert "may not begin with &#x27;#&#x27;" in page
    assert whole_store() == before


def test_a_version_that_moved_on_is_a_conflict_and_the_form_sends_the_new_one(
    client: Client, alice: User, bob: User, made: list[Memory]
) -> None:
    bag = made[0]
    old = seen(bag)
    revise_memory(actor=person(bob), memory=bag, expected_version=None, title="Ports and hosts")
    said = {"summary": "What I typed.", "rule": "stale_bag"}
    response = send(client, alice, "summary", bag.number, seen=old, **said)
    assert response.status_code == 409
    page = response.content.decode()
    assert "What I typed.</textarea>" in page
    assert "by bob" in page
    assert "Ports and hosts" in page
    now = seen(bag)
    assert f'name="seen" value="{now[0]}"' in page
    assert send(client, alice, "summary", bag.number, seen=now, **said).status_code == 302


def test_what_was_typed_for_a_finding_that_is_gone_is_kept(
    client: Client, alice: User, bob: User, made: list[Memory]
) -> None:
    bag = made[0]
    old = seen(bag)
    revise_memory(actor=person(bob), memory=bag, expected_version=None, summary="Bob was faster.")
    response = send(client, alice, "summary", bag.number, seen=old, summary="What I typed.", rule="stale_bag")
    assert response.status_code == 409
    page = response.content.decode()
    assert "What I typed.</textarea>" in page
    assert "It says now: Bob was faster." in page


def test_a_secret_is_refused_and_never_stored(client: Client, alice: User, made: list[Memory]) -> None:
    bag = made[0]
    response = send(
        client, alice, "summary", bag.number, seen=seen(bag), summary="The key is AKIAIOSFODNN7EXAMPLQ."
    )
    assert response.status_code == 422
    bag.refresh_from_db()
    assert "AKIA" not in bag.summary


@pytest.mark.parametrize(
    ("rule", "fix", "given"),
    [
        ("stale_bag", "summary", {"summary": "Written anew."}),
        ("similar_memories", "merge", {}),
        ("similar_memories", "not_similar", {}),
        ("old_session_summaries", "lower", {}),
        ("missing_summary", "summary", {"summary": "What it is about."}),
        ("long_summary", "summary", {"summary": "Said shortly."}),
        ("crowded_top_level", "lower", {}),
        ("too_many_critical", "normal", {}),
        ("unverified", "verify", {}),
        ("unverified", "archive", {}),
        ("contradiction", "resolve", {"reason": "Both hold, on different hosts."}),
        ("contradiction", "supersede", {}),
        ("superseded_still_active", "supersede", {}),
        ("superseded_still_active", "unlink", {"reason": "The old one still holds there."}),
    ],
)
def test_each_fix_takes_its_finding_away(
    client: Client,
    project: Project,
    alice: User,
    made: list[Memory],
    rule: str,
    fix: str,
    given: dict[str, Any],
) -> None:
    finding = item_of(project, alice, rule)
    numbers = [memory["number"] for memory in finding["memories"]]
    there = Memory.objects.filter(project=project, number__in=numbers)
    key = "-".join(str(number) for number in numbers)
    page = read(client, alice, rule=rule)
    assert f'value="{key}"' in page
    versions = [f"{memory.number}:{memory.version}" for memory in there]
    response = send(client, alice, fix, key, seen=versions, rule=rule, **given)
    assert response.status_code == 302, response.content.decode()
    left = [[m["number"] for m in one["memories"]] for one in findings_of(project, alice, rule=rule).items]
    assert numbers not in left


def test_flaws_have_their_own_fixes(client: Client, project: Project, alice: User) -> None:
    untagged = MemoryFactory(project=project, author=alice)
    MemoryFactory(project=project, author=alice, tags=["net"], related_to=[untagged.number])
    rule = MemoryFactory(
        project=project,
        author=alice,
        kind="constraint",
        tags=["net"],
        body="All of `src/billing/invoice.py` is meant.",
    )
    page = read(client, alice, rule="quality")
    assert "Untagged: tag it." in page
    assert "related_to" not in page
    assert (
        send(client, alice, "tag", untagged.number, seen=seen(untagged), tags="Net http").status_code == 302
    )
    assert Memory.objects.get(pk=untagged.pk).tag_names == ["net", "http"]
    none = send(client, alice, "tag", untagged.number, seen=seen(untagged), tags=" ")
    assert none.status_code == 422
    paths = {"scope_paths": "src/billing, src/tax"}
    assert send(client, alice, "scope", rule.number, seen=seen(rule), **paths).status_code == 302
    assert Memory.objects.get(pk=rule.pk).scope_paths == ["src/billing", "src/tax"]
    assert "Nothing to do." in read(client, alice)


def test_a_fix_from_a_memorys_page_goes_back_there(
    client: Client, project: Project, alice: User, made: list[Memory]
) -> None:
    bag = made[0]
    here = f"/p/harbor/memories/{bag.number}/"
    page = read(client, alice, here)
    assert "Found here" in page
    assert f'name="back" value="{bag.number}"' in page
    response = send(client, alice, "summary", bag.number, seen=seen(bag), summary="Anew.", back=bag.number)
    assert response["Location"] == here
    assert "Found here" not in read(client, alice, here)


@pytest.mark.parametrize(
    "sent",
    [
        {"fix": "nonsense", "item": "1", "seen": "1:1"},
        {"fix": "verify", "item": "one", "seen": "1:1"},
        {"fix": "verify", "item": "1"},
        {"fix": "verify", "item": [], "seen": "1:1"},
        {"fix": "verify", "item": "1", "seen": "1"},
        {"fix": "merge", "item": "1", "seen": "1:1"},
        {"fix": "summary", "item": ["1", "2"], "seen": ["1:1", "2:1"], "summary": "x"},
        {"fix": "verify", "item": [str(n) for n in range(1, 102)], "seen": "1:1"},
        {"fix": "bag", "item": "1", "seen": "1:1", "bag": "x"},
        {"fix": "verify", "how": "nonsense", "item": "1", "seen": "1:1"},
    ],
)
def test_what_no_page_sends_is_refused_and_does_nothing(
    client: Client, alice: User, made: list[Memory], sent: dict[str, Any]
) -> None:
    before = whole_store()
    client.force_login(alice)
    response = client.post(FIX, {"how": "now", **sent})
    assert response.status_code == 422
    assert 'role="alert"' in response.content.decode()
    assert whole_store() == before


def test_a_number_that_is_not_there_is_not_found(client: Client, alice: User, made: list[Memory]) -> None:
    assert send(client, alice, "verify", 999, seen="999:1").status_code == 404
    assert send(client, alice, "verify", "9999999999", seen="9999999999:1").status_code == 404


# --- several --------------------------------------------------------------------------------------


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
