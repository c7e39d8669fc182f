"""The demo: MemoryHub's own memory, with what an agent proposes and nobody has decided yet."""

from __future__ import annotations

import pytest

from memories.models import Memory, Review
from memories.reviews.showing import proposal_of
from memories.services import reject_review
from memoryhub.demo.loading import SLUG, Demo, load_demo
from projects.models import Project, User
from tasks.continuity import continuity_context
from tasks.handover import streams_of
from tasks.models import Receipt, Task
from tests.factories import person

pytestmark = pytest.mark.django_db


def test_the_demo_shows_proposals_that_its_owner_may_decide(demo: Demo) -> None:
    owner, project = User.objects.get(username="demo"), Project.objects.get(slug=SLUG)
    reviews = list(Review.objects.visible_to(owner).whole().oldest_first())
    assert [review.kind for review in reviews] == ["create", "update"]
    assert all(review.is_pending and review.actor_name == "demo's agent (demo agent)" for review in reviews)
    (change,) = proposal_of(reviews[1], owner).changes
    assert set(change.current) < set(change.proposed)
    assert not Memory.objects.in_project(project).filter(title=reviews[0].title).exists()


def test_loading_it_again_changes_nothing_of_what_was_decided(demo: Demo) -> None:
    owner, project = User.objects.get(username="demo"), Project.objects.get(slug=SLUG)
    reject_review(actor=person(owner), review=Review.objects.get(number=1), note="Known.")
    counted = Memory.objects.count()
    assert load_demo().stored == 0
    assert (Memory.objects.count(), Review.objects.count()) == (counted, 2)
    assert Review.objects.in_project(project).pending().count() == 1


def test_the_demo_leaves_a_hand_off_that_nobody_took_over(demo: Demo) -> None:
    owner, project = User.objects.get(username="demo"), Project.objects.get(slug=SLUG)
    (receipt,) = Receipt.objects.in_project(project).unfinished()
    assert receipt.actor_name == "demo's agent (demo agent)"
    context = continuity_context(project, owner)
    assert context["snapshot"].startswith("CONTINUITY SNAPSHOT\nObjective: Find out")
    assert context["receipts"][0]["number"] == receipt.number
    assert [task["title"] for task in context["tasks"] if task.get("ready")]
    assert [task["claim"]["by"] for task in context["tasks"] if task.get("claim")] == [receipt.actor_name]
    states = {one.checkpoint.stream: one.state for one in streams_of(project, owner)[0]}
    assert states == {"main": "active", "docs/quickstart": "stale"}
    counted = Task.objects.count()
    load_demo()
    assert (Task.objects.count(), Receipt.objects.count()) == (counted, 1)
