"""Fixes of one finding on the page: done, refused with what was typed, conflicts, what no page sends."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from hygiene.listing import findings_of
from hygiene.services import report_of
from memories.models import Memory
from memories.services import revise_memory
from projects.models import Project, User
from tests.access.looking import store as whole_store
from tests.factories import MemoryFactory, person
from tests.hygiene.browsing import FIX, HTMX, PAGE, item_of, read, seen, send

pytestmark = pytest.mark.django_db


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
    assert "Hygiene findings" in page
    assert f'name="back" value="{bag.number}"' in page
    response = send(client, alice, "summary", bag.number, seen=seen(bag), summary="Anew.", back=bag.number)
    assert response["Location"] == here
    assert "Hygiene findings" not in read(client, alice, here)


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
