"""A project that has something of everything a snapshot carries, made by the verbs."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import uuid
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories.models import Memory, Review
from memories.services import (
    Brought,
    Pending,
    add_memory,
    approve_review,
    archive_memory,
    bring_memory,
    erase_memory,
    erase_review,
    import_memory,
    merge_memories,
    reject_review,
    report_commit,
    revise_memory,
    supersede_memory,
    verify_memory,
    withdraw_review,
)
from memoryhub.exchange.exporting import all_rows, everything
from memoryhub.exchange.files import lines
from memoryhub.exchange.importing import bring_snapshot
from memoryhub.exchange.plan import Plan
from memoryhub.exchange.table import KINDS
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import Project, Role, User
from tasks.models import CheckpointLoss
from tasks.services import (
    acknowledge_receipt,
    claim_task,
    erase_receipt,
    erase_task,
    revise_task,
    save_checkpoint,
)
from tests.factories import MemoryFactory, ProjectFactory, member, person, receipt_in, task_in, token_for

OPERATOR = Actor(user=None, door=Door.COMMAND)


def rich_project(slug: str = "harbor") -> Project:
    """Alice owns it, bob contributes by his agent; what nobody may see is there, too."""
    project = ProjectFactory(slug=slug, name="Harbor API", recall_budget=4000)
    alice, bob = member(project, "alice", Role.OWNER), member(project, "bob")
    token, _ = token_for(bob, project)
    bobs = Actor(
        user=bob,
        door=Door.MCP,
        token=token,
        context=WriteContext(session="s-1", client="editor", model="m-2", branch="main", commit="abc123"),
    )
    _memories(project, alice, bob, bobs)
    _reviews(project, alice, bobs)
    _work(project, alice, bob, bobs)
    project.refresh_from_db()
    return project


def _memories(project: Project, alice: User, bob: User, bobs: Actor) -> None:
    bag = MemoryFactory(
        project=project, title="Retries", tags=["http", "limits"], retrieval_hints=["backoff"]
    )
    MemoryFactory(project=project, title="Inside", parent=bag, body="Körper: 日本語, `code`\n\tand more")
    MemoryFactory(project=project, title="Bob's own", parent=bag, author=bob, visibility="private")
    rule = MemoryFactory(
        project=project, kind="constraint", title="No tokens", scope_paths=["src/api", "x.py"]
    )
    old = MemoryFactory(project=project, kind="decision", title="One queue", visibility="public")
    new = MemoryFactory(project=project, kind="decision", title="Two queues", actor=bobs, visibility="shared")
    run = MemoryFactory(
        project=project,
        kind="pipeline",
        title="Release",
        details={
            "purpose": "Brings it out.",
            "steps": [{"does": "Build"}, {"does": "Ship", "depends_on": "Build"}],
        },
    )
    again = MemoryFactory(project=project, title="Release notes", summary="The same again.")
    gone = MemoryFactory(project=project, title="Old news", parent=bag, weight="low")
    leaked = MemoryFactory(project=project, title="Leaked", body="to be forgotten")
    wide = MemoryFactory(project=project, kind="decision", title="Wide", visibility="public")
    actor = person(alice)
    supersede_memory(actor=actor, memory=old, successor=wide.number, expected_version=1, reason="Faster.")
    revise_memory(actor=actor, memory=new, expected_version=None, tags=["queue"], contradicts=[run.number])
    revise_memory(
        actor=actor, memory=_now(new), expected_version=2, resolves=[run.number], reason="Settled by both."
    )
    revise_memory(actor=actor, memory=run, expected_version=None, not_similar=[again.number])
    merged = MemoryFactory(project=project, title="Release, too", summary="Said before.")
    merge_memories(actor=actor, memory=merged, survivor=again.number, expected_version=None, reason="Twice.")
    archive_memory(actor=actor, memory=gone, expected_version=None, reason="Outdated.")
    verify_memory(actor=actor, memory=rule)
    report_commit(actor=bobs, project=project, commit="abc1234", branch="main", paths=["src/api/x.py", "y"])
    erase_memory(actor=actor, memory=leaked)
    operator = Actor(user=alice, door=Door.COMMAND)
    at = timezone.now() - dt.timedelta(days=400, microseconds=1234)
    bring_memory(actor=operator, project=project, at=at, kind="note", title="From before", summary="")


def _reviews(project: Project, alice: User, bobs: Actor) -> None:
    Project.objects.filter(pk=project.pk).update(review_policy="agents")
    project.refresh_from_db()
    actor = person(alice)
    first = Memory.objects.get(project=project, title="Retries")

    def propose(**given: Any) -> Review:
        pending = add_memory(actor=bobs, project=project, **given)
        assert isinstance(pending, Pending)
        return Review.objects.get(project=project, number=pending.number)

    for title, decide in (
        ("Waits", None),
        ("Approved", lambda one: approve_review(actor=actor, review=one, edits={"summary": "As edited."})),
        ("Rejected", lambda one: reject_review(actor=actor, review=one, note="Known.")),
        ("Withdrawn", lambda one: withdraw_review(actor=bobs, review=one)),
        ("Erased", lambda one: erase_review(actor=actor, review=one)),
    ):
        review = propose(kind="fact", title=title, summary=f"It {title.lower()}.", parent=first.number)
        if decide is not None:
            decide(review)
    related = {"related_to": [str(first.uid)]}
    past = Brought(uid=str(uuid.uuid4()), created_at=first.created_at, archived="Never built.", links=related)
    import_memory(actor=bobs, project=project, brought=past, kind="fact", title="Brought")
    revised = revise_memory(
        actor=bobs, memory=_now(first), expected_version=_now(first).version, title="Retries, thrice"
    )
    assert revised is not None
    Project.objects.filter(pk=project.pk).update(review_policy="none")


def _work(project: Project, alice: User, bob: User, bobs: Actor) -> None:
    actor = person(alice)
    whole = task_in(project, title="Whole", tags=["big"], description="All of it.")
    part = task_in(project, title="Part", parent=whole.number, assignee="bob")
    last = task_in(project, title="Last", blocked_by=[part.number, whole.number])
    done = task_in(project, title="Done", priority="high")
    lost = task_in(project, title="Leaked")
    revise_task(actor=actor, task=done, expected_version=1, status="done", reason="Tested.")
    revise_task(actor=actor, task=last, expected_version=1, tags=["end"])
    claim_task(actor=bobs, task=part, minutes=90)
    erase_task(actor=actor, task=lost)
    first = receipt_in(project, bob, references={"branch": "main", "numbers": [whole.number]}, tags=["end"])
    receipt_in(project, alice, unsurfaced_results="The key is old.", next_steps="Ship.")
    acknowledge_receipt(actor=actor, receipt=first)
    erase_receipt(actor=actor, receipt=receipt_in(project, bob, summary="A slip."))
    save_checkpoint(actor=bobs, project=project, objective="Ship", current_step="1")
    current = save_checkpoint(actor=bobs, project=project, current_step="2", key_decisions=["Go"]).checkpoint
    save_checkpoint(actor=actor, project=project, stream="docs", objective="Write", next_action="Begin")
    CheckpointLoss.objects.create(
        checkpoint=current,
        version=2,
        lost=[{"field": "blockers", "text": "None yet"}],
        lost_by=bob,
        actor_kind="agent",
        door="mcp",
        session="s-1",
    )


def _now(memory: Memory) -> Memory:
    return Memory.objects.get(pk=memory.pk)


# --- in and out --------------------------------------------------------------------------


def content(project: Project) -> bytes:
    """The snapshot of a project before compression, without its stamp."""
    made = list(lines(everything(project)))
    return b"".join(part for part in made if not part.startswith(b'"stamp"'))


def packed(project: Project) -> bytes:
    """The snapshot as a file has it."""
    return gzip.compress(b"".join(lines(everything(project))))


def bring(data: bytes, slug: str = "harbor", **given: Any) -> Plan:
    """Import as the operator, for real unless `apply` says otherwise."""
    given = {"apply": True, "actor": OPERATOR, **given}
    return bring_snapshot(file=io.BytesIO(data), slug=slug, **given)


@transaction.atomic
def wipe(project: Project) -> None:
    """Take a project away as if its store had never had it; people stay."""
    from hygiene.models import BagContents, Flaws, SimilarPair
    from memories.models import CommitScope, ScopePath, SummaryKey, Tag
    from memories.search.engine import cursor, engine
    from memories.search.types import searched_types
    from tasks.models import TaskTag

    with cursor() as open_cursor:
        for searched in searched_types():
            for pk in searched.rows(project).order_by().values_list("pk", flat=True):
                engine().remove(open_cursor, searched.first + pk)
    CommitScope.objects.filter(project=project).delete()
    for model in (Tag, ScopePath, SummaryKey, Flaws):
        model.objects.filter(memory__project=project).delete()
    BagContents.objects.filter(bag__project=project).delete()
    SimilarPair.objects.filter(first__project=project).delete()
    TaskTag.objects.filter(task__project=project).delete()
    Memory.objects.filter(project=project).update(parent=None)
    for kind in reversed(KINDS):
        rows = all_rows(kind, project)
        rows._raw_delete(rows.db) if kind.name in ("memory", "review", "task") else rows.delete()
