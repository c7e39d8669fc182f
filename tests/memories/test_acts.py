"""What is done with a memory from its page: said before it is done, by the rules of the services."""

from __future__ import annotations

import pytest

from memories.acts import acts_for
from memories.models import Memory, Review
from projects.models import Project, User
from tests.factories import MemoryFactory
from tests.memories.filling import browser, filled, send, text_of
from tests.memories.pages import bag_of
from tests.memories.verbs import archive, now, revise

pytestmark = pytest.mark.django_db


def act(memory: Memory, name: str = "") -> str:
    return f"/p/harbor/memories/{memory.number}/act/" + (f"?do={name}" if name else "")


def names(memory: Memory, user: User) -> list[str]:
    return [one.name for one in acts_for(now(memory), user)]


@pytest.mark.parametrize(
    ("visibility", "mine", "others"),
    [
        ("private", ["verify", "archive", "shared", "public"], None),
        ("shared", ["verify", "archive", "public", "private"], ["verify", "archive", "public"]),
        ("public", ["verify", "archive", "shared", "private"], ["verify", "archive", "shared"]),
    ],
)
def test_what_is_offered_can_be_done_and_says_so_first(
    alice: User, bob: User, project: Project, visibility: str, mine: list[str], others: list[str] | None
) -> None:
    memory = MemoryFactory(project=project, author=bob, visibility=visibility)
    assert names(memory, bob) == mine
    if others is not None:
        assert names(memory, alice) == others
    client = browser(bob)
    page = text_of(client.get(f"/p/harbor/memories/{memory.number}/"))
    for name in mine[1:]:
        assert act(memory, name) in page
    for name in mine:
        copy = MemoryFactory(project=project, author=bob, visibility=visibility, title=f"To {name}")
        said = client.get(act(copy, name))
        assert "This will be proposed" not in text_of(said)
        done = client.post(act(copy), {**filled(said), "reason": f"For {name}."})
        assert done.status_code == 302
        after = now(copy)
        assert after.version == (1 if name == "verify" else 2)
        assert after.verified_at if name == "verify" else not after.verified_at
        assert after.status == ("archived" if name == "archive" else "active")
        assert after.visibility == (name if name in ("private", "shared", "public") else visibility)
        if name != "verify":
            assert copy.revisions.get(version=2).reason == f"For {name}."
        assert f"#{copy.number}." in text_of(client.get(done["Location"]))
    archive(bob, memory)
    assert names(memory, bob) == ["restore"]
    assert send(client, act(memory, "restore")).status_code == 302
    assert now(memory).is_active


def test_where_the_policy_asks_it_is_proposed_and_says_so_first(
    alice: User, bob: User, project: Project
) -> None:
    memory = MemoryFactory(project=project, author=bob)
    mine = MemoryFactory(project=project, author=bob, visibility="private")
    Project.objects.update(review_policy="agents")
    client, owner = browser(bob), browser(alice)
    said = client.get(act(memory, "archive"))
    assert "This will be proposed" in text_of(said)
    assert "Propose: archive" in text_of(said)
    assert "This will be proposed" not in text_of(owner.get(act(memory, "archive")))
    assert "This will be proposed" not in text_of(client.get(act(memory, "verify")))
    assert "This will be proposed" not in text_of(client.get(act(mine, "archive")))
    assert "This will be proposed" in text_of(client.get(act(mine, "shared")))
    done = client.post(act(memory), {**filled(said), "reason": "It is over."})
    review = Review.objects.get()
    assert (review.kind, review.reason) == ("archive", "It is over.")
    assert now(memory).is_active
    assert "Proposed as R1. Nothing is changed yet" in text_of(client.get(done["Location"]))
    send(client, act(mine, "shared"))
    assert Review.objects.get(number=2).publishes
    assert now(mine).is_private


def test_a_bag_says_what_becomes_of_what_is_inside(alice: User, project: Project) -> None:
    bag = bag_of(project, alice, 3)
    said = browser(alice).get(act(bag, "archive"))
    assert "3 submemories move to the top level." in text_of(said)


def test_what_changed_meanwhile_is_a_conflict_and_the_reason_stays(
    alice: User, bob: User, project: Project
) -> None:
    memory = MemoryFactory(project=project)
    client = browser(alice)
    typed = filled(client.get(act(memory, "archive")))
    revise(bob, memory, summary="It says something else now.")
    page = client.post(act(memory), {**typed, "reason": "Nobody needs it."})
    assert page.status_code == 409
    assert "is now at version 2, you edited version 1" in text_of(page)
    assert "See what changed" in text_of(page)
    again = filled(page)
    assert (again["reason"], again["expected_version"]) == ("Nobody needs it.", "2")
    assert client.post(act(memory), again).status_code == 302
    assert not now(memory).is_active
    # What can't be done any more is said, and nothing is.
    late = client.post(act(memory), again)
    assert late.status_code == 302
    assert f"Nothing was done: #{memory.number} is archived" in text_of(client.get(late["Location"]))
    assert now(memory).version == 3


def test_what_is_no_act_or_no_version_does_nothing(alice: User, bob: User, project: Project) -> None:
    memory = MemoryFactory(project=project, author=bob)
    client = browser(alice)
    for name in ("", "nonsense", "private", "delete"):
        assert client.get(act(memory, name)).status_code == 302
        assert client.post(act(memory), {"do": name, "expected_version": "1"}).status_code == 302
    for version in ("", "x", "0", "99999999999999999999"):
        page = client.post(act(memory), {"do": "archive", "expected_version": version, "reason": "Kept"})
        assert page.status_code == 422
        assert filled(page)["reason"] == "Kept"
    long = client.post(act(memory), {"do": "archive", "expected_version": "1", "reason": "r" * 1001})
    assert long.status_code == 422
    assert "Has 1001 characters" in text_of(long)
    secret = "ghp_" + "a1B2" * 9
    page = client.post(act(memory), {"do": "archive", "expected_version": "1", "reason": secret})
    assert text_of(page).count(secret) == 1
    assert now(memory).version == 1
