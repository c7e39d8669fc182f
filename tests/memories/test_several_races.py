"""Several changes at once, in real threads: what was shown is done once, or not at all."""

from __future__ import annotations

import pytest

from memories.errors import SeveralMovedOn
from memories.models import Memory, Revision
from memories.services import NEW_BAG, NewBag, Step, apply_several, move_into_bag, revise_memory, try_several
from projects.models import Project, Role
from tests.factories import MemoryFactory, ProjectFactory, member, person
from tests.threads import at_once, errors

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_confirm_the_same_at_once_and_one_does_it() -> None:
    project = ProjectFactory(slug="harbor")
    people = [member(project, name, Role.OWNER) for name in ("alice", "rita")]
    memories = MemoryFactory.create_batch(5, project=project)
    bag = NewBag("Ports", "What listens where.")
    steps = [Step(move_into_bag, memory.number, {}, {"bag": NEW_BAG}) for memory in memories]
    trials = [try_several(actor=person(user), project=project, steps=steps, bag=bag) for user in people]

    def confirm(n: int) -> object:
        given = NewBag(f"Ports {n}", "What listens where.")
        return apply_several(
            actor=person(people[n % 2]), project=project, steps=steps, seen=trials[n % 2].seen, bag=given
        )

    results = at_once(6, confirm)
    assert [type(error) for error in errors(results)] == [SeveralMovedOn] * 5
    # Those that were refused left no bag behind.
    bags = Memory.objects.filter(title__startswith="Ports")
    assert bags.count() == 1
    assert Memory.objects.filter(parent=bags.get()).count() == 5
    assert Revision.objects.count() == 5 + 1 + 5
    project = Project.objects.get(pk=project.pk)
    assert project.last_number == 6


def test_an_edit_between_showing_and_doing_is_never_lost() -> None:
    """Either the edit came first and all is refused, or it came after and met another version."""
    project = ProjectFactory(slug="harbor")
    alice, bob = member(project, "alice", Role.OWNER), member(project, "bob")
    memories = MemoryFactory.create_batch(4, project=project)
    steps = [Step(revise_memory, memory.number, {"weight": "low"}) for memory in memories]
    trial = try_several(actor=person(alice), project=project, steps=steps)

    def work(n: int) -> object:
        if n == 0:
            return apply_several(actor=person(alice), project=project, steps=steps, seen=trial.seen)
        return revise_memory(actor=person(bob), memory=memories[n], expected_version=1, title=f"Renamed {n}")

    results = at_once(4, work)
    lowered = Memory.objects.filter(weight="low").count()
    renamed = Memory.objects.filter(title__startswith="Renamed").count()
    assert (lowered, renamed, len(errors(results))) in ((4, 0, 3), (0, 3, 1))
    assert isinstance(results[0], SeveralMovedOn) == (lowered == 0)
    assert Revision.objects.count() == 4 + lowered + renamed
