"""Small flaws of a memory: what is one, and the nearest that isn't."""

from __future__ import annotations

from typing import Any

import pytest

from hygiene.models import Flaws
from hygiene.rules.quality import OVERSIZED
from memories.models import Memory
from memories.services import archive_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, person
from tests.hygiene.looking import flaws, found, touch
from tests.hygiene.store import reword as change
from tests.memories.bulk import stock

pytestmark = pytest.mark.django_db


@pytest.fixture
def fine(project: Project) -> Memory:
    """Tagged, and not alone with its tag."""
    MemoryFactory(project=project, tags=["net"])
    return MemoryFactory(project=project, tags=["net"])


def test_a_memory_without_flaws_is_no_finding(project: Project, fine: Memory) -> None:
    assert found(project, "quality") == []
    assert not Flaws.objects.exists()


def test_untagged(project: Project, fine: Memory) -> None:
    bare = MemoryFactory(project=project)
    assert found(project, "quality") == [bare.number]
    assert "untagged" in flaws(project, bare)
    assert "isolated" not in flaws(project, bare)


def test_isolated(project: Project, fine: Memory, alice: User, bob: User) -> None:
    alone = MemoryFactory(project=project, tags=["ports"])
    MemoryFactory(
        project=project, author=bob, visibility="private", tags=["ports"], related_to=[alone.number]
    )
    assert "isolated" in flaws(project, alone)
    related = change(alone, alice, related_to=[fine.number])
    assert flaws(project, related) == ""
    change(related, alice, unlink=[fine.number], reason="No longer.")
    assert "isolated" in flaws(project, alone)
    change(alone, alice, parent=fine.number)
    assert flaws(project, alone) == ""


def test_what_is_linked_to_or_holds_something_is_not_isolated(
    project: Project, fine: Memory, alice: User
) -> None:
    named, bag = MemoryFactory(project=project, tags=["ports"]), MemoryFactory(project=project, tags=["bag"])
    assert "isolated" in flaws(project, named)
    assert "isolated" in flaws(project, bag)
    change(fine, alice, related_to=[named.number])
    MemoryFactory(project=project, tags=["net"], parent=bag)
    assert flaws(project, named) == flaws(project, bag) == ""


def test_thin_rationale(project: Project, fine: Memory) -> None:
    decision = MemoryFactory(project=project, kind="decision", tags=["net"])
    assert flaws(project, decision) == ""
    # As an import may leave it: the next write to it sees it.
    touch(decision, details={"problem": "p" * 40, "why_chosen": "w" * 59})
    decision.refresh_from_db()
    change(decision, decision.author, title="Another title")
    assert "thin_rationale" in flaws(project, decision)


@pytest.mark.parametrize(
    ("body", "is_found"),
    [
        ("Never log bodies in src/hooks/a.py, whoever asks.", True),
        ("Never log bodies below `src/hooks/`.", True),
        ("Never log bodies and/or headers; see https://example.com/docs/logging.html.", False),
    ],
)
def test_global_scope_when_the_path_can_be_named(
    body: str, is_found: bool, project: Project, fine: Memory, alice: User
) -> None:
    rule = MemoryFactory(project=project, kind="constraint", tags=["net"], body=body)
    assert ("global_scope" in flaws(project, rule)) is is_found
    change(rule, alice, scope_paths=["src/hooks"])
    assert flaws(project, rule) == ""


@pytest.mark.parametrize(
    ("body", "is_found"),
    [
        ("Das GerÃ¤t ist aus.", True),
        ("Donâ€™t restart it.", True),
        ("A \ufffd was here.", True),
        ("Das Gerät ist aus: São Paulo, “quoted”, 5 €, naïve, Ålesund, Â.", False),
    ],
)
def test_mojibake(body: str, is_found: bool, project: Project, fine: Memory) -> None:
    memory = MemoryFactory(project=project, tags=["net"], body=body)
    assert ("mojibake" in flaws(project, memory)) is is_found


@pytest.mark.parametrize(
    ("body", "is_found"),
    [("See [the page]().", True), ("See [the page](#).", True), ("`call[x]()` and [a](b.md)", False)],
)
def test_a_markdown_link_that_leads_nowhere(
    body: str, is_found: bool, project: Project, fine: Memory
) -> None:
    memory = MemoryFactory(project=project, tags=["net"], body=body)
    assert ("broken_link" in flaws(project, memory)) is is_found


def test_a_link_to_what_was_archived_is_broken(project: Project, fine: Memory, alice: User) -> None:
    memory = MemoryFactory(project=project, tags=["net"], related_to=[fine.number])
    assert flaws(project, memory) == ""
    archive_memory(actor=person(alice), memory=fine, expected_version=None)
    assert "broken_link" in flaws(project, memory)


@pytest.mark.parametrize(("children", "is_found"), [(OVERSIZED, False), (OVERSIZED + 1, True)])
def test_oversized_bag(children: int, is_found: bool, project: Project, alice: User, bob: User) -> None:
    rows: list[dict[str, Any]] = [{"tags": ["net"]}]
    rows += [{"tags": ["net"], "parent": 0, "title": f"Part {n}"} for n in range(children)]
    rows += [{"parent": 0, "author": bob, "visibility": "private"}]
    bag = stock(project, alice, rows)[0]
    assert ("oversized_bag" in flaws(project, bag)) is is_found
