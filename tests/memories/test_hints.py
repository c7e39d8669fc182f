"""Hints on a write: advice on what it is like, may replace or speaks against, of what the actor sees."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.evidence import advise, near
from memories.models import Link, Memory, Origin
from memories.services import Applied, Hint, add_memory, archive_memory, revise_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, agent, person, token_for
from tests.mcp_client import Agent

TABS = "Indent Python source with tabs in the harbor service."
SPACES = "Indent Python source with spaces in the harbor service."
OWN_TYPES = {"similar", "possible_supersession", "likely_contradiction"}


def remember(project: Project, text: str, **more: Any) -> Memory:
    return MemoryFactory(project=project, title=text, summary=text, **more)


def added(project: Project, user: User, text: str, **more: Any) -> list[Hint]:
    """The evidence hints of adding a memory."""
    given = {"title": text, "summary": text, "kind": "fact", **more}
    result = add_memory(actor=agent(user), project=project, **given)
    assert isinstance(result, Applied)
    return [hint for hint in result.hints if hint.type in OWN_TYPES]


def test_a_restatement_is_similar(project: Project, alice: User, bob: User) -> None:
    known = remember(project, TABS)
    (hint,) = added(project, bob, "In the harbor service, indent source in Python with tabs.")
    assert hint == Hint("similar", f"Similar: #{known.number} - update instead?", known.number)


def test_nothing_is_said_of_another_subject(project: Project, alice: User, bob: User) -> None:
    remember(project, TABS)
    assert added(project, bob, "Lunch is served at noon on the third floor.") == []


def test_the_same_subject_alone_is_no_hint(project: Project, alice: User, bob: User) -> None:
    remember(project, TABS)
    assert added(project, bob, "Harbor service Python wheels go to the internal index after a build.") == []


def test_same_kind_shared_tags_and_scope_may_supersede(project: Project, alice: User, bob: User) -> None:
    known = remember(project, TABS, tags=["style", "python"])
    (hint,) = added(project, bob, SPACES, tags=["style"])
    assert (hint.type, hint.number) == ("possible_supersession", known.number)
    assert f"#{known.number} in supersedes" in hint.message


@pytest.mark.parametrize("more", [{"tags": ["other"]}, {"tags": ["style"], "kind": "note"}])
def test_without_the_same_kind_or_a_shared_tag_it_is_similar(
    project: Project, alice: User, bob: User, more: dict[str, Any]
) -> None:
    remember(project, TABS, tags=["style"])
    assert [hint.type for hint in added(project, bob, SPACES, **more)] == ["similar"]


@pytest.mark.parametrize(
    ("scope", "type"),
    [
        (["src"], "possible_supersession"),
        (["src/api"], "possible_supersession"),
        (["docs"], "similar"),
        ([], "similar"),
    ],
)
def test_constraints_supersede_where_their_scopes_overlap(
    project: Project, alice: User, bob: User, scope: list[str], type: str
) -> None:
    reason = {"reason": "Mixed indentation broke a release, and nobody saw it in the diff."}
    remember(project, TABS, kind="constraint", tags=["style"], scope_paths=["src/api"], details=reason)
    more = {"kind": "constraint", "hardness": "absolute", "tags": ["style"]}
    hints = added(
        project,
        bob,
        SPACES,
        scope_paths=scope,
        details={"reason": "A" * 20 + " linter of ours wants it."},
        **more,
    )
    assert [hint.type for hint in hints] == [type]


def test_a_contradiction_says_whom_origin_favours(project: Project, alice: User, bob: User) -> None:
    users = remember(project, "Always squash commits on the main branch.")
    (hint,) = added(project, bob, "Never squash commits on the main branch.")
    assert (hint.type, hint.number) == ("likely_contradiction", users.number)
    assert hint.message.endswith(f"Origin favours #{users.number}: it is a user's, this an agent's.")


def test_a_user_outweighs_an_agent_and_an_agent_an_import(project: Project, alice: User, bob: User) -> None:
    agents = remember(project, "Always squash commits on the main branch.", actor=agent(bob), author=bob)
    given = {"title": "Never squash", "summary": "Never squash commits on the main branch.", "kind": "fact"}
    result = add_memory(actor=person(alice), project=project, **given)
    assert isinstance(result, Applied)
    assert f"Origin favours this: it is a user's, #{agents.number} an agent's." in result.hints[0].message
    archive_memory(actor=person(alice), memory=result.memory, expected_version=1)
    Memory.objects.filter(pk=agents.pk).update(origin=Origin.IMPORT)
    (hint,) = added(project, bob, "Never squash commits on the main branch, ever.")
    assert f"Origin favours this: it is an agent's, #{agents.number} an import's." in hint.message


def test_of_the_same_origin_neither_is_favoured(project: Project, alice: User, bob: User) -> None:
    remember(project, "Always squash commits on the main branch.", actor=agent(bob), author=bob)
    (hint,) = added(project, bob, "Never squash commits on the main branch.")
    assert "Origin" not in hint.message
    assert "contradicts" in hint.message


def test_only_what_the_actor_sees_is_named(project: Project, alice: User, bob: User) -> None:
    remember(project, TABS, author=alice, visibility="private")
    assert added(project, bob, SPACES) == []
    assert added(project, bob, SPACES + " Truly.", visibility="private") == []
    mine = Memory.objects.get(visibility="private", author=bob)
    (hint,) = added(project, bob, TABS, visibility="private")
    assert hint.number == mine.number


def test_at_most_three_are_given(project: Project, alice: User, bob: User) -> None:
    for place in ("crane", "dock", "gate", "yard", "mast"):
        remember(project, f"Always inspect the rope before the {place} shift starts at night.")
    hints = added(project, bob, "Never inspect the rope before the shift starts at night.")
    assert 1 <= len(hints) <= 3


def test_a_list_of_things_is_no_repetition(project: Project, alice: User, bob: User) -> None:
    for number in range(4):
        remember(project, f"Crane {number} is inspected by the night crew every winter.")
    assert added(project, bob, "Crane 9 is inspected by the night crew every winter.") == []


@pytest.mark.parametrize("link", ["supersedes", "related_to", "contradicts"])
def test_what_the_write_names_itself_is_no_news(project: Project, alice: User, bob: User, link: str) -> None:
    known = remember(project, TABS, tags=["style"])
    assert added(project, bob, SPACES, tags=["style"], **{link: [known.number]}) == []


def test_a_pair_marked_not_similar_stays_unsaid(project: Project, alice: User, bob: User) -> None:
    known, other = remember(project, TABS), remember(project, SPACES)
    for marked, expected in ((False, [known.number]), (True, [])):
        if marked:
            Link.objects.create(source=known, target=other, type=Link.Type.NOT_SIMILAR)
        result = revise_memory(
            actor=person(alice), memory=other, expected_version=1 + marked, tags=[f"tag-{marked}".lower()]
        )
        assert isinstance(result, Applied)
        assert [hint.number for hint in result.hints if hint.type in OWN_TYPES] == expected


def test_a_bag_and_its_child_are_no_repetition(project: Project, alice: User, bob: User) -> None:
    bag = remember(project, TABS)
    assert added(project, bob, SPACES, parent=bag.number) == []


def test_an_update_of_the_text_gives_hints_and_one_of_the_weight_does_not(
    project: Project, alice: User, bob: User
) -> None:
    known, other = remember(project, TABS), remember(project, "Quite another thing.")
    result = revise_memory(actor=person(bob), memory=other, expected_version=1, title=SPACES, summary=SPACES)
    assert isinstance(result, Applied)
    assert [(hint.type, hint.number) for hint in result.hints] == [("similar", known.number)]
    with CaptureQueriesContext(connection) as queries:
        result = revise_memory(actor=person(bob), memory=result.memory, expected_version=2, weight="low")
    assert isinstance(result, Applied)
    assert result.hints == []
    assert not any("search" in query["sql"] for query in queries)


def test_hints_block_nothing_and_come_with_the_answer(project: Project, alice: User, bob: User) -> None:
    known = remember(project, TABS)
    client = Agent(token_for(bob, project)[1])
    answer = client.write("memory_add", title=SPACES, summary=SPACES, kind="fact").json
    assert answer["result"] == "applied"
    assert answer["hints"] == [
        {"type": "similar", "message": f"Similar: #{known.number} - update instead?", "number": known.number}
    ]


def test_the_queries_of_hints_are_few_whatever_the_size(project: Project, alice: User, bob: User) -> None:
    counts = []
    for many in (2, 60):
        for number in range(many):
            remember(project, f"Valve {many} {number} is inspected in week {number} by the crew.")
        known = remember(project, f"Valve {many} inspections are logged on paper.")
        with CaptureQueriesContext(connection) as queries:
            advise(known, known.tag_names, near(known, known.tag_names), lambda other: True)
        counts.append(len(queries))
    assert max(counts) <= 10, counts
