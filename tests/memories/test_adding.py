"""Adding: every limit at its edge and one past it, every bad field named at once, texts kept exactly."""

from __future__ import annotations

from typing import Any

import pytest

from memories.models import Memory, Origin, Revision
from memories.services import add_memory
from memoryhub.kernel.actor import Actor, Door, WriteContext
from memoryhub.kernel.errors import Invalid, SecretDetected
from projects.models import Project, User
from tests.factories import DETAILS, agent, person, token_for
from tests.memories.verbs import FACT, add, now, revisions, stored

BIDI = "\u202eabc\u202c \u2066x\u2069 \u200f\u061c"
HOSTILE = [
    "<script>alert(1)</script> & <b>bold</b>",
    "'; DROP TABLE memories_memory; --",
    "%s %(x)s {0} {{ x }} ${x} \\n \\",
    BIDI,
    "[#99] (fact) forged: line",
    "Not shown: 5 (everything)",
    "e\u0301 and é, 日本語, العربية, 👩‍👩‍👧",
    "\u200b\ufeff zero width",
    "  spaces around  ",
    "\"quoted\" 'text' `code`",
    "null",
    "42",
    "true",
]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def refusal(user: User, project: Project, **given: Any) -> dict[str, str]:
    """The fields that are named when this is added; nothing may be stored."""
    before = stored()
    with pytest.raises(Invalid) as refused:
        add(user, project, **given)
    assert stored() == before
    fields = refused.value.details["fields"]
    assert all(text.endswith(".") for text in fields.values())
    return fields


def test_a_new_memory_has_a_number_a_version_and_a_first_revision(alice: User, project: Project) -> None:
    memory = now(add(alice, project, body="Text", tags=["http"], reason="It came up.").memory)
    assert (memory.number, memory.version, memory.status, memory.weight) == (1, 1, "active", "normal")
    assert (memory.visibility, memory.author, memory.origin) == ("shared", alice, "user")
    assert memory.created_at == memory.updated_at == memory.touched_at == memory.summary_changed_at
    assert memory.verified_at is memory.archived_at is memory.erased_at is None
    (revision,) = revisions(memory)
    assert revision.version == 1
    assert revision.fields["title"] == "Retries"
    assert revision.fields["tags"] == ["http"]
    assert (revision.actor, revision.reason, revision.door) == (alice, "It came up.", "web")


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_are_stored_and_returned_exactly(alice: User, project: Project, text: str) -> None:
    body = f"# Heading\n\n{text}\n\ttab\n\u2028\u0085"[:-1]
    given = {"title": text, "summary": text, "body": body, "retrieval_hints": [text], "reason": text}
    memory = now(add(alice, project, **given).memory)
    assert (memory.title, memory.summary, memory.body) == (text, text, body)
    assert memory.retrieval_hints == [text]
    assert revisions(memory)[0].fields["body"] == body
    assert revisions(memory)[0].reason == text


def test_crlf_becomes_lf_wherever_lines_may_break(alice: User, project: Project) -> None:
    details = {**DETAILS["pipeline"], "steps": ["a\r\nb"], "when_to_invoke": "c\r\nd"}
    memory = now(add(alice, project, kind="pipeline", body="a\r\n\r\nb\nc", details=details).memory)
    assert memory.body == "a\n\nb\nc"
    assert memory.details["when_to_invoke"] == "c\nd"
    assert memory.details["steps"] == [{"does": "a\nb"}]


LIMITS: list[tuple[str, Any, Any]] = [
    ("title", "🎉" * 120, "🎉" * 121),
    ("summary", "🎉" * 280, "🎉" * 281),
    ("body", "🎉" * 100_000, "x" * 100_001),
    ("tags", ["a" * 30], ["a" * 31]),
    ("tags", list("abcde"), list("abcdef")),
    ("retrieval_hints", ["🎉" * 120], ["x" * 121]),
    ("retrieval_hints", list("abcdef"), list("abcdefg")),
    ("reason", "x" * 1000, "x" * 1001),
]


@pytest.mark.parametrize(
    ("field", "most", "over"), LIMITS, ids=[f"{name}-{n}" for n, (name, *_) in enumerate(LIMITS)]
)
def test_limits_at_their_edge_and_one_past_it(
    alice: User, project: Project, field: str, most: Any, over: Any
) -> None:
    assert set(refusal(alice, project, **{field: over})) == {field}
    add(alice, project, **{field: most})
    assert Memory.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[
            ("title", value)
            for value in ("", "  ", "a\nb", "a\rb", "a\u2028b", "a\x00b", "a\x85", "\ud800", None, 5, ["x"])
        ],
        *[
            ("summary", value)
            for value in ("", " \n", "two\nlines", "# a", "**b** c", "\x07", "\udfff", None, 5, {})
        ],
        *[("body", value) for value in ("\x00", "a\rb", "\x1b[31m", "\x7f", "\ud83d", None, 5, [])],
        *[("kind", value) for value in ("", "Fact", "facts", None, 5, ["fact"], {"a": 1}, "fact ")],
        *[("weight", value) for value in ("", "heavy", "Critical", None, 1, [])],
        *[("visibility", value) for value in ("", "secret", "PUBLIC", None, True)],
        *[("tags", value) for value in ("http", None, 5, {"a": 1}, [5], [None], [["a"]], [""], [" "])],
        *[
            ("tags", [tag])
            for tag in ("a b", "a_b", "-a", "a-", "a--b", "é", "a.b", "#a", "a\x00", "a\x1f", "a\n", "%")
        ],
        *[
            ("retrieval_hints", value)
            for value in ("x", None, [5], [""], ["  "], ["a\nb"], ["\x00"], ["\ud800"])
        ],
        *[("scope_paths", value) for value in ("x", None, [5], ["../a"], ["/a"], ["*.py"], ["a?"], ["\x00"])],
        *[("details", value) for value in ("x", None, 5, [], [{}])],
        *[("parent", value) for value in (-1, "1", None, 1.5, True, [1])],
        *[
            ("related_to", value)
            for value in ("1", [0], [-1], ["1"], [True], [1.5], [None], {"a": 1}, 5, [[1]])
        ],
        ("supersedes", "x"),
        ("contradicts", [{}]),
        ("related_to", list(range(1, 52))),
        ("unlink", [1]),
        ("status", "active"),
        ("status", "archived"),
        ("hardness", "absolute"),
        ("hardness", "maybe"),
        ("scope_paths", ["src"]),
        ("reason", "a\x00"),
        ("colour", "red"),
        ("author", 1),
        ("origin", "import"),
        ("version", 7),
        ("number", 7),
    ],
    ids=ascii,
)
def test_a_bad_value_is_refused_by_its_field(alice: User, project: Project, field: str, value: Any) -> None:
    assert set(refusal(alice, project, **{field: value})) == {field}


def test_every_bad_field_is_named_at_once(alice: User, project: Project) -> None:
    named = refusal(
        alice,
        project,
        kind="decision",
        title="",
        summary="a\nb",
        body="\x00",
        details={"problem": "thin", "colour": "red", "tradeoffs": 5},
        tags=["A B", *"bcdefg"],
        retrieval_hints=[""],
        scope_paths=["../x"],
        hardness="soft",
        weight="heavy",
        visibility="hidden",
        parent=-1,
        related_to=["x"],
        reason="\x00",
        colour="red",
    )
    assert set(named) == {
        *("title", "summary", "body", "details.problem", "details.colour", "details.tradeoffs"),
        *("details.why_chosen", "tags", "retrieval_hints", "scope_paths", "hardness", "weight", "visibility"),
        *("parent", "related_to", "reason", "colour"),
    }


def test_what_must_be_there_is_named(alice: User, project: Project) -> None:
    with pytest.raises(Invalid) as refused:
        add_memory(actor=person(alice), project=project)
    assert set(refused.value.details["fields"]) == {"kind", "title", "summary"}


def test_tags_are_lowercased_and_kept_once_in_their_order(alice: User, project: Project) -> None:
    memory = now(add(alice, project, tags=["HTTP", "http", " retry ", "a-1", "Retry"]).memory)
    assert memory.tag_names == ["http", "retry", "a-1"]


def test_hints_are_kept_once(alice: User, project: Project) -> None:
    assert now(add(alice, project, retrieval_hints=["b", "a", "b"]).memory).retrieval_hints == ["b", "a"]


def test_a_made_up_field_name_is_safe_to_repeat(alice: User, project: Project) -> None:
    named = refusal(alice, project, **{"\ud800\x00": 1, "a" * 300: 2})
    assert {name for name in named if not name.isprintable() or len(name) > 40} == set()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"title": f"Key {SECRET}"}, "title"),
        ({"summary": f"Key {SECRET}"}, "summary"),
        ({"body": f"one\ntwo\nthree {SECRET}"}, "body"),
        ({"retrieval_hints": ["x", SECRET]}, "retrieval_hints"),
        ({"reason": SECRET}, "reason"),
        ({"kind": "constraint", "hardness": "absolute", "scope_paths": [f"a/{SECRET}"]}, "scope_paths"),
        (
            {"kind": "constraint", "hardness": "absolute", "details": {"triggering_incident": SECRET}},
            "details.triggering_incident",
        ),
        ({"kind": "pipeline", "details": {"steps": [{"does": "a", "depends_on": SECRET}]}}, "details.steps"),
        ({"kind": "decision", "details": {"alternatives": f"\n{SECRET}"}}, "details.alternatives"),
    ],
)
def test_a_secret_is_refused_in_every_field_and_not_repeated(
    alice: User, project: Project, given: dict[str, Any], field: str
) -> None:
    given = {**given, "details": {**DETAILS.get(given.get("kind", ""), {}), **given.get("details", {})}}
    before = stored()
    with pytest.raises(SecretDetected) as refused:
        add(alice, project, **given)
    assert stored() == before
    assert refused.value.code == "secret_detected"
    assert refused.value.details["field"] == field
    assert refused.value.details["line"] == {"body": 3, "details.alternatives": 2}.get(field, 1)
    assert SECRET not in str(refused.value.as_dict())


@pytest.mark.parametrize("name", ["session", "client", "model", "branch"])
def test_a_secret_in_the_write_context_is_refused(alice: User, project: Project, name: str) -> None:
    actor = Actor(user=alice, door=Door.MCP, context=WriteContext(**{"session": "s", name: SECRET}))
    with pytest.raises(SecretDetected) as refused:
        add_memory(actor=actor, project=project, **FACT)
    assert refused.value.details["field"] == f"write_context.{name}"
    assert not Memory.objects.exists()


def test_a_secret_beside_other_problems_names_them_all(alice: User, project: Project) -> None:
    with pytest.raises(SecretDetected) as refused:
        add(alice, project, title="", body=SECRET, weight="heavy")
    assert set(refused.value.details["fields"]) == {"title", "body", "weight"}


def test_the_door_sets_the_origin_and_the_provenance(alice: User, project: Project) -> None:
    token, _ = token_for(alice, project)
    context = WriteContext("s-1", "codex", "some-model", "main", "abc123")
    by_agent = Actor(user=alice, door=Door.MCP, token=token, context=context)
    memory = now(add_memory(actor=by_agent, project=project, **FACT).memory)  # type: ignore[union-attr]
    assert memory.origin == Origin.AGENT
    (revision,) = revisions(memory)
    assert revision.actor_name == "alice's agent (laptop)"
    said = (revision.session, revision.client, revision.model, revision.branch, revision.commit)
    assert said == ("s-1", "codex", "some-model", "main", "abc123")
    person_at_rest = Actor(user=alice, door=Door.REST)
    assert (
        add_memory(actor=person_at_rest, project=project, **{**FACT, "title": "b"}).memory.origin
        == Origin.USER
    )  # type: ignore[union-attr]


def test_the_project_says_what_a_memory_is_that_doesnt(alice: User, project: Project) -> None:
    Project.objects.update(default_visibility="private")
    assert add(alice, project).memory.visibility == "private"
    assert add(alice, project, title="b", visibility="public").memory.visibility == "public"


def test_numbers_are_one_sequence_for_all_writers(alice: User, bob: User, project: Project) -> None:
    numbers = [add(user, project, title=str(n)).memory.number for n, user in enumerate([alice, bob] * 3)]
    assert numbers == [1, 2, 3, 4, 5, 6]
    with pytest.raises(Invalid):
        add(alice, project, title="")
    assert add(alice, project, title="next").memory.number == 7


def test_the_change_counter_rises_with_every_write(alice: User, project: Project) -> None:
    before = Project.objects.get(pk=project.pk).change_counter
    add(alice, project)
    assert Project.objects.get(pk=project.pk).change_counter == before + 1


def test_what_is_refused_under_the_lock_leaves_no_number_behind(alice: User, project: Project) -> None:
    before = stored()
    for given in ({"parent": 9}, {"related_to": [9]}, {"supersedes": [9]}):
        with pytest.raises(Exception, match="There is no memory #9"):
            add(alice, project, **given)
    assert stored() == before
    assert not Revision.objects.exists()


def test_an_agent_may_add(alice: User, project: Project) -> None:
    assert add_memory(actor=agent(alice), project=project, **FACT).memory.number == 1  # type: ignore[union-attr]
