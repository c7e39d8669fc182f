"""The queue: what waits, one proposal whole, and the decision."""

from __future__ import annotations

from memories.api import shapes
from memories.tools_reviews import one_review
from memoryhub.kernel.arguments import Arguments, ReviewNumber
from memoryhub.kernel.rest import endpoint
from memoryhub.kernel.tools import Right, Tool
from projects.rest import ApiView

OF_REVIEW = {"number": "review"}


# Agents name it in `review_list`; here it has an address of its own.
_REVIEW_GET = Tool(
    "review_get",
    "One proposal with all that it would change.",
    lambda caller, review: one_review(caller, review),
    Right.READ,
    Arguments({"review": ReviewNumber(required=True)}),
    True,
    False,
)


class ReviewList(ApiView):
    get = endpoint("review_list", shapes.REVIEW_PAGE, takes=("status", "mine", "limit", "cursor"))


class OneReview(ApiView):
    get = endpoint(_REVIEW_GET, shapes.REVIEW, path=OF_REVIEW)


class Decision(ApiView):
    post = endpoint("review_decide", shapes.DECIDED, path=OF_REVIEW)
