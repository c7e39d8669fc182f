"""What can't be, and is reported when it is."""

from __future__ import annotations

import pytest
from django.utils import timezone

from memories.doctor import check_reviews
from memories.models import Memory, Review, Revision
from memories.services import erase_memory
from projects.models import Project, User
from tests.factories import MemoryFactory, person
from tests.reviews.asking import approve, policy, propose, propose_change, reject


@pytest.fixture(autouse=True)
def _policy(project: Project, alice: User) -> None:
    policy(project, "agents")


def found(project: Project) -> list[str]:
    return [finding.sentence for finding in check_reviews(Project.objects.get(pk=project.pk))]


def test_a_store_that_the_services_wrote_is_sound(project: Project, alice: User, bob: User) -> None:
    made = approve(alice, propose(bob, project)).memory
    assert made is not None
    reject(alice, propose(bob, project, title="Two"))
    propose_change(bob, made, title="Three")
    approve(alice, propose_change(bob, made, related_to=[MemoryFactory(project=project).number]))
    assert found(project) == []
    erase_memory(actor=person(alice), memory=made)
    assert found(project) == []


def test_each_thing_that_cant_be_is_named(project: Project, alice: User, bob: User) -> None:
    memory = approve(alice, propose(bob, project)).memory
    assert memory is not None
    waiting = propose_change(bob, memory, title="Waits")
    Revision.objects.update(review=None)
    assert found(project) == ["harbor R1 was approved and stands in no history."]
    Review.objects.filter(number=1).update(memory=None)
    assert "harbor R1 has no memory of this project." in found(project)
    Review.objects.filter(number=1).delete()
    Memory.objects.update(erased_at=timezone.now())
    assert found(project) == [
        "harbor R2 waits although what it is about was erased.",
        "harbor R2 keeps text of what was erased.",
    ]
    waiting.delete()
    propose(bob, project, title="Other")
    Project.objects.update(last_review_number=1)
    assert found(project) == ["harbor has R3, past its last review R1."]
