"""The fields of each kind: required on create and on update, an entry can't be hollowed out."""

from __future__ import annotations

from typing import Any

import pytest

from memories.models import Memory
from memoryhub.kernel.errors import Invalid
from projects.models import Project, User
from tests.factories import DETAILS, MemoryFactory
from tests.memories.verbs import add, now, revise, stored

PROBLEM, WHY = DETAILS["decision"]["problem"], DETAILS["decision"]["why_chosen"]
REASON = DETAILS["constraint"]["reason"]


def of_kind(kind: str, details: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    if kind == "constraint":
        given.setdefault("hardness", "absolute")
    return {"kind": kind, "details": {**DETAILS.get(kind, {}), **(details or {})}, **given}


def named(act: Any, *args: Any, **given: Any) -> set[str]:
    before = stored()
    with pytest.raises(Invalid) as refused:
        act(*args, **given)
    assert stored() == before
    return set(refused.value.details["fields"])


REQUIRED = [
    ("decision", "problem", 40),
    ("decision", "why_chosen", 60),
    ("constraint", "reason", 40),
    ("pipeline", "purpose", 1),
]
ALL_FIELDS = {
    "decision": ["problem", "why_chosen", "alternatives", "what_we_tried", "tradeoffs"],
    "constraint": ["reason", "triggering_incident"],
    "pipeline": ["purpose", "when_to_invoke"],
}
OWN = [(kind, field) for kind, fields in ALL_FIELDS.items() for field in fields]


@pytest.mark.parametrize(("kind", "field", "least"), REQUIRED)
def test_a_required_field_at_its_edge_on_create(
    alice: User, project: Project, kind: str, field: str, least: int
) -> None:
    for thin in ("x" * (least - 1), " " * 100, "x" * (least - 1) + "   ", None):
        assert named(add, alice, project, **of_kind(kind, {field: thin})) == {f"details.{field}"}
    add(alice, project, **of_kind(kind, {field: "x" * least}))


@pytest.mark.parametrize(("kind", "field", "least"), REQUIRED)
@pytest.mark.parametrize("emptied", ["", None, "   ", "thin"])
def test_an_entry_cant_be_hollowed_out(
    alice: User, project: Project, kind: str, field: str, least: int, emptied: str | None
) -> None:
    if emptied == "thin" and least == 1:
        return
    memory = MemoryFactory(project=project, kind=kind)
    assert named(revise, alice, memory, details={field: emptied}) == {f"details.{field}"}
    revise(alice, memory, details={field: "y" * least})
    assert now(memory).details[field] == "y" * least


@pytest.mark.parametrize("kind", DETAILS)
def test_what_a_kind_needs_is_named_when_nothing_is_given(alice: User, project: Project, kind: str) -> None:
    needed = {f"details.{field}" for of, field, _ in REQUIRED if of == kind}
    if kind == "constraint":
        needed.add("hardness")
    assert named(add, alice, project, kind=kind) == needed


@pytest.mark.parametrize(("kind", "field"), OWN)
def test_a_field_is_at_most_10_000_characters(alice: User, project: Project, kind: str, field: str) -> None:
    assert named(add, alice, project, **of_kind(kind, {field: "x" * 10_001})) == {f"details.{field}"}
    add(alice, project, **of_kind(kind, {field: "🎉" * 10_000}))


@pytest.mark.parametrize(("kind", "field"), OWN)
@pytest.mark.parametrize("bad", [5, True, ["x"], {"a": 1}, "\x00", "\ud800", "a\rb"], ids=ascii)
def test_a_field_is_text(alice: User, project: Project, kind: str, field: str, bad: Any) -> None:
    assert named(add, alice, project, **of_kind(kind, {field: bad})) == {f"details.{field}"}


@pytest.mark.parametrize("kind", ["fact", "preference", "note", "session_summary", *DETAILS])
def test_a_kind_has_no_fields_of_another(alice: User, project: Project, kind: str) -> None:
    other = "purpose" if kind != "pipeline" else "problem"
    assert named(add, alice, project, **of_kind(kind, {other: "x" * 60})) == {f"details.{other}"}
    memory = MemoryFactory(project=project, kind=kind)
    assert named(revise, alice, memory, details={other: "x" * 60}) == {f"details.{other}"}
    assert named(revise, alice, memory, details={"hardness": "absolute"}) == {"details.hardness"}


def test_details_merge_by_key_and_empty_clears(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="decision")
    revise(alice, memory, details={"tradeoffs": "Slower.", "alternatives": "None."})
    assert now(memory).details == {
        "problem": PROBLEM,
        "why_chosen": WHY,
        "tradeoffs": "Slower.",
        "alternatives": "None.",
    }
    revise(alice, memory, details={"tradeoffs": "", "alternatives": None})
    assert now(memory).details == {"problem": PROBLEM, "why_chosen": WHY}
    assert revise(alice, memory, details={"tradeoffs": ""}).memory.version == 3


STEPS = [
    (["a", "b"], [{"does": "a"}, {"does": "b"}]),
    ([{"does": "a", "depends_on": "b"}], [{"does": "a", "depends_on": "b"}]),
    ([{"does": "a", "depends_on": ""}, {"does": "b", "depends_on": None}], [{"does": "a"}, {"does": "b"}]),
    ([], None),
    ("", None),
    (None, None),
    (["x"] * 100, [{"does": "x"}] * 100),
]


@pytest.mark.parametrize(("given", "kept"), STEPS)
def test_steps_are_texts_or_objects_in_order(alice: User, project: Project, given: Any, kept: Any) -> None:
    memory = add(alice, project, **of_kind("pipeline", {"steps": given})).memory
    assert now(memory).details.get("steps") == kept


@pytest.mark.parametrize(
    "steps",
    [
        "a, b",
        5,
        {"does": "a"},
        [5],
        [None],
        [[]],
        [""],
        ["  "],
        [{"does": ""}],
        [{"does": "  "}],
        [{"depends_on": "a"}],
        [{"does": "a", "colour": "red"}],
        [{"does": 5}],
        [{"does": "a", "depends_on": ["b"]}],
        ["a\x00"],
        ["x"] * 101,
        ["x" * 6000] * 2,
    ],
    ids=lambda steps: ascii(steps)[:30],
)
def test_bad_steps_are_refused(alice: User, project: Project, steps: Any) -> None:
    assert named(add, alice, project, **of_kind("pipeline", {"steps": steps})) == {"details.steps"}


def test_a_change_of_kind_needs_what_the_new_one_needs(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    assert named(revise, alice, memory, kind="decision") == {"details.problem", "details.why_chosen"}
    assert named(revise, alice, memory, kind="constraint") == {"details.reason", "hardness"}
    assert named(revise, alice, memory, kind="constraint", details={"reason": REASON}) == {"hardness"}
    revise(alice, memory, **of_kind("constraint", scope_paths=["src"]))
    assert (now(memory).kind, now(memory).hardness, now(memory).scope_paths) == (
        "constraint",
        "absolute",
        ["src"],
    )


def test_a_change_of_kind_loses_no_text_by_itself(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="constraint", scope_paths=["src"])
    assert named(revise, alice, memory, kind="fact") == {"details.reason", "hardness", "scope_paths"}
    revise(alice, memory, kind="fact", details={"reason": ""}, hardness="", scope_paths=[])
    fresh = now(memory)
    assert (fresh.kind, fresh.details, fresh.hardness, fresh.scope_paths) == ("fact", {}, "", [])


def test_only_a_constraint_has_hardness_and_scopes(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project)
    assert named(revise, alice, memory, hardness="absolute", scope_paths=["a"]) == {"hardness", "scope_paths"}
    constraint = MemoryFactory(project=project, kind="constraint")
    assert named(revise, alice, constraint, hardness="") == {"hardness"}
    assert named(revise, alice, constraint, hardness="soft") == {"hardness"}
    revise(alice, constraint, hardness="advisory")
    assert now(constraint).hardness == "advisory"


def test_a_thin_import_is_kept_until_the_thin_field_is_touched(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="decision")
    long = "x" * 10_500
    Memory.objects.update(
        details={"problem": "thin", "tradeoffs": long, "from_elsewhere": "kept"}, origin="import"
    )
    memory = now(memory)
    revise(alice, memory, title="Another title")
    revise(alice, memory, details={"alternatives": "None."})
    kept = {"problem": "thin", "tradeoffs": long, "from_elsewhere": "kept", "alternatives": "None."}
    assert now(memory).details == kept
    # A form sends back what it showed: nobody touched it.
    revise(alice, now(memory), title="A third title", details={**kept, "alternatives": "Some."})
    assert now(memory).details == {**kept, "alternatives": "Some."}
    memory = now(memory)
    assert named(revise, alice, memory, details={"problem": "thin too"}) == {"details.problem"}
    assert named(revise, alice, memory, details={"why_chosen": "thin"}) == {"details.why_chosen"}
    assert named(revise, alice, memory, details={"tradeoffs": long + "x"}) == {"details.tradeoffs"}
    revise(alice, memory, details={"problem": PROBLEM, "from_elsewhere": ""})
    assert "from_elsewhere" not in now(memory).details


def test_an_imported_summary_may_be_missing_or_too_long_until_it_is_touched(
    alice: User, project: Project
) -> None:
    for old in ("", "x" * 900, "# a heading\n- and a list"):
        memory = MemoryFactory(project=project)
        Memory.objects.filter(pk=memory.pk).update(summary=old, origin="import")
        memory = now(memory)
        revise(alice, memory, body=f"Another body {len(old)}", title=f"Another title {len(old)}")
        revise(alice, now(memory), summary=old, body=f"A third body {len(old)}")
        assert now(memory).summary == old
        assert named(revise, alice, now(memory), summary=old + "\n") == {"summary"}
        revise(alice, now(memory), summary="One paragraph.")


def test_an_imported_constraint_without_hardness_may_be_edited(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="constraint")
    Memory.objects.update(hardness="", details={"reason": ""}, origin="import")
    memory = now(memory)
    revise(alice, memory, title="Another title")
    revise(alice, now(memory), title="A third one", hardness="", details={"reason": ""})
    assert named(revise, alice, now(memory), hardness="soft") == {"hardness"}
    revise(alice, now(memory), hardness="absolute")
