"""Several changes on the service: tried and taken back, done as one, refused as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.errors import NoSuchMemory, OutcomeMovedOn, SeveralMovedOn
from memories.models import Memory, Review
from memories.services import (
    NEW_BAG,
    SEVERAL_MAX,
    Applied,
    NewBag,
    Pending,
    Step,
    Trial,
    add_tags,
    apply_several,
    archive_memory,
    change_tags,
    merge_memories,
    move_into_bag,
    restore_memory,
    revise_memory,
    supersede_memory,
    try_several,
    verify_memory,
)
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Conflict, Invalid
from projects.errors import ProjectArchived, RoleTooLow
from projects.models import Project, User
from tests.access.looking import store, written
from tests.factories import MemoryFactory, person
from tests.memories.bulk import settle, stock
from tests.reviews.asking import policy

pytestmark = pytest.mark.django_db

BAG = NewBag("Ports", "What listens where.", ["net"])


@pytest.fixture
def three(project: Project, alice: User) -> list[Memory]:
    return MemoryFactory.create_batch(3, project=project, author=alice, tags=["a"])


def each(verb: Any, memories: Sequence[Memory], **given: Any) -> list[Step]:
    return [Step(verb, memory.number, given) for memory in memories]


def tried(actor: Actor, steps: Sequence[Step], **more: Any) -> Trial:
    """What it would do; nothing of it is there afterwards."""
    before = store()
    trial = try_several(actor=actor, project=Project.objects.get(slug="harbor"), steps=steps, **more)
    assert not written(before)
    return trial


def done(actor: Actor, steps: Sequence[Step], trial: Trial, **more: Any) -> list[Any]:
    project = Project.objects.get(slug="harbor")
    return apply_several(
        actor=actor, project=project, steps=steps, seen=trial.seen, waiting=trial.waiting, **more
    )


VERBS: list[tuple[Any, dict[str, Any], str, Any]] = [
    (revise_memory, {"weight": "low"}, "weight", "low"),
    (add_tags, {"tags": ["b"]}, "tag_names", ["a", "b"]),
    (change_tags, {"add": ["b"], "remove": ["A", "not-there"]}, "tag_names", ["b"]),
    (archive_memory, {"reason": "Old."}, "status", "archived"),
    (supersede_memory, {"successor": 4}, "status", "superseded"),
    (merge_memories, {"survivor": 4}, "status", "archived"),
]


@pytest.mark.parametrize(("verb", "given", "field", "value"), VERBS)
def test_what_is_tried_is_what_is_done(
    three: list[Memory],
    project: Project,
    alice: User,
    verb: Any,
    given: dict[str, Any],
    field: str,
    value: Any,
) -> None:
    MemoryFactory(project=project, author=alice)
    actor, steps = person(alice), each(verb, three, **given)
    trial = tried(actor, steps, beside=[4])
    assert not trial.refusals
    assert trial.waiting == 0
    assert trial.seen[1] == 1
    results = done(actor, steps, trial)
    assert [getattr(memory, field) for memory in Memory.objects.filter(number__in=[1, 2, 3])] == [value] * 3
    told = [(result.memory.number, result.memory.version) for result in results]
    assert told == [(one.result.memory.number, one.result.memory.version) for one in trial.tried]  # type: ignore[union-attr]


def test_lifting_out_restoring_and_verifying(three: list[Memory], project: Project, alice: User) -> None:
    actor = person(alice)
    bag, inside, gone = three
    move_into_bag(actor=actor, memory=inside, bag=bag, expected_version=1)
    archive_memory(actor=actor, memory=gone, expected_version=1)
    steps = [
        Step(move_into_bag, inside.number, {"bag": None}),
        Step(restore_memory, gone.number),
        Step(verify_memory, bag.number),
    ]
    done(actor, steps, tried(actor, steps))
    for memory in three:
        memory.refresh_from_db()
    assert (inside.parent, gone.status) == (None, "active")
    assert bag.verified_at is not None


def test_a_refusal_is_told_by_step_and_stops_no_other(three: list[Memory], alice: User, bob: User) -> None:
    """What the actor may not see is refused like a number that is not there."""
    secret = MemoryFactory(project=three[0].project, author=bob, actor=person(bob), visibility="private")
    archive_memory(actor=person(alice), memory=three[1], expected_version=1)
    steps = [*each(verify_memory, three), Step(verify_memory, secret.number), Step(verify_memory, 999)]
    trial = tried(person(alice), steps)
    assert [one.refusal is not None for one in trial.tried] == [False, True, False, True, True]
    hidden, missing = (one.refusal for one in trial.tried[3:])
    assert hidden is not None
    assert missing is not None
    assert hidden.message.replace(f"#{secret.number}", "#999") == missing.message
    assert set(trial.seen) == {1, 2, 3}
    before = store()
    with pytest.raises(NoSuchMemory):
        done(person(alice), steps, trial)
    assert not written(before)


def test_one_step_that_is_refused_when_it_is_done_takes_all_back(three: list[Memory], alice: User) -> None:
    steps = each(revise_memory, three, tags=["b"])
    trial = tried(person(alice), steps)
    steps[2] = Step(revise_memory, three[2].number, {"tags": ["No Tag"]})
    before = store()
    with pytest.raises(Invalid):
        done(person(alice), steps, trial)
    assert not written(before)


def test_what_changed_between_refuses_all_and_names_it(three: list[Memory], alice: User, bob: User) -> None:
    steps = each(archive_memory, three[:2])
    trial = tried(person(alice), steps)
    revise_memory(actor=person(bob), memory=three[1], expected_version=1, title="Renamed")
    before = store()
    with pytest.raises(SeveralMovedOn) as refused:
        done(person(alice), steps, trial)
    assert refused.value.details["changed"] == [{"number": three[1].number, "current_version": 2}]
    # What was not shown is not touched either, and what vanished has moved on.
    for seen in ({1: 1}, {1: 1, 2: 2, 999: 1}):
        with pytest.raises(SeveralMovedOn):
            apply_several(actor=person(alice), project=three[0].project, steps=steps, seen=seen)
    assert not written(before)


def test_the_survivor_and_the_bag_are_compared_too(three: list[Memory], alice: User) -> None:
    first, second, other = three
    for steps, beside in (
        ([Step(merge_memories, first.number, {"survivor": other.number})], [other.number]),
        ([Step(move_into_bag, second.number, {}, {"bag": other.number})], []),
    ):
        trial = tried(person(alice), steps, beside=beside)
        now = Memory.objects.get(pk=other.pk)
        revise_memory(actor=person(alice), memory=now, expected_version=None, title=f"Now {now.version}")
        with pytest.raises(SeveralMovedOn):
            done(person(alice), steps, trial)


def test_what_would_be_proposed_has_to_be_what_was_shown(
    three: list[Memory], project: Project, bob: User
) -> None:
    """A policy that changes between shows what would be done at once as what it is not."""
    steps = each(archive_memory, three)
    trial = tried(person(bob), steps)
    assert trial.waiting == 0
    policy(project, "agents")
    before = store()
    with pytest.raises(OutcomeMovedOn):
        done(person(bob), steps, trial)
    assert not written(before)
    assert OutcomeMovedOn.code == Conflict.code
    trial = tried(person(bob), steps)
    assert (trial.waiting, [one.waits for one in trial.tried]) == (3, [True] * 3)
    results = done(person(bob), steps, trial)
    assert all(isinstance(result, Pending) for result in results)
    assert Review.objects.count() == 3
    assert not Memory.objects.exclude(status="active").exists()
    # The same once more: the proposer's own wait already.
    assert len(tried(person(bob), steps).refusals) == 3


def test_a_private_one_of_ones_own_is_done_at_once_under_every_policy(project: Project, bob: User) -> None:
    policy(project, "everyone")
    mine = MemoryFactory(project=project, author=bob, actor=person(bob), visibility="private")
    steps = each(archive_memory, [mine])
    trial = tried(person(bob), steps)
    assert trial.waiting == 0
    done(person(bob), steps, trial)
    assert Memory.objects.get(pk=mine.pk).status == "archived"


@pytest.mark.parametrize("who", ["alice", "rita", "bob"])
def test_a_new_bag_holds_them_or_waits_alone(
    three: list[Memory], project: Project, alice: User, rita: User, bob: User, who: str
) -> None:
    policy(project, "agents")
    actor = person(User.objects.get(username=who))
    steps = [Step(move_into_bag, memory.number, {}, {"bag": NEW_BAG}) for memory in three]
    trial = tried(actor, steps, bag=BAG)
    results = done(actor, steps, trial, bag=BAG)
    if who == "bob":
        assert (isinstance(trial.bag, Pending), trial.tried, trial.waiting) == (True, [], 1)
        assert len(results) == 1
        assert not Memory.objects.exclude(parent=None).exists()
    else:
        assert isinstance(trial.bag, Applied)
        bag = Memory.objects.get(title="Ports")
        assert {memory.parent_id for memory in Memory.objects.filter(number__in=[1, 2, 3])} == {bag.pk}


def test_a_new_bag_that_cant_be_made_is_refused_at_its_fields(three: list[Memory], alice: User) -> None:
    steps = [Step(move_into_bag, three[0].number, {}, {"bag": NEW_BAG})]
    with pytest.raises(Invalid) as refused:
        tried(person(alice), steps, bag=NewBag("", "# No summary"))
    assert set(refused.value.details["fields"]) == {"title", "summary"}


def test_who_may_not_write_is_refused(three: list[Memory], project: Project, rick: User, alice: User) -> None:
    steps = each(archive_memory, three)
    trial = tried(person(rick), steps)
    assert all(isinstance(one.refusal, RoleTooLow) for one in trial.tried)
    before = store()
    with pytest.raises(RoleTooLow):
        done(person(rick), steps, trial)
    assert not written(before)
    settle(project, archived_at=project.created_at)
    with pytest.raises(ProjectArchived):
        tried(person(alice), steps)


def test_so_many_and_no_more(project: Project, alice: User) -> None:
    steps = [Step(verify_memory, number) for number in range(1, SEVERAL_MAX + 2)]
    for call in (
        lambda: try_several(actor=person(alice), project=project, steps=steps),
        lambda: apply_several(actor=person(alice), project=project, steps=steps, seen={}),
    ):
        with pytest.raises(Invalid, match=f"at most {SEVERAL_MAX}"):
            call()


def test_trying_takes_the_same_queries_for_each(project: Project, alice: User) -> None:
    """However many stand in the project or were tried before: no step looks at the others."""
    memories = stock(project, alice, [{} for _ in range(12)])
    taken = []
    for many in (1, 2, 12):
        with CaptureQueriesContext(connection) as queries:
            try_several(
                actor=person(alice), project=project, steps=each(revise_memory, memories[:many], weight="low")
            )
        taken.append(len(queries))
    one, two, twelve = taken
    assert twelve - two == 10 * (two - one)
