"""A private memory is its author's alone: nobody else learns anything of it, by any door.

The proof is a comparison: everything that a reader can ask is asked before the memory exists, and again
after its author has written it, put it into a shared bag, linked, changed, verified, moved and archived
it. Every byte is the same. An owner's agents, who see most, look after each step; an owner's pages and
scripts after the first and the last; the others after the first, when it stands in the bag with all its
links. In `make soak` everybody looks after each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memories.models import Memory
from memories.services import (
    add_memory,
    archive_memory,
    erase_memory,
    restore_memory,
    revise_memory,
    verify_memory,
)
from projects.models import Project, User
from tests.access.looking import plain
from tests.access.observing import SECRET, in_the_admin, on_the_web, over_mcp, over_rest
from tests.admin_client import signed_in, superuser
from tests.factories import MembershipFactory, MemoryFactory, ProjectFactory, agent, member, person, token_for
from tests.mcp_client import Agent

CANARY = "pelican"
MISSING = 999_999


@pytest.fixture(autouse=True)
def _asking_a_lot(settings: Any) -> None:
    settings.MEMORYHUB_CALLS_PER_MINUTE = 1_000_000


@pytest.fixture
def author(project: Project) -> User:
    return member(project, "author")


@pytest.fixture
def known(project: Project, author: User, alice: User) -> list[Memory]:
    """What everybody in the project sees: a bag with a child, a constraint, a public memory."""
    bag = MemoryFactory(project=project, author=author, title="Ports", summary="What listens where.")
    child = MemoryFactory(project=project, author=alice, title="API port", summary="8080.", parent=bag)
    rule = MemoryFactory(project=project, author=author, kind="constraint", tags=["net"], scope_paths=["src"])
    public = MemoryFactory(project=project, author=author, visibility="public", title="Open to all")
    return [bag, child, rule, public]


Ask = Callable[[int], dict[str, str]]


def deeds(author: User, project: Project, known: list[Memory]) -> list[Callable[[], Any]]:
    """What the author does with a private memory, step by step; each step is followed by a look."""
    actor = agent(author)
    bag, child, rule, public = known
    linked = {"related_to": [bag.number, child.number], "contradicts": [rule.number, public.number]}

    def mine() -> Memory:
        return Memory.objects.get(visibility="private")

    def change(**given: Any) -> None:
        revise_memory(actor=actor, memory=mine(), expected_version=None, **given)

    def write() -> None:
        add_memory(actor=actor, project=project, parent=bag.number, **linked, **SECRET)

    def turn_over() -> None:
        change(body="pelican, changed", reason="pelican")
        verify_memory(actor=actor, memory=mine())
        change(parent=0)
        change(weight="critical")

    def put_back() -> None:
        change(weight="normal", parent=bag.number)
        change(unlink=[rule.number], reason="pelican")

    def end() -> None:
        archive_memory(actor=actor, memory=mine(), expected_version=None, reason="pelican")
        restore_memory(actor=actor, memory=mine(), expected_version=None)
        archive_memory(actor=actor, memory=mine(), expected_version=None)

    def erase() -> None:
        erase_memory(actor=person(project.memberships.get(role="owner").user), memory=mine())

    return [write, turn_over, put_back, end, erase]


EACH, ENDS, FIRST = slice(None), slice(None, None, 4), slice(1)


def nothing_shows(ask: Ask, unknown: int, steps: list[Callable[[], Any]], looks: slice = EACH) -> None:
    """`looks` says after which of the steps everything is asked again."""
    assert steps[ENDS] == [steps[0], steps[-1]]
    before = ask(unknown)
    assert before
    for step in steps:
        step()
        if step not in steps[looks]:
            continue
        after = ask(unknown)
        assert after.keys() == before.keys()
        for what, said in before.items():
            assert after[what] == said, f"{what}, after {step.__name__}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "path"), [("reader", "/mcp/p/harbor"), ("contributor", "/mcp"), ("owner", "")]
)
def test_agents_of_other_members_learn_nothing(
    role: str, path: str, project: Project, author: User, known: list[Memory], alice: User, scale: int
) -> None:
    reader = {"owner": alice}.get(role) or member(project, "somebody", role)  # type: ignore[arg-type]
    text = token_for(reader, project, rights=("read", "write", "review"))[1]
    project.refresh_from_db()
    nothing_shows(
        lambda unknown: over_mcp(text, project, known, unknown, path),
        project.last_number + 1,
        deeds(author, project, known),
        EACH if role == "owner" or scale > 1 else FIRST,
    )


@pytest.mark.sweep
@pytest.mark.slow
@pytest.mark.parametrize("role", ["reader", "contributor", "owner"])
def test_scripts_of_other_members_learn_nothing(
    role: str, project: Project, author: User, known: list[Memory], alice: User, scale: int
) -> None:
    reader = {"owner": alice}.get(role) or member(project, "somebody", role)  # type: ignore[arg-type]
    text = token_for(reader, project, rights=("read", "write", "review"))[1]
    project.refresh_from_db()
    nothing_shows(
        lambda unknown: over_rest(text, project, known, unknown),
        project.last_number + 1,
        deeds(author, project, known),
        EACH if scale > 1 else ENDS if role == "owner" else FIRST,
    )


def test_an_agent_of_a_stranger_learns_nothing(
    project: Project, author: User, known: list[Memory], charlie: User
) -> None:
    other = ProjectFactory(slug="other")
    other.memberships.create(user=charlie, role="owner")
    text = token_for(charlie, other)[1]
    project.refresh_from_db()

    def ask(unknown: int) -> dict[str, str]:
        learnt = {}
        for name, arguments in (
            ("memory_get", {"ref": unknown}),
            ("memory_recall", {}),
            ("memory_search", {"query": CANARY}),
            ("memory_list", {}),
            ("project_overview", {}),
        ):
            learnt[name] = Agent(text).call(name, project=project.slug, **arguments).text
            learnt[f"pinned {name}"] = (
                Agent(text, f"/mcp/p/{project.slug}")
                .post("tools/call", {"name": name, "arguments": arguments})
                .content.decode()
            )
        learnt["overview of all"] = Agent(text).call("project_overview").text
        return learnt

    nothing_shows(ask, project.last_number + 1, deeds(author, project, known))


@pytest.mark.sweep
@pytest.mark.slow
@pytest.mark.parametrize("who", ["somebody", "alice", "charlie"])
def test_pages_show_nothing_to_others(
    who: str, project: Project, author: User, known: list[Memory], alice: User, charlie: User, scale: int
) -> None:
    reader = {"alice": alice, "charlie": charlie}.get(who) or member(project, "somebody")
    project.refresh_from_db()
    nothing_shows(
        lambda unknown: on_the_web(reader, project, known, unknown),
        project.last_number + 1,
        deeds(author, project, known),
        EACH if scale > 1 else ENDS if who == "alice" else FIRST,
    )


def test_the_admin_shows_nothing_to_staff(project: Project, author: User, known: list[Memory]) -> None:
    root = superuser()
    unknown = Memory.objects.order_by("-pk").values_list("pk", flat=True)[0] + 1
    nothing_shows(lambda pk: in_the_admin(root, known, pk), unknown, deeds(author, project, known))


def test_its_author_sees_it(project: Project, author: User, known: list[Memory]) -> None:
    """The control: what others don't see is there to be seen."""
    deeds(author, project, known)[0]()
    private = Memory.objects.get(visibility="private")
    text = token_for(author, project)[1]
    seen = over_mcp(text, project, known, MISSING)
    assert CANARY in seen["memory_recall {}"] + seen["memory_list {}"]
    assert CANARY in Agent(text).call("memory_search", query="pelican plans").text
    assert Agent(text).call("memory_get", ref=known[0].number).json["children"] == 2
    page = signed_in(author).get(f"/p/{project.slug}/memories/{private.number}/")
    assert CANARY in page.content.decode()


# --- what somebody does to a bag that holds another's private memory -----------------------


BAG_DEEDS: dict[str, dict[str, Any]] = {
    "into another bag": {"parent": "other"},
    "critical": {"weight": "critical"},
    "public": {"visibility": "public"},
    "reworded": {"body": "Said at more length."},
    "archived": {"archive": {}},
    "replaced": {"archive": {"superseded_by": "other"}},
    "merged": {"archive": {"merge_into": "other"}},
}


@pytest.mark.parametrize("deed", BAG_DEEDS)
def test_a_hidden_child_neither_refuses_nor_shows(deed: str, author: User, bob: User) -> None:
    """The same is answered about a bag that holds a hidden memory and about one that holds nothing."""
    answers = []
    for slug in ("empty", "holding"):
        project = ProjectFactory(slug=slug)
        for user in (bob, author):
            MembershipFactory(project=project, user=user)
        bag = MemoryFactory(project=project, author=bob, title="A bag", summary="Things.")
        other = MemoryFactory(project=project, author=bob, title="Another", summary="More.")
        if slug == "holding":
            private = MemoryFactory(project=project, author=author, visibility="private", parent=bag)
        given = dict(BAG_DEEDS[deed])
        archive = given.pop("archive", None)
        more = given if archive is None else archive
        more = {name: other.number if value == "other" else value for name, value in more.items()}
        tool = "memory_update" if archive is None else "memory_archive"
        agent_of_bob = Agent(token_for(bob, project)[1])
        answer = agent_of_bob.write(tool, ref=bag.number, expected_version=1, **more)
        assert not answer.is_error, answer.text
        after = agent_of_bob.call("memory_get", ref=bag.number).json
        answers.append((answer.text, {name: said for name, said in after.items() if "_at" not in name}))
        del answers[-1][1]["provenance"]  # when it was created
    assert answers[0] == answers[1]
    private.refresh_from_db()
    assert private.is_active
    if deed not in ("critical", "public", "reworded"):
        assert private.parent is None or private.parent == other


def test_the_same_words_as_a_private_memory_are_no_duplicate(
    project: Project, author: User, bob: User, known: list[Memory]
) -> None:
    deeds(author, project, known)[0]()
    same = {**SECRET, "visibility": "shared", "retrieval_hints": []}
    answer = Agent(token_for(bob, project)[1]).write("memory_add", **same)
    assert answer.json["result"] == "applied"
    assert "hints" not in answer.json
    again = Agent(token_for(bob, project)[1])
    assert again.write("memory_add", write_context={"session": "another"}, **same).code == "duplicate"


# --- when a private memory becomes shared, and the other way round --------------------------


def test_what_was_written_in_private_stays_private(project: Project, author: User, bob: User) -> None:
    bag = MemoryFactory(project=project, author=author, title="Private bag", visibility="private")
    memory = MemoryFactory(project=project, author=author, parent=bag, **SECRET)
    revise_memory(
        actor=agent(author),
        memory=memory,
        expected_version=1,
        parent=0,
        visibility="shared",
        kind="note",
        title="Fit for all",
        summary="Nothing secret any more.",
        body="",
        details={"reason": ""},
        hardness="",
        tags=[],
        retrieval_hints=[],
        scope_paths=[],
    )
    text = token_for(bob, project)[1]
    for what, said in (
        over_mcp(text, project, [memory], MISSING) | on_the_web(bob, project, [memory], MISSING)
    ).items():
        if CANARY not in what:  # what was asked for may be repeated
            assert CANARY not in said.lower(), what
    assert Agent(text).call("memory_search", query=CANARY).json["total"] == 0
    history = plain(signed_in(bob).get(f"/p/{project.slug}/memories/{memory.number}/"))
    assert CANARY not in history
    assert f"#{bag.number}" not in history


def test_a_memory_that_becomes_private_is_gone_for_others(
    project: Project, author: User, bob: User, known: list[Memory]
) -> None:
    shared = {**SECRET, "visibility": "shared"}
    memory = MemoryFactory(
        project=project, author=author, parent=known[0], related_to=[known[2].number], **shared
    )
    MemoryFactory(project=project, author=bob, title="Points at it", related_to=[memory.number])
    survivor = MemoryFactory(project=project, author=author, title="Survivor", visibility="private")
    text, client = token_for(bob, project)[1], signed_in(bob)
    assert CANARY in Agent(text).call("memory_get", ref=memory.number).text
    revise_memory(actor=agent(author), memory=memory, expected_version=None, visibility="private")
    rows = Memory.objects.visible_to(bob)
    learnt = over_mcp(text, project, list(rows), memory.number) | on_the_web(
        bob, project, list(rows), memory.number
    )
    for what, said in learnt.items():
        if CANARY not in what:
            assert CANARY not in said, what
            assert f"#{survivor.number} " not in said, what
    for memory_seen in rows:
        told = Agent(text).call("memory_get", ref=memory_seen.number).json
        assert memory.number not in [number for some in told.get("links", {}).values() for number in some]
        page = plain(client.get(f"/p/{project.slug}/memories/{memory_seen.number}/"))
        assert f"/memories/{memory.number}/" not in page


def test_a_shared_memory_is_not_merged_into_a_private_one(project: Project, author: User) -> None:
    """Else the archived one would have to say where it went, to readers who can't go there."""
    private = MemoryFactory(project=project, author=author, title="Mine", visibility="private")
    shared = MemoryFactory(project=project, author=author, title="Ours")
    own = Agent(token_for(author, project)[1])
    for argument in ("merge_into", "superseded_by"):
        answer = own.write(
            "memory_archive", ref=shared.number, expected_version=1, **{argument: private.number}
        )
        assert answer.code == "invalid"
    answer = own.write("memory_archive", ref=private.number, expected_version=1, merge_into=shared.number)
    assert answer.code == "invalid"
