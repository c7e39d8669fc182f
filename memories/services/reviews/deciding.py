"""Deciding a proposal: approve, reject, withdraw. Each is one transaction, and each happens once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from memories.errors import (
    AlreadyStored,
    NoSuchMemory,
    NoSuchReview,
    OnlyItsProposer,
    OwnProposal,
    ProposerGone,
    ReviewDecided,
)
from memories.models import Memory, Review
from memories.services.changes import Applied, Change, Hint
from memories.services.checks import check_change
from memories.services.reviews.conflicts import check_versions, names_hidden, told
from memories.services.reviews.data import change_of
from memories.services.reviews.edits import read_edits
from memories.services.submit import apply_change
from memories.services.writing import Writing, begin, finish
from memoryhub.kernel.actor import Actor, ActorKind, Door, WriteContext
from memoryhub.kernel.errors import DomainError, Problems
from memoryhub.kernel.secret_scan import find_secret
from memoryhub.kernel.text import text_problem
from projects.errors import NoSuchProject, ProjectArchived, RightMissing, RoleTooLow
from projects.models import Project, Role
from projects.services import role_of


@dataclass(frozen=True)
class Decision:
    """A proposal as it is now; of an approved one the memory that it changed or made, and what to say.

    `refusal` is why nothing was decided: only `decide_several` answers with one.
    """

    review: Review
    memory: Memory | None = None
    hints: list[Hint] = field(default_factory=list)
    refusal: DomainError | None = None

    @property
    def ok(self) -> bool:
        return self.refusal is None


@dataclass(frozen=True)
class Proposer(Actor):
    """Who proposed a change that is applied now. The access token may be gone; what it was stays said."""

    proposed_as: ActorKind = ActorKind.PERSON
    token_called: str = ""

    @classmethod
    def of(cls, review: Review) -> Proposer:
        context = WriteContext(**{name: getattr(review, name) for name in WriteContext.MAX_LENGTHS})
        return cls(
            user=review.proposer,
            door=Door(review.door),
            context=context,
            proposed_as=ActorKind(review.actor_kind),
            token_called=review.token_name,
        )

    @property
    def kind(self) -> ActorKind:
        return self.proposed_as

    @property
    def token_name(self) -> str:
        return self.token_called


@transaction.atomic
def approve_review(
    *, actor: Actor, review: Review, note: str = "", edits: Mapping[str, Any] | None = None
) -> Decision:
    """Apply exactly what was proposed, in the proposer's name, or with `edits` of its fields.

    Everything is checked anew. Raises NoSuchReview, ReviewDecided, ProjectArchived, RoleTooLow,
    RightMissing, OwnProposal; Invalid or SecretDetected for the note, the edits and what the change breaks
    by now (ProposerGone, BagRule, LinkRule); ProposalStale, AlreadyStored. Then it waits on, and nothing is
    half applied.
    """
    deciding = _begin(actor, review, note)
    _check_reviewer(deciding)
    _check_not_own(deciding)
    row = deciding.review
    edited = read_edits(row, edits or {}, actor)
    change = change_of(row, edited)
    writing = _writing_of(deciding)
    check_versions(row, deciding.seen)
    done = _applied(deciding, writing, change)
    finish(writing)
    row.memory, row.edits = done.memory, edited
    _decide(deciding, Review.Status.APPROVED)
    hints = [hint for hint in done.hints if not names_hidden(hint.message, deciding.seen)]
    return Decision(row, done.memory, hints)


@transaction.atomic
def reject_review(*, actor: Actor, review: Review, note: str) -> Decision:
    """Say no, with a note that tells the proposer why.

    Raises NoSuchReview, ReviewDecided, ProjectArchived, RoleTooLow, RightMissing, Invalid, SecretDetected.
    """
    deciding = _begin(actor, review, note, note_needed=True)
    _check_reviewer(deciding)
    _raise_counter(deciding.project)
    _decide(deciding, Review.Status.REJECTED)
    return Decision(deciding.review)


@transaction.atomic
def withdraw_review(*, actor: Actor, review: Review, note: str = "") -> Decision:
    """Take one's own proposal back. Raises NoSuchReview, ReviewDecided, OnlyItsProposer, and as above."""
    deciding = _begin(actor, review, note)
    if actor.user is None or deciding.review.proposer_id != actor.user.pk:
        raise OnlyItsProposer(deciding.review.ref)
    if actor.token is not None and not actor.token.can_write:
        raise RightMissing("write")
    _raise_counter(deciding.project)
    _decide(deciding, Review.Status.WITHDRAWN)
    return Decision(deciding.review)


@dataclass(frozen=True)
class Deciding:
    """A decision under way: the locked project and proposal, and who decides, with what they may see."""

    project: Project
    review: Review
    note: str
    seen: Writing

    @property
    def actor(self) -> Actor:
        return self.seen.actor


def _begin(actor: Actor, review: Review, note: str, *, note_needed: bool = False) -> Deciding:
    """Lock project, memory and proposal, and check that the actor may know of it and that it waits."""
    _check_note(note, needed=note_needed)
    project = Project.objects.select_for_update().get(pk=review.project_id)
    if review.memory_id:
        Memory.objects.select_for_update(of=("self",)).only("pk").get(pk=review.memory_id)
    everything = Review.objects.in_project(project)
    seen = everything.none()
    if actor.door is Door.ADMIN:
        seen = everything.decidable_by_staff()
    elif actor.user is not None:
        seen = everything.decidable_by(actor.user)
    row = seen.whole().select_for_update(of=("self",)).filter(pk=review.pk).first()
    if row is None:
        raise NoSuchReview(review.number)
    if not row.is_pending:
        raise ReviewDecided(row.ref, row.status, row.decider_name, row.decided_at)
    if project.is_archived:
        raise ProjectArchived
    row.project = project
    return Deciding(project, row, note.strip(), Writing(project, actor, role_of(actor.user, project)))


def _check_note(note: str, *, needed: bool) -> None:
    problems = Problems()
    problems.add("note", text_problem(note, most=Review.NOTE_MAX_LENGTH))
    if needed and not (isinstance(note, str) and note.strip()):
        problems.add("note", "Required: say why, so that the proposer knows what to do differently.")
    if not problems and (found := find_secret(note)):
        problems.add_secret("note", found.line, found.kind)
    problems.raise_if_any()


def _check_reviewer(deciding: Deciding) -> None:
    """A reviewer or owner, or a superuser in the admin; an agent needs the review right as well."""
    token = deciding.actor.token
    if token is not None and not token.can_review:
        raise RightMissing("review")
    standing = deciding.seen.standing
    if standing is None or not standing.includes(Role.REVIEWER):
        raise RoleTooLow(Role.REVIEWER)


def _check_not_own(deciding: Deciding) -> None:
    """An agent never approves what its user proposed; nobody does where a second person is needed."""
    user = deciding.actor.user
    if user is None or deciding.review.proposer_id != user.pk:
        return
    if deciding.actor.is_agent or deciding.project.review_needs_second_person:
        raise OwnProposal(deciding.review.ref, agent=deciding.actor.is_agent)


def _writing_of(deciding: Deciding) -> Writing:
    """The write, in the proposer's name. Raises ProposerGone where he may not write here any more."""
    row = deciding.review
    try:
        writing = begin(Proposer.of(row), deciding.project, row.reason, memory=row.memory)
    except (RoleTooLow, NoSuchProject, NoSuchMemory):
        raise ProposerGone(row.ref, row.proposer.username) from None
    writing.review, writing.request_digest = row, row.request_digest
    return writing


def _applied(deciding: Deciding, writing: Writing, change: Change) -> Applied:
    """Apply it. A refusal is told as far as the approver may know what it is about."""
    try:
        with transaction.atomic():
            done = apply_change(writing, change, check_change(change, writing.actor.context))
            if done.duplicate:
                raise AlreadyStored(done.memory.number)
            return done
    except DomainError as refusal:
        raise told(refusal, deciding.review, deciding.seen) from None


def _raise_counter(project: Project) -> None:
    project.change_counter += 1
    project.save(update_fields=["change_counter"])


def _decide(deciding: Deciding, status: str) -> None:
    row, actor = deciding.review, deciding.actor
    row.status, row.note, row.decided_by = status, deciding.note, actor.user
    row.decided_at = row.updated_at = deciding.seen.at
    row.decided_kind, row.decided_door = actor.kind, actor.door
    row.decided_token_name, row.decided_context = actor.token_name, actor.context.as_dict()
    row.save(
        update_fields=[
            "memory",
            "edits",
            "status",
            "note",
            "decided_by",
            "decided_at",
            "updated_at",
            "decided_kind",
            "decided_door",
            "decided_token_name",
            "decided_context",
        ]
    )
