"""What somebody may do with a proposal, for pages that offer it. The services check it again."""

from __future__ import annotations

from dataclasses import dataclass

from memories.models import ChangeKind, Review
from memories.reviews.showing import Proposal
from projects.models import Project, Role, User

_EDITABLE = (ChangeKind.CREATE, ChangeKind.UPDATE)


@dataclass(frozen=True)
class May:
    """What is offered; `why_not` says why approving isn't."""

    approve: bool = False
    edit: bool = False
    reject: bool = False
    withdraw: bool = False
    why_not: str = ""

    @property
    def anything(self) -> bool:
        return self.approve or self.reject or self.withdraw


def reviews_in(project: Project, role: Role | None) -> bool:
    """Whether somebody in this role decides what others propose here now."""
    return role is not None and role.includes(Role.REVIEWER) and not project.is_archived


def may_of(proposal: Proposal, user: User, role: Role | None) -> May:
    """What a reader of the proposal may do in person, by the role that he has in its project."""
    review = proposal.review
    if not review.is_pending:
        return May()
    if review.project.is_archived:
        return May(why_not="The project is archived: nothing is decided any more.")
    own = review.proposer_id == user.pk
    if not reviews_in(review.project, role):
        return May(withdraw=own, why_not="A reviewer decides.")
    sentence = _why_not(proposal, own)
    approve = not sentence
    return May(
        approve=approve,
        edit=approve and has_fields(review),
        reject=True,
        withdraw=own,
        why_not=sentence,
    )


def _why_not(proposal: Proposal, own: bool) -> str:
    if own and proposal.review.project.review_needs_second_person:
        return (
            "It is your own proposal, and the project asks for a second person: another reviewer approves it."
        )
    if proposal.moved:
        return "What it changes moved on since it was proposed, so it can't be approved as it stands."
    if proposal.is_stale:
        return "What it names moved on since it was proposed, so it can't be approved as it stands."
    return ""


def has_fields(review: Review) -> bool:
    """Whether there are fields that a reviewer can put in other words."""
    return review.kind in _EDITABLE and bool(set(review.fields) - {"status"})
