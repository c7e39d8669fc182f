"""Deciding several proposals in one go: each for itself, in the order in which they were made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memories.models import Review
from memories.services.reviews.deciding import Decision, approve_review, reject_review, withdraw_review
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import DomainError, Invalid

REVIEWS_MAX = 100
# Of one session, such as an import, that is decided as a whole.
SESSION_MAX = 500
APPROVE, REJECT, WITHDRAW = "approve", "reject", "withdraw"
_DECIDE: dict[str, Callable[..., Decision]] = {
    APPROVE: approve_review,
    REJECT: reject_review,
    WITHDRAW: withdraw_review,
}
DECISIONS = tuple(_DECIDE)


def decide_several(
    *, actor: Actor, reviews: Sequence[Review], decision: str, note: str = ""
) -> list[Decision]:
    """Decide each in a transaction of its own; one that is refused stops none of the others.

    Oldest first: a later one may build on an earlier. Answers in that order. Raises Invalid for a decision
    that is none, for more than a hundred, or five hundred of one session, and for a note that no decision
    takes.
    """
    if decision not in DECISIONS:
        raise Invalid(fields={"decision": f"Must be one of: {', '.join(DECISIONS)}."})
    most = SESSION_MAX if is_one_session(reviews) else REVIEWS_MAX
    if len(reviews) > most:
        sentence = f"Has {len(reviews)} proposals; at most {most} are decided at once."
        raise Invalid(fields={"reviews": sentence})
    decide = _DECIDE[decision]
    decisions = []
    for review in sorted(reviews, key=lambda one: (one.created_at, one.number)):
        try:
            decisions.append(decide(actor=actor, review=review, note=note))
        except DomainError as refusal:
            decisions.append(Decision(review, refusal=refusal))
    return decisions


def is_one_session(reviews: Iterable[Review]) -> bool:
    """Whether one proposer made all of them in one session, and by one access token or none.

    Who proposes says what the session is called: another's may be called the same.
    """
    sources = {
        (one.project_id, one.session, one.proposer_id, one.actor_kind, one.token_name) for one in reviews
    }
    return len(sources) <= 1 and all(session for _, session, *_ in sources)
