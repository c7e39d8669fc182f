"""The six moments on their services: what each does, twice the same, late, lost, and in whose hands."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Conflict, Invalid, SecretDetected
from memoryhub.kernel.json_text import as_json
from projects.errors import RoleTooLow
from projects.models import Project, User
from tasks.continuity import BUDGET_MIN, continuity_context
from tasks.lifecycle import (
    Did,
    Done,
    after_turn,
    assemble,
    bootstrap,
    compact,
    prepare_subagent,
    subagent_ended,
)
from tasks.models import Checkpoint, CheckpointEntry, CheckpointLoss, EntryKind
from tasks.services import save_checkpoint
from tests.access.looking import store, written
from tests.factories import MemoryFactory, agent, person
from tests.tasks.test_current_state import STATE

pytestmark = pytest.mark.django_db

ONE, TWO = "session-1", "session-2"


def save(user: User, project: Project, session: str = ONE, **given: Any) -> None:
    save_checkpoint(actor=agent(user, session), project=project, **given)


def now(user: User) -> Checkpoint:
    return Checkpoint.objects.visible_to(user).of_stream("main").get()


def kinds() -> list[str]:
    return list(CheckpointEntry.objects.order_by("pk").values_list("kind", flat=True))


def lost(user: User, project: Project, **given: Any) -> list[tuple[str, str]]:
    rows = continuity_context(project, user, **given).get("loss", [])
    return [(row["field"], row["text"]) for row in rows]


# --- each twice -----------------------------------------------------------------------------

FIELDS = {"objective": "Move it.", "key_decisions": ["One writer."]}
MOMENTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "after_turn": (after_turn, FIELDS),
    "after_turn from a spool": (after_turn, {**FIELDS, "made_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}),
    "compact": (compact, FIELDS),
    "compact to the same": (compact, {"objective": STATE["objective"]}),
    "compact alone": (compact, {}),
    "compact from a spool": (compact, {**FIELDS, "made_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}),
    "compact on an old version": (compact, {**FIELDS, "based_on": 7}),
    "compact alone from a spool": (compact, {"made_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}),
    "subagent_ended": (subagent_ended, {"child": "c1", "results": "Two of each."}),
    "a long subagent_ended": (subagent_ended, {"child": "c1", "results": "r" * 5000}),
}


@pytest.mark.parametrize("there", [True, False], ids=["there", "first"])
@pytest.mark.parametrize("which", MOMENTS)
def test_the_same_again_changes_nothing_also_after_other_saves(
    project: Project, bob: User, which: str, there: bool
) -> None:
    if there:
        save(bob, project, **STATE)
    moment, given = MOMENTS[which]
    first: Done = moment(actor=agent(bob), project=project, **given)
    left = store()
    again: Done = moment(actor=agent(bob), project=project, **given)
    assert written(left) == []
    assert again.answer()["unchanged"] is True
    assert again.message
    assert first.did in (again.did, Did.SAVED, Did.APPENDED, Did.KEPT)
    if which in ("after_turn", "compact alone") or not Checkpoint.objects.exists():
        return  # a session may come back to what it said; what says nothing keeps what stands now
    version = now(bob).version
    save(bob, project, TWO, expected_version=version, objective="Something else.")
    left = store()
    again = moment(actor=agent(bob), project=project, **given)
    assert written(left) == []
    assert again.unchanged
    assert now(bob).objective == "Something else."


@pytest.mark.parametrize("moment", [bootstrap, assemble, prepare_subagent])
def test_what_only_reads_writes_nothing(project: Project, bob: User, moment: Any) -> None:
    save(bob, project, **STATE)
    before = store()
    first, second = (moment(project, bob, stream="main").answer() for _ in range(2))
    assert first == second
    assert first["unchanged"] is True
    assert written(before) == []


# --- bootstrap and assemble -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "hours", "state", "recover"),
    [
        (None, 0, "none", False),
        ("done", 1, "idle", False),
        ("<objective>", 1, "idle", False),
        ("Go on", 24 * 9, "stale", True),
        ("Go on", 1, "active", True),
    ],
)
def test_there_is_work_to_recover_and_only_fresh_work_is_put_before_a_session(
    project: Project, bob: User, objective: str | None, hours: int, state: str, recover: bool
) -> None:
    if objective is not None:
        save(bob, project, **{**STATE, "objective": objective})
        Checkpoint.objects.update(updated_at=timezone.now() - dt.timedelta(hours=hours))
    said = bootstrap(project, bob, stream="main").answer()
    assert (said["state"], said["recover"]) == (state, recover)
    assert ("version" in said) == ("updated_at" in said) == (objective is not None)
    assert "snapshot" not in said
    given = assemble(project, bob, stream="main").answer()
    assert (given["did"] == "snapshot") == ("snapshot" in given) == (state == "active")
    assert bootstrap(project, bob, stream="other/one").answer()["state"] == "none"


@pytest.mark.parametrize("budget", [400, 700, 1200])
def test_a_snapshot_is_never_over_its_budget(project: Project, bob: User, budget: int) -> None:
    long = "\u202e word" * 80
    save(bob, project, **dict.fromkeys(("objective", "current_step", "next_action", "blockers"), long),
         key_decisions=["word " * 50] * 10)  # fmt: skip
    snapshot = assemble(project, bob, stream="main", budget=budget).answer()["snapshot"]
    assert len(snapshot) <= budget
    assert snapshot.count("\n") == 6


def test_somebody_elses_checkpoint_is_none(project: Project, bob: User, alice: User) -> None:
    save(bob, project, **STATE)
    assert bootstrap(project, alice, stream="main").answer()["state"] == "none"
    assert "Move" not in str(prepare_subagent(project, alice, stream="main").answer())


# --- after a turn ---------------------------------------------------------------------------


def test_a_turn_saves_what_differs_by_more_than_white_space(project: Project, bob: User) -> None:
    save(bob, project, **STATE)
    spaced = {"objective": "Move   the\nimporter. ", "key_decisions": ["One  writer.", "No retries."]}
    assert after_turn(actor=agent(bob), project=project, **spaced).unchanged
    done = after_turn(actor=agent(bob), project=project, **spaced, current_step="Next.")
    assert (done.did, now(bob).version, now(bob).objective) == (Did.SAVED, 2, STATE["objective"])
    assert after_turn(actor=agent(bob), project=project).unchanged


def test_every_so_many_turns_is_one_save(project: Project, bob: User) -> None:
    told = [
        after_turn(actor=agent(bob), project=project, turn=turn, every=3, objective=f"Turn {turn}").did
        for turn in range(1, 7)
    ]
    assert told == ["skipped", "skipped", "saved"] * 2
    assert now(bob).objective == "Turn 6"
    with pytest.raises(Invalid) as refused:
        after_turn(actor=agent(bob), project=project, every=3, objective="x")
    assert set(refused.value.details["fields"]) == {"turn"}


def test_a_turn_of_another_session_is_a_conflict_and_a_late_one_history(project: Project, bob: User) -> None:
    save(bob, project, **STATE)
    with pytest.raises(Conflict):
        after_turn(actor=agent(bob, TWO), project=project, objective="Mine.")
    made = timezone.now() - dt.timedelta(minutes=5)
    late = after_turn(actor=agent(bob), project=project, objective="Older.", made_at=made)
    assert (late.did, now(bob).objective, kinds()) == (Did.LATE, STATE["objective"], ["late"])
    assert CheckpointEntry.objects.get().fields == {"objective": "Older."}
    done = after_turn(actor=agent(bob, TWO), project=project, objective="Mine.", based_on=1)
    assert done.did == Did.SAVED


# --- compaction -----------------------------------------------------------------------------


def test_a_compaction_without_fields_keeps_what_stands(project: Project, bob: User) -> None:
    assert compact(actor=agent(bob), project=project).did == Did.NOTHING
    save(bob, project, **STATE)
    before = Checkpoint.objects.values().get()
    done = compact(actor=agent(bob, TWO), project=project)
    assert (done.did, kinds()) == (Did.KEPT, ["kept"])
    assert Checkpoint.objects.values().get() == before
    assert CheckpointEntry.objects.get().fields == STATE
    # The same session compacts again when something has changed: that isn't the same delivery.
    save(bob, project, current_step="Further.")
    assert not compact(actor=agent(bob, TWO), project=project).unchanged
    assert kinds() == ["kept", "replaced", "kept"]


@pytest.mark.parametrize(
    "late",
    [
        {"session": TWO},
        {"session": ONE, "based_on": 1},
        {"session": ONE, "made_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)},
        {"session": ONE, "based_on": 9},
    ],
)
def test_a_compaction_is_never_refused_for_a_version_and_overwrites_nothing_newer(
    project: Project, bob: User, late: dict[str, Any]
) -> None:
    save(bob, project, **STATE)
    save(bob, project, current_step="Further.")
    stands = Checkpoint.objects.values().get()
    session = late.pop("session")
    done = compact(actor=agent(bob, session), project=project, objective="Older.", **late)
    assert done.did == Did.LATE
    assert "version 2" in done.message
    assert Checkpoint.objects.values().get() == stands
    assert not CheckpointLoss.objects.exists()
    entry = CheckpointEntry.objects.get(kind=EntryKind.LATE)
    assert (entry.fields, entry.session) == ({"objective": "Older."}, session)
    assert entry.saved_at == late.get("made_at", entry.replaced_at)


def test_a_compaction_on_the_version_that_stands_saves_for_any_session(project: Project, bob: User) -> None:
    save(bob, project, **STATE)
    old = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    done = compact(actor=agent(bob, TWO), project=project, based_on=1, made_at=old, objective="Newer.")
    assert (done.did, now(bob).version, now(bob).objective) == (Did.SAVED, 2, "Newer.")


def test_what_stood_before_and_not_after_is_told_until_a_later_session_saves(
    project: Project, bob: User, alice: User
) -> None:
    more = {"blockers": "The key.\n- \nThe  host.", "unsurfaced_results": "Two of each."}
    save(bob, project, **{**STATE, **more})
    done = compact(
        actor=agent(bob),
        project=project,
        objective="None",
        current_step="Another.",
        key_decisions=["No   retries."],
        blockers="The host.",
        unsurfaced_results="",
    )
    expected = [
        ("objective", STATE["objective"]),
        ("key_decisions", "One writer."),
        ("blockers", "The key."),
        ("unsurfaced_results", "Two of each."),
    ]
    assert [(row["field"], row["text"]) for row in done.more["loss"]] == expected
    assert "4 that stood" in done.message
    context = continuity_context(project, bob)
    assert lost(bob, project) == expected
    assert context["not_shown"]["loss"] == 0
    assert context["checkpoint"]["lost_at"]
    # Idle as it now is: what there is to recover is what was lost.
    assert bootstrap(project, bob, stream="main").answer()["lost"] == 4
    assert lost(alice, project) == []
    assert lost(bob, project, stream="other") == []
    # What the session itself puts back isn't lost any more; the rest is until a later session has saved.
    save(bob, project, objective="Moved on.", key_decisions=["One writer.", "No retries."])
    assert lost(bob, project) == expected[2:]
    compact(actor=agent(bob, TWO), project=project)
    assert len(lost(bob, project)) == 2
    save(bob, project, TWO, expected_version=3, current_step="Mine.")
    assert lost(bob, project) == []
    assert CheckpointLoss.objects.get().settled_at is not None
    save(bob, project, ONE, expected_version=4, current_step="Back.")
    assert lost(bob, project) == []


def test_what_was_lost_stays_within_the_budget_and_is_counted(project: Project, bob: User) -> None:
    lines = [f'line {n} "{"x" * 60}"' for n in range(20)]
    save(bob, project, **{**STATE, "blockers": "\n".join(lines), "unsurfaced_results": "y" * 2000})
    compact(actor=agent(bob), project=project, blockers="", unsurfaced_results="")
    for budget in (BUDGET_MIN, 3000, 15_000):
        context = continuity_context(project, bob, budget=budget)
        assert len(as_json(context)) <= budget
        assert len(context["loss"]) + context["not_shown"]["loss"] == 21
    assert context["loss"][-1]["text"] == "y" * 279 + "…"
    assert lost(bob, project, full=True)[-1][1] == "y" * 2000


def test_a_later_compaction_adds_to_what_was_lost(project: Project, bob: User) -> None:
    save(bob, project, **{**STATE, "blockers": "The key."})
    compact(actor=agent(bob), project=project, blockers="None")
    compact(actor=agent(bob), project=project, key_decisions=["One writer."])
    assert lost(bob, project) == [("key_decisions", "No retries."), ("blockers", "The key.")]


# --- subagents ------------------------------------------------------------------------------


def test_the_seed_has_the_goal_and_the_constraints_and_fits(project: Project, bob: User) -> None:
    assert prepare_subagent(project, bob, stream="main").did == Did.NOTHING
    for n in range(30):
        MemoryFactory(project=project, kind="constraint", title=f"Rule {n}", summary="s" * 200)
    MemoryFactory(project=project, kind="constraint", title="Only here", scope_paths=["src/net"])
    save(bob, project, **{**STATE, "objective": "o\nb" * 160, "current_step": "c" * 500})
    seed = prepare_subagent(project, bob, stream="main").answer()["seed"]
    assert len(seed) <= 2000
    lines = seed.split("\n")
    assert lines[0] == "CONTINUITY SEED"
    assert lines[1].startswith("Objective: o b")
    assert lines[2].startswith("Current Step: ccc")
    assert "(absolute)" in seed
    assert "Not shown: " in lines[-1] or "Not shown: " in seed
    narrow = prepare_subagent(project, bob, stream="main", path="src/net/a.py").answer()["seed"]
    assert "Only here" in narrow
    Checkpoint.objects.update(updated_at=timezone.now() - dt.timedelta(days=30))
    stale = prepare_subagent(project, bob, stream="main").answer()
    assert stale["state"] == "stale"
    assert "Objective" not in stale["seed"]
    assert "Rule" in stale["seed"]


def ended(user: User, project: Project, child: str, results: str, session: str = ONE) -> Done:
    return subagent_ended(actor=agent(user, session), project=project, child=child, results=results)


def test_a_childs_results_are_appended_once_and_nothing_else_changes(project: Project, bob: User) -> None:
    save(bob, project, **{**STATE, "unsurfaced_results": "None"})
    assert ended(bob, project, "c1", " One.\r\nMore. \n").did == Did.APPENDED
    assert ended(bob, project, "c2", "Two.").did == Did.APPENDED
    assert ended(bob, project, "c1", "Something else.").unchanged
    for nothing in ("None", " ", "<results>", "TBD"):
        assert ended(bob, project, "c3", nothing).unchanged
    assert now(bob).values == {**STATE, "unsurfaced_results": "One.\nMore.\nTwo."}
    # Another session's child of the same name is another child.
    assert ended(bob, project, "c1", "Three.", TWO).did == Did.APPENDED
    assert not CheckpointLoss.objects.exists()


def test_results_that_have_no_room_are_kept_whole_and_told(project: Project, bob: User) -> None:
    save(bob, project, **{**STATE, "unsurfaced_results": "s" * 900})
    long, short = "a" * 3000, "b" * 500
    assert ended(bob, project, "c1", long).did == Did.KEPT
    there = now(bob).unsurfaced_results
    assert there == "s" * 900 + "\n" + "a" * 999 + "…"
    assert ended(bob, project, "c2", short).did == Did.KEPT
    assert now(bob).unsurfaced_results == there + "\n" + "b" * 97 + "…"
    assert ended(bob, project, "c3", "c" * 500).did == Did.KEPT
    assert len(now(bob).unsurfaced_results) <= 2000
    whole = CheckpointEntry.objects.filter(kind=EntryKind.WHOLE).order_by("pk")
    assert [entry.fields["unsurfaced_results"] for entry in whole] == [long, short, "c" * 500]
    assert [text for _, text in lost(bob, project, full=True, budget=100_000)] == ["c" * 500, short, long]
    assert ended(bob, project, "c3", "c" * 500).unchanged


# --- who, and what may stand in it ----------------------------------------------------------


@pytest.mark.parametrize("moment", ["after_turn", "compact", "subagent_ended"])
def test_what_is_wrong_is_refused_and_nothing_is_lost(
    project: Project, bob: User, rick: User, moment: str
) -> None:
    save(bob, project, **STATE)
    verb, given = MOMENTS[moment]
    name = "results" if moment == "subagent_ended" else "objective"
    before = store()
    refused: list[tuple[Actor, dict[str, Any], type[Exception]]] = [
        (agent(bob), {name: "x" * 1_000_000}, Invalid),
        (agent(bob), {name: "a\x00b"}, Invalid),
        (agent(bob), {name: "AKIA" + "QYLPMN5HHHFPZAM2"}, SecretDetected),
        (agent(bob), {"stream": "a\nb"}, Invalid),
        (agent(bob, ""), {}, Invalid),
        (person(bob), {}, Invalid),
        (agent(rick), {}, RoleTooLow),
    ]
    for actor, wrong, error in refused:
        with pytest.raises(error):
            verb(actor=actor, project=project, **{**given, **wrong})
    assert written(before) == []
