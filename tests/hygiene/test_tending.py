"""The daily upkeep, the loop that does it, and the backfill of summaries."""

from __future__ import annotations

import datetime as dt
import io
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from hygiene.models import BagContents, Flaws, Lease, Score, SimilarPair, SummaryBag, Upkeep
from hygiene.placeholders import LENGTH, MARK, placeholder
from hygiene.rules.quality import OVERSIZED
from hygiene.services import rebuild, report_of, tend
from hygiene.services.leases import give_back, take_lease
from memories.models import Memory, Revision
from memoryhub.kernel.jobs import Job
from memoryhub.kernel.text import summary_problem
from memoryhub.reference import ROOT
from memoryhub.working import Worker
from projects.models import AccessToken, Project, Role, User
from projects.services import archive_project
from tests.factories import MemoryFactory, ProjectFactory, member, token_for
from tests.hygiene.looking import ago, touch
from tests.hygiene.store import untidy
from tests.threads import at_once, errors

pytestmark = pytest.mark.django_db


def old_summaries(project: Project, author: User, many: int, **given: Any) -> list[Memory]:
    """Session summaries past the project's age."""
    made = [
        MemoryFactory(
            project=project,
            author=author,
            kind="session_summary",
            title=f"Session {n}",
            summary=f"Number {n}.",
            **given,
        )
        for n in range(many)
    ]
    for memory in made:
        touch(memory, created_at=ago(project.session_summary_days))
    return made


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def weights(project: Project) -> list[str]:
    return list(Memory.objects.in_project(project).order_by("number").values_list("weight", flat=True))


def test_old_session_summaries_are_lowered_by_the_operator(project: Project, alice: User) -> None:
    old_summaries(project, alice, 2)
    MemoryFactory(project=project, kind="session_summary", summary="Of today.")
    done = tend(project)
    assert (done.lowered, done.bagged, done.refused) == (2, 0, 0)
    assert weights(project) == ["low", "low", "normal"]
    revision = Revision.objects.get(memory__number=1, version=2)
    assert (revision.actor_name, revision.door) == ("the operator", "command")
    assert revision.reason


def test_or_put_into_a_bag_that_is_never_stale(project: Project, alice: User) -> None:
    Project.objects.filter(pk=project.pk).update(session_summary_action="bag")
    project.refresh_from_db()
    old_summaries(project, alice, 2)
    (public,) = old_summaries(project, alice, 1, visibility="public", body="In public.")
    done = tend(project)
    assert (done.lowered, done.bagged, done.refused) == (0, 3, 0)
    bag, public_bag = (row.bag for row in SummaryBag.objects.order_by("bag__number"))
    assert bag.children.count() == 2
    assert list(public_bag.children.all()) == [public]
    assert (bag.visibility, public_bag.visibility) == ("shared", "public")
    assert report_of(project).counts.get("stale_bag") is None
    # The next ones go into the same bag.
    more = old_summaries(project, alice, 1, body="Later.")
    tend(project)
    assert Memory.objects.get(pk=more[0].pk).parent == bag


def test_a_full_bag_is_followed_by_another(project: Project, alice: User) -> None:
    Project.objects.filter(pk=project.pk).update(session_summary_action="bag")
    project.refresh_from_db()
    old_summaries(project, alice, OVERSIZED + 1)
    tend(project)
    sizes = [row.bag.children.count() for row in SummaryBag.objects.order_by("bag__number")]
    assert sizes == [OVERSIZED, 1]


def test_private_summaries_and_bags_of_them_are_left_alone_or_lowered(
    project: Project, alice: User, bob: User
) -> None:
    Project.objects.filter(pk=project.pk).update(session_summary_action="bag")
    project.refresh_from_db()
    old_summaries(project, bob, 1, visibility="private")
    (bag,) = old_summaries(project, alice, 1)
    MemoryFactory(project=project, parent=bag)
    done = tend(project)
    assert (done.lowered, done.bagged) == (1, 0)
    assert weights(project)[:2] == ["normal", "low"]


def test_twice_changes_nothing_more_and_a_week_off_catches_up(project: Project, alice: User) -> None:
    old_summaries(project, alice, 2)
    tend(project)
    first = list(Memory.objects.order_by("pk").values_list("pk", "version", "touched_at"))
    scores = Score.objects.count()
    done = tend(project)
    assert (done.lowered, done.bagged, done.refused) == (0, 0, 0)
    assert list(Memory.objects.order_by("pk").values_list("pk", "version", "touched_at")) == first
    assert Score.objects.count() == scores
    tend(project, at=timezone.now() + dt.timedelta(days=7))
    assert Score.objects.count() == scores + 1


def test_an_archived_project_is_not_changed(project: Project, alice: User) -> None:
    old_summaries(project, alice, 1)
    archive_project(by=alice, project=project)
    done = tend(Project.objects.get())
    assert (done.lowered, done.refused) == (0, 0)
    assert weights(project) == ["normal"]
    assert Score.objects.count() == 1


def test_the_command_says_one_line_to_a_log_and_more_to_a_person(project: Project, alice: User) -> None:
    old_summaries(project, alice, 1)
    ProjectFactory(slug="other")
    quiet = run("tend")
    assert quiet.splitlines() == [
        "Upkeep: projects=2 lowered=1 bagged=0 refused=0 failed=0 claims_ended=0 "
        "tokens_pruned=0 calls_pruned=0"
    ]
    told = run("tend", "harbor", "--verbosity=2").splitlines()
    assert told[0].startswith("harbor: score ")
    assert told[-1].startswith("Upkeep: projects=1 ")
    with pytest.raises(CommandError, match="no project 'nope'"):
        run("tend", "nope")


def test_tokens_that_expired_long_ago_are_pruned_revoked_ones_stay(project: Project, alice: User) -> None:
    now = timezone.now()
    kept, _ = token_for(alice, project)
    for days in (91, 89):
        token, _ = token_for(alice, project)
        AccessToken.objects.filter(pk=token.pk).update(expires_at=now - dt.timedelta(days=days))
    AccessToken.objects.filter(pk=kept.pk).update(revoked_at=now - dt.timedelta(days=1000))
    assert run("tend").endswith("tokens_pruned=1 calls_pruned=0\n")
    assert AccessToken.objects.count() == 2


def test_a_project_that_fails_doesnt_hold_up_the_rest(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hygiene.services.upkeep as upkeep

    ProjectFactory(slug="another")

    def tend_or_fail(project: Project, **given: Any) -> Any:
        if project.slug == "another":
            raise RuntimeError("a bug")
        return tend(project, **given)

    monkeypatch.setattr(upkeep, "tend", tend_or_fail)
    assert "projects=1 lowered=0 bagged=0 refused=0 failed=1" in run("tend")


# --- what is derived ------------------------------------------------------------------------------


def derived() -> list[Any]:
    pairs = SimilarPair.objects.order_by("second", "first").values_list("first", "second")
    contents = BagContents.objects.order_by("bag").values_list("bag", "changed_at", "is_by_hand")
    return [list(pairs), list(contents), list(Flaws.objects.order_by("memory").values_list())]


def test_rebuilding_gives_what_the_writes_left(project: Project, alice: User, bob: User) -> None:
    made = untidy(project, alice)
    bag, child = made[0], made[1]
    BagContents.objects.update(changed_at=Revision.objects.get(memory=child, version=1).created_at)
    MemoryFactory(project=project, author=bob, visibility="private", parent=bag, title="Mine")
    before = derived()
    assert all(before)
    for model in (SimilarPair, BagContents, Flaws):
        model.objects.all().delete()
    assert rebuild(project) == len(made) + 1
    assert derived() == before


def test_the_upkeep_derives_what_an_older_version_didnt(project: Project) -> None:
    MemoryFactory(project=project, title="One and the same")
    MemoryFactory(project=project, title="The same and one")
    SimilarPair.objects.all().delete()
    assert tend(project).rebuilt == 2
    assert SimilarPair.objects.count() == 1
    assert tend(project).rebuilt == 0
    assert Upkeep.objects.get().tended_at is not None


# --- work -----------------------------------------------------------------------------------------


def test_work_once_does_what_is_due_and_not_again(project: Project, alice: User) -> None:
    old_summaries(project, alice, 1)
    assert "Upkeep: projects=1 lowered=1" in run("work", "--once")
    assert run("work", "--once") == ""
    Lease.objects.update(done_at=timezone.now() - dt.timedelta(days=1))
    assert "Upkeep: projects=1 lowered=0" in run("work", "--once")
    assert Lease.objects.get(name="upkeep").holder == ""


def test_a_second_worker_waits_its_turn(project: Project) -> None:
    now = timezone.now()
    assert take_lease("upkeep", "the first", at=now, lasting=dt.timedelta(minutes=10))
    assert take_lease("upkeep", "the second", at=now, lasting=dt.timedelta(minutes=10)) is None
    assert run("work", "--once") == ""
    # The first one died: its lease lapses.
    later = now + dt.timedelta(minutes=11)
    assert take_lease("upkeep", "the second", at=later, lasting=dt.timedelta(minutes=10))
    give_back("the second", at=later)
    assert Lease.objects.get(name="upkeep").holder == ""


def test_a_job_that_fails_is_tried_again_later(
    db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import memoryhub.working as working

    runs: list[str] = []

    def fail(stopped: Any) -> str:
        runs.append("")
        raise RuntimeError("a bug")

    monkeypatch.setattr(working, "all_jobs", lambda: [Job("failing", fail)])
    worker = Worker(runs.append)
    worker.do_what_is_due()
    worker.do_what_is_due()
    assert runs == [""]
    assert Lease.objects.get(name="failing").done_at is None
    monkeypatch.setattr(working, "RETRY_AFTER", dt.timedelta(0))
    worker.do_what_is_due()
    assert runs == ["", ""]


def test_a_job_is_due_once_a_day_or_as_often_as_it_says() -> None:
    noon = dt.datetime(2026, 3, 12, 12, tzinfo=dt.UTC)
    daily = Job("daily", lambda stopped: "")
    often = Job("often", lambda stopped: "", dt.timedelta(minutes=5))
    assert daily.is_due(None, noon)
    assert not daily.is_due(noon, noon + dt.timedelta(hours=11))
    assert daily.is_due(noon, noon + dt.timedelta(hours=12))
    assert not often.is_due(noon, noon + dt.timedelta(minutes=4))
    assert often.is_due(noon, noon + dt.timedelta(minutes=5))


def test_the_loop_stops_when_it_is_asked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import memoryhub.working as working

    said: list[str] = []
    worker = Worker(said.append)

    def stop_after_first(*given: Any) -> str:
        worker.stop()
        return "done"

    monkeypatch.setattr(
        working, "all_jobs", lambda: [Job("one", stop_after_first), Job("two", stop_after_first)]
    )
    worker.run()
    assert said == ["done"]
    # It was stopped in the middle: tomorrow's worker does it anew.
    assert Lease.objects.get().done_at is None


def test_the_process_starts_and_stops_cleanly(tmp_path: Any) -> None:
    """As gunicorn starts and ends it, on a store of its own."""
    environment = {
        **{k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")},
        "MEMORYHUB_DATA": str(tmp_path),
        "SECRET_KEY": "for-this-test-alone-" + "0123456789" * 4,
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "--verbosity=0"], env=environment, check=True, timeout=120)
    process = subprocess.Popen([*manage, "work"], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert any(line.startswith("Upkeep: projects=0") for line in process.stdout)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()


# --- at once --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("action", ["lower", "bag"])
def test_at_once_it_is_done_once(action: str) -> None:
    project = ProjectFactory(slug="harbor", session_summary_action=action)
    alice = member(project, "alice", Role.OWNER)
    made = old_summaries(project, alice, 6)
    results = at_once(4, lambda n: tend(Project.objects.get(pk=project.pk)))
    assert not errors(results)
    assert [result.refused for result in results] == [0] * 4  # type: ignore[union-attr]
    assert sum(result.lowered + result.bagged for result in results) == len(made)  # type: ignore[union-attr]
    assert SummaryBag.objects.count() == (1 if action == "bag" else 0)
    for memory in Memory.objects.filter(pk__in=[memory.pk for memory in made]):
        assert (memory.weight, memory.version) == ("low", 2)
        assert (memory.parent is not None) is (action == "bag")
    assert Score.objects.filter(project=project).count() >= 1


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_does_the_work() -> None:
    ProjectFactory()
    said: list[str] = []

    def work(n: int) -> None:
        Worker(said.append).run(once=True)

    assert not errors(at_once(6, work))
    jobs = [line.partition(":")[0] for line in said]
    assert "Upkeep" in jobs
    assert len(jobs) == len(set(jobs)), said


def test_who_looked_at_the_clock_before_another_took_the_lease_gets_none(db: None) -> None:
    now, lasting = timezone.now(), dt.timedelta(minutes=10)
    assert take_lease("one", "first", at=now, lasting=lasting)
    assert take_lease("one", "second", at=now - dt.timedelta(milliseconds=5), lasting=lasting) is None
    assert take_lease("one", "second", at=now - dt.timedelta(seconds=59), lasting=lasting) is None
    assert take_lease("one", "second", at=now - dt.timedelta(seconds=61), lasting=lasting)


# --- backfill -------------------------------------------------------------------------------------


def test_placeholders_are_shown_first_and_written_when_asked(
    project: Project, alice: User, bob: User
) -> None:
    body = "# Ports\n\n- The **API** listens on [8080](http://x).\n- More."
    empty = MemoryFactory(project=project, body=body)
    bare = MemoryFactory(project=project)
    written = MemoryFactory(project=project, body=body, summary="By hand.")
    private = MemoryFactory(project=project, author=bob, visibility="private", body=body)
    for memory in (empty, bare, private):
        touch(memory, summary="")
    told = run("backfill_summaries", "harbor").splitlines()
    assert told[0] == f"#{empty.number}: {MARK}Ports The API listens on 8080. More."
    assert told[1] == f"#{bare.number} is left: has no body to take it from"
    assert told[2] == "Would fill 1 summaries, leave 1. Run again with --apply to write."
    assert not Memory.objects.get(pk=empty.pk).summary
    assert run("backfill_summaries", "harbor", "--apply").splitlines()[-1] == "Filled 1 summaries, left 1."
    summaries = dict(Memory.objects.values_list("number", "summary"))
    assert summaries[empty.number].startswith(MARK)
    assert summaries[written.number] == "By hand."
    assert summaries[private.number] == ""
    assert report_of(project).counts["missing_summary"] == 2
    assert run("backfill_summaries", "harbor", "--apply").splitlines()[-1] == "Filled 0 summaries, left 1."


@pytest.mark.parametrize(
    "body",
    [
        "x" * 500,
        "- [a](b) and [c](d)",
        "1. **One**\n2. *two*",
        "```python\nx = [1](2)\n```",
        "> said\n> so",
        "[[a](b)](c)",
    ],
)
def test_a_placeholder_is_a_summary_as_the_rules_want_it(body: str) -> None:
    text = placeholder(body)
    assert text.startswith(MARK)
    assert summary_problem(text) is None
    assert len(text) <= LENGTH + len(MARK)


def test_a_body_without_words_gives_no_placeholder() -> None:
    assert placeholder(" \n\n ** \n") == ""
