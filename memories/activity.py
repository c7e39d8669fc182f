"""What memories and proposals tell as activity: what was written, what was proposed, what was decided."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.urls import reverse

from memories.models import CommitReport, Review, Revision, Status, Visibility
from memories.models.history import Provenance
from memories.wording import change_name
from memoryhub.kernel.actor import signed_name
from projects.activity import Event, Kept, Who
from projects.models import Project, User

_BECAME = {
    Status.ARCHIVED: "archived",
    Status.SUPERSEDED: "replaced",
    Status.ACTIVE: "restored",
}
_DECIDED = {
    Review.Status.APPROVED: "approved",
    Review.Status.REJECTED: "rejected",
    Review.Status.WITHDRAWN: "withdrew",
}


def who_of(row: Provenance) -> Who:
    """Who did it and from where, as an event says it."""
    person = row.signer.username if row.signer else ""
    return Who(row.actor_name, person, row.token_name, row.door, row.session)


def _revisions(project: Project, reader: User) -> QuerySet[Any]:
    seen = Revision.objects.visible_to(reader).in_project(project).latest_first().without_values()
    return seen.annotate(became=KeyTextTransform("status", "fields"))


def _revision(row: Any, project: Project) -> Event:
    memory = row.memory
    return Event(
        at=row.created_at,
        mark=f"#{memory.number}",
        title=memory.title,
        address=reverse("memories:memory", args=(project.slug, memory.number)),
        did="stored" if row.version == 1 else _BECAME.get(row.became, "changed"),
        more=f", approved by {row.approver_name}" if row.approver_name else "",
        reason=row.reason,
        is_private=row.visibility == Visibility.PRIVATE,
        who=who_of(row),
    )


def _reviews(project: Project, reader: User) -> QuerySet[Any]:
    """Without the proposed texts, but for whether it brings a memory back."""
    seen = Review.objects.in_project(project).visible_to(reader).for_rows()
    return seen.annotate(brings=KeyTextTransform("status", "fields"))


def _does(row: Any) -> str:
    return change_name(row.kind, publishes=row.publishes, restores=bool(row.brings)).lower()


def _proposed(row: Any, project: Project) -> Event:
    return Event(
        at=row.created_at,
        mark=row.ref,
        title=row.title,
        address=reverse("memories:review", args=(project.slug, row.number)),
        did=f"proposed ({_does(row)})",
        reason=row.reason,
        who=who_of(row),
    )


def _decisions(project: Project, reader: User) -> QuerySet[Any]:
    return _reviews(project, reader).filter(decided_at__isnull=False)


def _decided(row: Any, project: Project) -> Event:
    by = row.decided_by
    return Event(
        at=row.decided_at,
        mark=row.ref,
        title=row.title,
        address=reverse("memories:review", args=(project.slug, row.number)),
        did=f"{_DECIDED.get(row.status, 'decided')} ({_does(row)})",
        who=Who(
            by=signed_name(by, row.decided_kind, row.decided_token_name),
            person=by.username if by else "",
            agent=row.decided_token_name,
            door=row.decided_door,
            session=str(row.decided_context.get("session", "")),
        ),
        reason=row.note,
        more=f", which {row.actor_name} had proposed",
    )


def _commits(project: Project, reader: User) -> QuerySet[Any]:
    return CommitReport.objects.visible_to(reader).in_project(project).for_rows()


def _commit(row: Any, project: Project) -> Event:
    return Event(
        at=row.created_at,
        mark=row.short_hash[:7],
        title=f"Commit on {row.branch}" if row.branch else "Commit",
        address="",
        did="reported",
        who=who_of(row),
    )


KINDS = (
    Kept("memories", _revisions, _revision),
    Kept("commits", _commits, _commit, person="reporter"),
    Kept("proposals", _reviews, _proposed, person="proposer"),
    Kept(
        "decisions",
        _decisions,
        _decided,
        at="decided_at",
        ids_rise=False,
        person="decided_by",
        agent="decided_token_name",
        door="decided_door",
        session="decided_context__session",
        client="decided_context__client",
        model="decided_context__model",
        branch="decided_context__branch",
        commit="decided_context__commit",
    ),
)
