"""The agent's door to the review queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.listing import ANY, PAGE_DEFAULT, PAGE_MAX
from memories.models import Review
from memories.presenting import when
from memories.reviews.listing import ReviewFilter, list_reviews, the_review
from memories.reviews.presenting import rows, whole
from memories.reviews.showing import proposal_of
from memories.services import DECISIONS, approve_review, reject_review, withdraw_review
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import Argument, Choice, Context, Count, Details, Flag, ReviewNumber
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.tools import Right, tool
from projects.callers import Caller

APPROVE, REJECT, WITHDRAW = DECISIONS


def one_review(caller: Caller, number: int) -> dict[str, Any]:
    """One proposal with all that it would change, as far as the caller may know it. Raises NoSuchReview."""
    with read_snapshot():
        review = the_review(caller.project, caller.user, number)
        return whole(proposal_of(review, caller.user), caller.user)


@tool(
    "review_list",
    "Proposed changes that wait, or with a status what became of them: your user's own, for reviewers all.",
    {
        "review": ReviewNumber("One alone, whole"),
        "status": Choice(options=(*Review.Status.values, ANY)),
        "mine": Flag(),
        "limit": Count(most=PAGE_MAX),
        "cursor": Argument(),
    },
)
def review_list(
    caller: Caller,
    review: int | None = None,
    status: str = Review.Status.PENDING,
    mine: bool | None = None,
    limit: int = PAGE_DEFAULT,
    cursor: str = "",
) -> dict[str, Any]:
    with read_snapshot():
        if review is not None:
            return {"items": [one_review(caller, review)], "total": 1, "has_more": False}
        wanted = ReviewFilter(status=status, mine=mine)
        page = list_reviews([caller.project], caller.user, wanted, limit=limit, cursor=cursor)
        return page.answer(rows(page.items, caller.user))


def _right_for(arguments: Mapping[str, Any]) -> Right:
    """Taking back is a proposer's; deciding is a reviewer's. What is neither is refused as such."""
    return Right.REVIEW if arguments.get("decision") in (APPROVE, REJECT) else Right.WRITE


@tool(
    "review_decide",
    "Decide somebody else's proposal as a reviewer, once you read it whole, or withdraw your user's own.",
    {
        "review": ReviewNumber(required=True),
        "decision": Choice(required=True, options=DECISIONS),
        "note": Argument("Why; needed to reject"),
        "edits": Details("Fields to store instead"),
        "write_context": Context(),
    },
    right=Right.REVIEW,
    right_for=_right_for,
)
def review_decide(
    caller: Caller,
    review: int,
    decision: str,
    write_context: WriteContext,
    note: str = "",
    edits: dict[str, Any] | None = None,
) -> dict[str, Any]:
    if edits and decision != APPROVE:
        raise Invalid(fields={"edits": "Only what is approved is edited. Leave them out."})
    same: dict[str, Any] = {
        "actor": caller.actor(write_context),
        "review": the_review(caller.project, caller.user, review),
        "note": note,
    }
    if decision == APPROVE:
        done = approve_review(edits=edits, **same)
    else:
        done = (reject_review if decision == REJECT else withdraw_review)(**same)
    answer: dict[str, Any] = {
        "result": "applied",
        "review": done.review.ref,
        "status": done.review.status,
        "decided_at": when(done.review.decided_at),
    }
    if done.memory is not None:
        answer |= {"number": done.memory.number, "version": done.memory.version}
    hints = [hint.as_dict() for hint in done.hints]
    return answer | ({"hints": hints} if hints else {})
