"""The hygiene page and what other pages show of it: who sees what, and how much is read for it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from hygiene.listing import findings_of
from hygiene.models import BagContents, Report
from hygiene.rules.table import RULES
from hygiene.services import report_of
from hygiene.templatetags.hygiene_pages import as_points
from memories.models import CommitReport, Link, Memory
from projects.models import Project, User
from projects.services import archive_project
from tests.access.looking import plain
from tests.access.looking import store as whole_store
from tests.factories import MemoryFactory
from tests.hygiene.browsing import FIX, PAGE, read, seen, send
from tests.hygiene.looking import ago, touch
from tests.memories.bulk import analyse, stock

pytestmark = pytest.mark.django_db


def test_a_memorys_page_shows_the_first_findings_and_of_which_rules_the_rest_are(
    client: Client, project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hygiene.parts.ABOUT_SHOWN", 2)
    one = MemoryFactory(project=project)
    for _ in range(5):
        MemoryFactory(project=project, contradicts=[one.number])
    page = read(client, alice, f"/p/harbor/memories/{one.number}/")
    part = page.partition('id="found"')[2].partition("</section>")[0]
    assert part.count('class="finding ') + part.count('class="finding"') == 2
    assert "2 of 6 shown" in part
    assert f'<a class="link" href="{PAGE}?rule=contradiction#findings">3 contradictions</a>' in part


# --- what it shows --------------------------------------------------------------------------------


def test_the_page_says_the_score_the_threshold_and_what_costs_how_much(
    client: Client, project: Project, alice: User, made: list[Memory]
) -> None:
    report = report_of(project)
    page = read(client, alice)
    assert f'aria-label="Hygiene {report.score} of 100' in page
    assert f'stroke-dasharray="{302 * report.score // 100} 302"' in page
    titles = [each.rule.counted(each.count) for each in sorted(report.rules, key=lambda each: -each.points)]
    assert re.findall(r'cost__title">([^<]*)<', page) == titles
    assert "style=" not in page
    assert f"<td>{report.score}</td>" in page


def test_what_costs_more_has_the_longer_bar_and_gains_are_explained(
    client: Client, project: Project, alice: User, made: list[Memory]
) -> None:
    report = report_of(project)
    page = read(client, alice)
    bars = [(int(most), int(value)) for most, value in re.findall(r'max="(\d+)" value="(\d+)"', page)]
    assert sorted(value for _, value in bars) == sorted(each.points for each in report.rules)
    assert len(bars) > 3
    assert {most for most, _ in bars} == {1000 * max(rule.cap for rule in RULES)}
    for each in report.rules:
        said = read(client, alice, rule=each.rule.name)
        together = f"all {each.count} together give back {as_points(each.points)}."
        assert (together in said) == (each.count > 1), each.rule.name


@pytest.mark.parametrize(("threshold", "says"), [(0, "In good shape"), (100, "Needs a clean-up")])
def test_the_state_is_said_in_words(
    client: Client, project: Project, alice: User, made: list[Memory], threshold: int, says: str
) -> None:
    Project.objects.filter(pk=project.pk).update(hygiene_threshold=threshold)
    page = read(client, alice)
    assert says in page
    assert f"threshold {'is' if not threshold else 'of'} {threshold}" in page


def test_every_finding_of_a_rule_is_listed_with_its_items(
    client: Client, project: Project, alice: User, made: list[Memory]
) -> None:
    for each in report_of(project, alice).rules:
        page = read(client, alice, rule=each.rule.name)
        for finding in findings_of(project, alice, rule=each.rule.name).items:
            for memory in finding["memories"]:
                assert f'href="/p/harbor/memories/{memory["number"]}/"' in page


def test_a_long_list_goes_on_and_a_foreign_cursor_opens_page_one(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    stock(project, alice, [{"summary": "", "tags": ["net"], "touched_at": ago(0)} for _ in range(30)])
    first = read(client, alice, rule="missing_summary")
    assert first.count('class="finding ') + first.count('class="finding"') == 25
    found = re.search(r'cursor=([^"#&]+)', first)
    assert found
    second = read(client, alice, f"{PAGE}?rule=missing_summary&cursor={found[1]}")
    assert second.count('class="finding ') + second.count('class="finding"') == 5
    foreign = read(client, bob, f"{PAGE}?rule=missing_summary&cursor={found[1]}")
    assert foreign.count('class="finding ') + foreign.count('class="finding"') == 25


def test_a_rule_without_findings_says_so_and_an_unknown_one_is_refused(
    client: Client, alice: User, made: list[Memory]
) -> None:
    CommitReport.objects.all().delete()
    assert "No drifted memories here: nothing to do." in read(client, alice, rule="drifted")
    assert client.get(PAGE, {"rule": "nonsense"}).status_code == 422


def test_a_tidy_project_has_nothing_to_do(client: Client, project: Project, alice: User) -> None:
    page = read(client, alice)
    assert "Nothing to do." in page
    assert 'aria-label="Hygiene 100 of 100' in page


def test_a_reader_sees_the_findings_and_mends_nothing(
    client: Client, project: Project, alice: User, rick: User, made: list[Memory]
) -> None:
    before = whole_store()
    for each in report_of(project).rules:
        page = read(client, rick, rule=each.rule.name)
        assert "findings" in page
        assert FIX not in page
    refused = send(client, rick, "verify", made[0].number, seen=seen(made[0]))
    assert refused.status_code == 403
    assert send(client, rick, "verify", "nonsense").status_code == 403
    assert whole_store() == before


def test_outside_the_project_there_is_nothing(
    client: Client, project: Project, charlie: User, made: list[Memory]
) -> None:
    client.force_login(charlie)
    for address in (PAGE, f"{PAGE}bags/{made[0].number}/"):
        assert client.get(address).status_code == 404
    assert send(client, charlie, "verify", made[0].number, seen=seen(made[0])).status_code == 404


def test_an_archived_project_is_shown_and_not_mended(
    client: Client, project: Project, alice: User, made: list[Memory]
) -> None:
    archive_project(by=alice, project=project)
    assert FIX not in read(client, alice)
    assert send(client, alice, "verify", made[0].number, seen=seen(made[0])).status_code == 403


def test_hostile_text_stays_text(client: Client, project: Project, alice: User) -> None:
    bad = '"><script>x</script>{{7*7}}\u202e'
    MemoryFactory(project=project, author=alice, title=bad, summary=f"It says {bad}")
    page = read(client, alice)
    assert "<script>x" not in page
    assert "[U+202E]" in page
    assert "{{7*7}}" in page


def look(client: Client, user: User, pages: Sequence[str]) -> list[str]:
    client.force_login(user)
    client.get(pages[0])  # counts the score
    return [plain(client.get(page)) for page in pages]


# --- private --------------------------------------------------------------------------------------


def test_private_findings_are_their_authors_alone_and_change_no_number(
    client: Client, project: Project, alice: User, bob: User, made: list[Memory]
) -> None:
    pages = ("/p/harbor/", PAGE, f"{PAGE}?rule=quality", "/", "/p/harbor/memories/?finding=quality")
    before = look(client, alice, pages)
    score = report_of(project).score
    mine = MemoryFactory(project=project, author=bob, visibility="private", title="Mine alone")
    assert look(client, alice, pages) == before
    assert "Mine alone" not in "".join(read(client, alice, page) for page in pages)
    his = read(client, bob, rule="quality")
    assert "Mine alone" in his
    assert "private, yours alone" in his
    assert f'aria-label="Hygiene {score} of 100' in his
    assert "Mine alone" in read(client, bob, "/p/harbor/memories/?finding=quality")
    assert send(client, alice, "verify", mine.number, seen=f"{mine.number}:1").status_code == 404
    assert send(client, bob, "tag", mine.number, seen=f"{mine.number}:1", tags="net").status_code == 302
    assert report_of(project).score == score


# --- elsewhere ------------------------------------------------------------------------------------


def test_the_overview_shows_the_ring_and_the_three_best(
    client: Client, project: Project, bob: User, made: list[Memory]
) -> None:
    page = read(client, bob, "/p/harbor/")
    report = report_of(project)
    assert f'aria-label="Hygiene {report.score} of 100' in page
    assert page.count('class="gain"') == 3
    for each in report.costliest(3):
        assert f"{PAGE}?rule={each.rule.name}#findings" in page
    assert f'id="side-score">{report.score}<' in page


def test_home_shows_each_project_with_its_last_score(client: Client, project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, author=alice, tags=["net"])
    assert "of 100" not in read(client, alice, "/")
    score = report_of(project).score
    assert f"Hygiene {score} of 100" in read(client, alice, "/")
    assert ">Hygiene</a>: in good shape</span>" in read(client, alice, "/")
    # Not that something was written since: it may have been in private.
    touch(memory, summary="")
    assert f"Hygiene {score} of 100" in read(client, alice, "/")
    Report.objects.update(day="2026-01-02")
    assert "</a>: in good shape, as of 2026-01-02" in read(client, alice, "/")


@pytest.mark.parametrize("query", ["", "port"])
def test_the_list_is_narrowed_to_what_a_rule_finds(
    client: Client, project: Project, alice: User, made: list[Memory], query: str
) -> None:
    page = read(client, alice, "/p/harbor/memories/", finding="similar_memories", q=query)
    assert sorted(int(n) for n in re.findall(r'row__number">#(\d+)<', page)) == [2, 3]
    assert '<option value="similar_memories" selected>' in page
    assert (
        read(client, alice, "/p/harbor/memories/", finding="superseded_still_active").count("row__number")
        == 2
    )
    client.force_login(alice)
    assert client.get("/p/harbor/memories/", {"finding": "nonsense"}).status_code == 422


# --- how much is read -----------------------------------------------------------------------------


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as taken:
        assert client.get(address).status_code == 200
    return len(taken)


def many_findings(project: Project, author: User, many: int) -> None:
    rows: list[dict[str, Any]] = []
    for n in range(many):
        rows += [
            {"tags": ["net"], "touched_at": ago(0)},
            {"tags": ["net"], "touched_at": ago(0), "parent": 4 * n},
            {"tags": [], "touched_at": ago(400), "summary": "", "weight": "critical"},
            {"tags": [], "touched_at": ago(0), "created_at": ago(400), "kind": "session_summary"},
        ]
    made = stock(project, author, rows)
    bags = [memory for memory, row in zip(made, rows, strict=True) if row.get("parent") is None][::3]
    Memory.objects.filter(pk__in=[bag.pk for bag in bags]).update(summary_changed_at=ago(2))
    BagContents.objects.bulk_create(BagContents(bag=bag, changed_at=timezone.now()) for bag in bags)
    later = [memory for memory in made if memory.summary == ""]
    Link.objects.bulk_create(
        Link(source=one, target=two, type="contradicts") for one, two in itertools.pairwise(later)
    )


def test_pages_take_as_few_queries_for_3_findings_as_for_300(
    client: Client, project: Project, alice: User
) -> None:
    client.force_login(alice)
    # Recall asks once more where it groups.
    Project.objects.filter(pk=project.pk).update(recall_mode="grouped")
    addresses = (
        PAGE,
        f"{PAGE}?rule=stale_bag",
        f"{PAGE}?rule=contradiction",
        f"{PAGE}?rule=quality",
        "/p/harbor/",
    )
    taken: dict[str, list[int]] = {address: [] for address in addresses}
    for many in (3, 297):
        many_findings(project, alice, many)
        analyse()
        for address in addresses:
            Report.objects.all().delete()
            cold = queries_of(client, address)
            warm = queries_of(client, address)
            taken[address] += [cold, warm]
    for address, (cold, warm, cold_many, warm_many) in taken.items():
        assert (cold, warm) == (cold_many, warm_many), address
        assert warm < cold <= 20, address


def test_home_reads_scores_in_one_query(
    client: Client, project: Project, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    from hygiene.parts import last_scores

    report_of(project)
    with django_assert_num_queries(1):
        assert set(last_scores([project], alice)) == {project.pk}
