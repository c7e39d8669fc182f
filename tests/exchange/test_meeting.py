"""A file and a project that both have something: matched by uid, nothing newer is lost, nothing deleted."""

from __future__ import annotations

from typing import Any

import pytest

from memories.models import Link, Memory, Review, Revision
from memories.search import SearchFilter, search_memories
from memories.services import (
    add_memory,
    approve_review,
    erase_memory,
    mark_not_similar,
    move_into_bag,
    reject_review,
    verify_memory,
)
from memoryhub.exchange.models import Conflict
from memoryhub.exchange.plan import Outcome
from memoryhub.kernel.doctor import all_checks
from projects.models import Project, Role, User
from tasks.models import Checkpoint, Receipt, Task
from tasks.services import acknowledge_receipt, erase_task, revise_task, save_checkpoint
from tests.exchange.rich import bring, content, packed, rich_project, wipe
from tests.factories import MemoryFactory, agent, member, person, receipt_in, task_in
from tests.memories.verbs import archive, revise

pytestmark = pytest.mark.django_db


def now(memory: Memory) -> Memory:
    return Memory.objects.get(pk=memory.pk)


def found(project: Project, reader: User, words: str) -> list[int]:
    hits = search_memories(project, reader, words, SearchFilter(), limit=10)
    return [item.number for item in hits.items]


class Elsewhere:
    """Another hub that shares this project: what is done inside `with` is done there, and not here."""

    def __init__(self, project: Project, start: bytes) -> None:
        self.project, self.start = project, start
        self.data = b""

    def __enter__(self) -> Project:
        here = Project.objects.get(slug=self.project.slug)
        self._mine = packed(here)
        wipe(here)
        self._begin(self.start)
        return Project.objects.get(slug=self.project.slug)

    def _begin(self, data: bytes) -> None:
        bring(data, slug=self.project.slug, owner=User.objects.get(username="alice"))

    def __exit__(self, *raised: Any) -> None:
        there = Project.objects.get(slug=self.project.slug)
        self.data = packed(there)
        wipe(there)
        self._begin(self._mine)


def of(project: Project, title: str) -> Memory:
    return Memory.objects.select_related("project").get(project__slug=project.slug, title=title)


def test_what_comes_in_is_found_at_once(alice: User, project: Project) -> None:
    MemoryFactory(project=project, title="Walrus", summary="Lives in the harbour.")
    task_in(project, title="Feed the ocelot")
    start = packed(project)
    wipe(project)
    bring(start, owner=alice)
    back = Project.objects.get(slug="harbor")
    assert found(back, alice, "walrus") == [1]
    assert found(back, alice, "ocelot") == [2]


def test_imported_twice_brings_nothing_new() -> None:
    project = rich_project()
    data, before = packed(project), content(project)
    plan = bring(data)
    assert (plan.changes, plan.conflicts) == (0, 0)
    assert content(project) == before


def test_a_copy_beside_the_original_takes_the_same_uids_of_its_own_each_time(
    project: Project, alice: User
) -> None:
    MemoryFactory(project=project, title="Original")
    data = packed(project)
    assert bring(data, slug="copy").total(Outcome.CREATED) == 1
    again = bring(data, slug="copy")
    assert (again.changes, again.total(Outcome.SAME)) == (0, 1)
    assert Memory.objects.filter(title="Original").count() == 2


def test_only_the_file_moved_and_is_taken(project: Project, alice: User) -> None:
    MemoryFactory(project=project, title="Retries")
    elsewhere = Elsewhere(project, packed(project))
    with elsewhere as there:
        revise(alice, of(there, "Retries"), title="Retries, thrice", body="ibex")
    plan = bring(elsewhere.data)
    assert plan.total(Outcome.TAKEN) == 1
    memory = of(project, "Retries, thrice")
    assert (memory.version, memory.revisions.count()) == (2, 2)
    assert found(memory.project, alice, "ibex") == [memory.number]
    assert bring(elsewhere.data).changes == 0


def test_an_older_file_loses_nothing_newer(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, title="Retries")
    task = task_in(project)
    save_checkpoint(actor=person(alice), project=project, objective="First")
    older = packed(project)
    revise(alice, memory, title="Newer")
    revise_task(actor=person(alice), task=task, expected_version=1, status="done")
    save_checkpoint(actor=person(alice), project=project, objective="Second", expected_version=1)
    MemoryFactory(project=project, title="Came later")
    before = content(project)
    plan = bring(older)
    assert (plan.changes, plan.conflicts) == (0, 0)
    assert plan.total(Outcome.KEPT) == 3
    assert content(project) == before


@pytest.mark.parametrize("file_is_newer", [True, False])
def test_both_moved_the_newer_stands_and_the_other_is_kept(
    project: Project, alice: User, file_is_newer: bool
) -> None:
    MemoryFactory(project=project, title="Retries", body="common")
    task_in(project, title="Work")
    elsewhere = Elsewhere(project, packed(project))

    def change_here() -> None:
        revise(alice, of(project, "Retries"), body="from here", tags=["here"])
        task = Task.objects.get(project__slug="harbor")
        revise_task(actor=person(alice), task=task, expected_version=1, summary="From here.")

    def change_there() -> None:
        with elsewhere as there:
            revise(alice, of(there, "Retries"), summary="From there.")
            task = Task.objects.get(project=there)
            revise_task(actor=person(alice), task=task, expected_version=1, priority="high")

    for change in (change_here, change_there) if file_is_newer else (change_there, change_here):
        change()
    plan = bring(elsewhere.data)
    outcome = Outcome.CONFLICT_TAKEN if file_is_newer else Outcome.CONFLICT_KEPT
    assert plan.total(outcome) == plan.conflicts == 2
    memory, task = of(project, "Retries"), Task.objects.get(project__slug="harbor")
    # What stands is one version whole, never a mixture.
    stands = ("common", "From there.", "high") if file_is_newer else ("from here", memory.summary, "normal")
    assert (memory.body, memory.summary, task.priority) == stands
    conflict = Conflict.objects.get(memory=memory)
    lost = {"body": "from here"} if file_is_newer else {"body": "common", "summary": "From there."}
    assert lost.items() <= conflict.lost.items()
    assert conflict.lost_by == ("here" if file_is_newer else "file")
    assert [name for check in all_checks().values() for name in check(memory.project)] == []
    again = bring(elsewhere.data)
    assert (again.changes, Conflict.objects.count()) == (0, 2)


def test_a_history_that_took_the_files_side_still_tells_what_each_version_was(
    project: Project, alice: User
) -> None:
    from memories.versions import as_it_was

    MemoryFactory(project=project, title="Retries", body="common")
    elsewhere = Elsewhere(project, packed(project))
    revise(alice, of(project, "Retries"), body="from here")
    with elsewhere as there:
        revise(alice, of(there, "Retries"), summary="From there.")
    bring(elsewhere.data)
    memory = of(project, "Retries")
    assert memory.version == 4
    was = as_it_was(memory, alice, [1, 2, 3, 4])
    assert [one.values["body"] for one in was] == ["common", "from here", "common", "common"]
    assert was[3].values["summary"] == "From there."


def test_two_hubs_that_bring_each_other_in_say_the_same(project: Project, alice: User) -> None:
    MemoryFactory(project=project, title="Retries", body="common")
    elsewhere = Elsewhere(project, packed(project))
    revise(alice, of(project, "Retries"), body="from here")
    with elsewhere as there:
        revise(alice, of(there, "Retries"), body="from there")
    bring(elsewhere.data)
    mine = packed(Project.objects.get(slug="harbor"))
    elsewhere.start = elsewhere.data
    with elsewhere:
        assert bring(mine).conflicts == 0
        assert of(project, "Retries").body == "from there"
    assert bring(elsewhere.data).changes == 0


def test_an_erasure_is_respected_both_ways(project: Project, alice: User) -> None:
    MemoryFactory(project=project, title="Here", body="one")
    MemoryFactory(project=project, title="There", body="two")
    task_in(project, title="Work")
    before = packed(project)
    elsewhere = Elsewhere(project, before)
    with elsewhere as there:
        erase_memory(actor=person(alice), memory=of(there, "There"))
        erase_task(actor=person(alice), task=Task.objects.get(project=there))
    back = Project.objects.get(slug="harbor")
    erase_memory(actor=person(alice), memory=of(back, "Here"))
    plan = bring(elsewhere.data)
    assert plan.total(Outcome.ERASED) == 2
    bring(before)
    assert set(Memory.objects.filter(project=back).values_list("title", "body")) == {("(erased)", "")}
    assert Task.objects.get(project=back).is_erased
    assert b"two" not in content(back)
    assert not Revision.objects.filter(memory__project=back, fields__has_key="body").exists()


def test_a_number_that_is_taken_gets_a_new_one_everywhere_it_is_named(project: Project, alice: User) -> None:
    elsewhere = Elsewhere(project, packed(project))
    with elsewhere as there:
        bag = MemoryFactory(project=there, title="Bag", author=alice)
        MemoryFactory(project=there, title="Child", parent=bag, author=alice)
        first = task_in(there, alice, title="First")
        task_in(there, alice, title="Second", blocked_by=[first.number])
        receipt_in(there, alice, references={"numbers": [first.number]})
    back = Project.objects.get(slug="harbor")
    MemoryFactory(project=back, title="Mine", author=alice)
    MemoryFactory(project=back, title="Mine, too", author=alice)
    plan = bring(elsewhere.data)
    assert plan.renumbered == 2
    bag, child = of(back, "Bag"), of(back, "Child")
    assert {bag.number, child.number} == {6, 7}
    assert child.parent == bag
    assert Revision.objects.get(memory=child).fields["parent"] == bag.number
    task = Task.objects.get(project=back, title="First")
    assert Receipt.objects.get(project=back).references == {"numbers": [task.number]}
    assert MemoryFactory(project=Project.objects.get(pk=back.pk), author=alice).number == 8


def test_bags_that_two_sides_made_keep_one_level(project: Project, alice: User) -> None:
    for title in ("One", "Two", "Three"):
        MemoryFactory(project=project, title=title)
    elsewhere = Elsewhere(project, packed(project))
    one, two = of(project, "One"), of(project, "Two")
    move_into_bag(actor=person(alice), memory=one, bag=two, expected_version=1)
    with elsewhere as there:
        move_into_bag(
            actor=person(alice), memory=of(there, "Two"), bag=of(there, "Three"), expected_version=1
        )
    back = Project.objects.get(slug="harbor")
    plan = bring(elsewhere.data)
    assert plan.moved_out >= 1
    assert [finding for check in all_checks().values() for finding in check(back)] == []


def test_names_without_an_account_stay_as_attributions(project: Project, alice: User) -> None:
    zoe = member(project, "zoe")
    MemoryFactory(project=project, author=zoe, title="Hers")
    save_checkpoint(actor=agent(zoe), project=project, objective="Hers")
    before, data = content(project), packed(project)
    wipe(project)
    User.objects.filter(username="zoe").update(username="somebody-else")
    plan = bring(data)
    assert plan.attributions == ["zoe"]
    author = of(project, "Hers").author
    assert (author.username, author.is_active, author.has_usable_password()) == (
        "zoe (imported)",
        False,
        False,
    )
    assert content(Project.objects.get(slug="harbor")) == before
    assert bring(data).changes == 0


def test_a_decision_is_taken_and_never_undone(alice: User, project: Project) -> None:
    bob = member(project, "bob")
    Project.objects.filter(pk=project.pk).update(review_policy="agents")
    project.refresh_from_db()
    for title in ("One", "Two"):
        add_memory(actor=agent(bob), project=project, kind="fact", title=title, summary="It is so.")
    waiting = packed(project)
    for review in Review.objects.filter(title="One"):
        approve_review(actor=person(alice), review=review)
    assert bring(waiting).total(Outcome.KEPT) == 1
    decided = packed(project)
    reject_review(actor=person(alice), review=Review.objects.get(title="Two"), note="No.")
    assert bring(decided).changes == 0
    assert set(Review.objects.values_list("status", flat=True)) == {"approved", "rejected"}


def test_verifying_and_taking_over_travel_without_a_version(project: Project, alice: User) -> None:
    MemoryFactory(project=project, title="Retries")
    receipt_in(project, alice)
    elsewhere = Elsewhere(project, packed(project))
    with elsewhere as there:
        verify_memory(actor=person(alice), memory=of(there, "Retries"))
        acknowledge_receipt(actor=person(alice), receipt=Receipt.objects.get(project=there))
    bring(elsewhere.data)
    memory = of(project, "Retries")
    assert (memory.version, memory.verified_by) == (1, alice)
    assert Receipt.objects.get(project=memory.project).acknowledged_by == alice


def test_checkpoints_that_both_saved_both_stay(project: Project, alice: User) -> None:
    save_checkpoint(actor=person(alice), project=project, objective="Common")
    elsewhere = Elsewhere(project, packed(project))
    with elsewhere as there:
        save_checkpoint(actor=person(alice), project=there, objective="There", expected_version=1)
    back = Project.objects.get(slug="harbor")
    save_checkpoint(actor=person(alice), project=back, objective="Here", expected_version=1)
    assert bring(elsewhere.data).total(Outcome.CONFLICT_KEPT) == 1
    current = Checkpoint.objects.get(project=back)
    assert current.objective == "Here"
    assert {entry.fields["objective"] for entry in current.entries.all()} == {"Common", "There"}
    assert bring(elsewhere.data).changes == 0


def test_only_what_a_file_names_is_touched(project: Project, alice: User) -> None:
    one = MemoryFactory(project=project, title="One")
    two = MemoryFactory(project=project, title="Two")
    older = packed(project)
    mark_not_similar(actor=person(alice), memory=one, other=two, expected_version=1)
    archive(alice, now(two), reason="Old.")
    before = content(project)
    assert bring(older).changes == 0
    assert content(project) == before
    assert Link.objects.standing().count() == 1


def test_a_conflict_is_read_by_whoever_may_read_both(project: Project, alice: User) -> None:
    rita, bob = member(project, "rita", Role.REVIEWER), member(project, "bob")
    open_one, hers = MemoryFactory(project=project), MemoryFactory(project=project, visibility="private")
    common = {
        "project": project,
        "lost_by": "file",
        "kept_at": open_one.created_at,
        "lost_at": hers.created_at,
    }
    shared = Conflict.objects.create(memory=open_one, digest="a", **common)
    was_private = Conflict.objects.create(memory=open_one, digest="b", visibility="private", **common)
    private = Conflict.objects.create(memory=hers, digest="c", visibility="private", **common)
    assert set(Conflict.objects.visible_to(rita)) == {shared} == set(Conflict.objects.visible_to_staff())
    assert set(Conflict.objects.visible_to(alice)) == {shared, was_private, private}
    assert not Conflict.objects.visible_to(bob).exists()
    erase_memory(actor=person(alice), memory=open_one)
    assert set(Conflict.objects.all()) == {private}
