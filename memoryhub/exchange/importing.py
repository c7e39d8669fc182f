"""Bringing a snapshot in: refused whole, or planned, or done in one transaction.

A file is read twice. The first reading checks everything that can be wrong with it and keeps its numbers
and histories, not its texts; then it is compared with what is here; the second reading decides about each
entry and, unless it is a dry run, writes. The same decisions make the plan and the writes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import IO, Any

from django.db import DataError, IntegrityError, transaction
from django.db.models import F, Q

from hygiene.models import Upkeep
from hygiene.services import rebuild
from memories.models import Memory, Review, Status, Visibility, Weight
from memories.search import counted_together
from memories.services import erase_memory, erase_review
from memories.services.bags import move_out
from memories.services.writing import Writing, begin
from memoryhub.exchange import table
from memoryhub.exchange.bringing_checkpoints import Checkpoints
from memoryhub.exchange.bringing_memories import Memories
from memoryhub.exchange.bringing_reviews import Reviews
from memoryhub.exchange.bringing_tasks import Tasks
from memoryhub.exchange.files import SnapshotFile
from memoryhub.exchange.here import look
from memoryhub.exchange.plan import Plan
from memoryhub.exchange.run import People, Run, Values
from memoryhub.exchange.survey import Survey, read_entries, survey
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Forbidden, Invalid
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, ReviewPolicy, Role, User
from projects.services import bring_project
from tasks.models import Receipt, Task
from tasks.services import erase_receipt, erase_task

BATCH = 100
# So many memories are compared with each other at once; what is more the next upkeep does.
REBUILT_AT_ONCE = 2000
# From more entries on, to count the words of the whole project once is less work than one by one.
COUNTED_EACH = 1000

Progress = Callable[[str, int, int], None]


def bring_snapshot(
    *,
    actor: Actor,
    file: IO[bytes],
    slug: str,
    apply: bool = False,
    owner: User | None = None,
    keep_secrets: bool = False,
    progress: Progress | None = None,
) -> Plan:
    """Bring a snapshot into the project of that slug; by the operator also into a new one, `owner`'s.

    Without `apply` nothing is changed, and the plan says what would be. `progress` is told of each reading
    how many bytes of the file are done. `keep_secrets` takes what looks like a credential as it comes.
    Raises Invalid, TooLarge, SecretDetected for a file that is refused whole; NoSuchProject, RoleTooLow,
    RightMissing, ProjectArchived.
    """
    project = Project.objects.filter(slug=slug).first()
    if project is not None:
        # Whoever may not bring anything in isn't told what is wrong with a file.
        with transaction.atomic():
            begin(actor, project, need=Role.OWNER)
    elif actor.user is not None:
        raise Invalid(
            "Only an operator's command makes a project of a snapshot. Import into one that is there."
        )
    snapshot = SnapshotFile(file, partial(progress, "Checked") if progress else None)
    found = survey(snapshot, keep_secrets=keep_secrets)
    snapshot = SnapshotFile(
        file, partial(progress, "Imported" if apply else "Compared") if progress else None
    )
    try:
        with _together(apply):
            run = _begin(actor, found, project, slug, owner, apply)
            many = apply and sum(found.counts.values()) > COUNTED_EACH
            with counted_together(run.into) if many else nullcontext():
                _read(run, snapshot)
    except (IntegrityError, DataError) as wrong:
        raise Invalid("The file breaks a rule that the store holds: nothing was imported.") from wrong
    if apply and run.plan.changes and run.into.memories.count() <= REBUILT_AT_ONCE:
        rebuild(run.into)
    return run.plan


def _together(apply: bool) -> AbstractContextManager[Any]:
    return transaction.atomic() if apply else read_snapshot()


def _begin(
    actor: Actor, found: Survey, project: Project | None, slug: str, owner: User | None, apply: bool
) -> Run:
    plan = Plan(slug, is_new=project is None, applied=apply)
    if apply and project is None:
        project = _new_project(found, slug, owner)
    here = look(found, project, _reader(actor))
    people = People(found.people, actor)
    plan.attributions, plan.renumbered = people.unknown, here.renumbered
    run = Run(actor, found, here, plan, people, project)
    if apply:
        assert project is not None
        run.writing = begin(actor, project, need=Role.OWNER)
        # The rows that come hang on the project of the lock.
        run.project = run.writing.project
    _check_agent(run)
    return run


def _check_agent(run: Run, *, touched: bool = False) -> None:
    """What an agent changes waits for a person, and an import can't wait. Raises Forbidden."""
    if not run.writing or not run.actor.is_agent:
        return
    here = "An owner imports it in the browser, under Import and export."
    if run.into.review_policy != ReviewPolicy.NONE:
        raise Forbidden(f"What agents change here waits for a reviewer, and an import can't wait. {here}")
    if touched and (run.plan.touches_public or run.erasing):
        raise Forbidden(f"It changes what is public, or erases, which agents don't do by themselves. {here}")


def _reader(actor: Actor) -> User | None:
    """Whoever an import reads for; None for the operator, who sees all."""
    return None if actor.user is None else actor.user


def _new_project(found: Survey, slug: str, owner: User | None) -> Project:
    columns = {name: found.project[name] for name in table.PROJECT.columns if name != "slug"}
    if Project.objects.filter(uid=columns["uid"]).exists():
        del columns["uid"]
    # It is closed for writing once everything is in it.
    return bring_project(slug=slug, owner=owner, **{**columns, "archived_at": None})


def _read(run: Run, snapshot: SnapshotFile) -> None:
    """The second reading: decide about each entry, in the order of the file."""
    memories, reviews, tasks, checkpoints = Memories(run), Reviews(run), Tasks(run), Checkpoints(run)
    takers: dict[str, Callable[[list[Values]], None]] = {
        "memory": memories.memories,
        "review": reviews.reviews,
        "revision": memories.revisions,
        "link": memories.links,
        "commit": memories.commits,
        "task": tasks.tasks,
        "blocker": tasks.blockers,
        "task_revision": tasks.task_revisions,
        "receipt": tasks.receipts,
        "checkpoint": checkpoints.checkpoints,
        "checkpoint_entry": checkpoints.entries,
        "checkpoint_loss": checkpoints.losses,
    }
    batch: list[Values] = []
    before = ""
    for kind, values in read_entries(snapshot):
        if batch and (kind.name != before or len(batch) == BATCH):
            takers[before](batch)
            batch = []
        before = kind.name
        if before in takers:
            batch.append(values)
    if batch:
        takers[before](batch)
    _check_agent(run, touched=True)
    if run.writing:
        tasks.place()
        _settle_bags(run.writing, run)
        _finish(run)


def _settle_bags(writing: Writing, run: Run) -> None:
    """Children that the two sides together left where the rules of bags don't let them stand move out."""
    if not run.here.known["memory"]:
        return
    inside = Memory.objects.in_project(run.into).exclude(parent=None).select_related("parent")
    bags = set(inside.order_by().values_list("parent", flat=True))
    ranks = [(one, [two for two in Visibility if two.rank < one.rank]) for one in Visibility]
    too_visible = Q(pk__in=[])
    for visibility, lower in ranks:
        too_visible |= Q(visibility=visibility, parent__visibility__in=lower)
    somebody_elses = Q(parent__visibility=Visibility.PRIVATE) & ~Q(parent__author=F("author"))
    wrong = inside.filter(
        ~Q(parent__status=Status.ACTIVE)
        | Q(parent__parent__isnull=False)
        | Q(pk__in=bags)
        | Q(weight=Weight.CRITICAL)
        | too_visible
        | somebody_elses
    )
    for child in wrong.order_by("number"):
        run.plan.moved_out += 1
        move_out(writing, child)


def _finish(run: Run) -> None:
    """The project's own counters; then what is erased, each by its own verb."""
    Project.objects.filter(pk=run.into.pk).update(
        last_number=max(run.into.last_number, run.here.last_number),
        last_review_number=max(run.into.last_review_number, run.here.last_review_number),
        change_counter=F("change_counter") + 1,
    )
    if run.plan.changes:
        Upkeep.objects.filter(project=run.into).update(derived_version=0)
    for row in run.erasing:
        _erase(run.actor, row)
    if run.plan.is_new and run.survey.project["archived_at"] is not None:
        Project.objects.filter(pk=run.into.pk).update(archived_at=run.survey.project["archived_at"])


def _erase(actor: Actor, row: Any) -> None:
    if isinstance(row, Memory):
        erase_memory(actor=actor, memory=row)
    elif isinstance(row, Review):
        erase_review(actor=actor, review=row)
    elif isinstance(row, Task):
        erase_task(actor=actor, task=row)
    elif isinstance(row, Receipt):
        erase_receipt(actor=actor, receipt=row)
