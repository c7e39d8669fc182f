"""What must hold of one entry beyond its columns: its model's constraints; what was erased is empty."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from memories.models import Memory, Review
from memories.services.reviews.erasing import ERASED_TITLE
from tasks.models import Receipt
from tasks.models.task import FINISHED

Values = dict[str, Any]
NUMBER_MAX = 1_000_000_000
Node = TypeVar("Node", bound=Hashable)


def check(kind: str, values: Values) -> None:
    """Raises ValueError."""
    for name in ("number", "last_number", "last_review_number"):
        # So far that nobody's next number is more than a database holds.
        _need(values.get(name, 0) <= NUMBER_MAX, f"{name}: at most {NUMBER_MAX}")
    checking = _CHECKS.get(kind)
    if checking is not None:
        checking(values)


def _need(holds: object, sentence: str) -> None:
    if not holds:
        raise ValueError(sentence)


def _memory(values: Values) -> None:
    is_constraint, active = values["kind"] == "constraint", values["status"] == "active"
    _need(values["version"] >= 1, "version: begins at 1")
    _need(is_constraint or not values["hardness"], "hardness: only a constraint has one")
    _need(is_constraint or not values["scope_paths"], "scope_paths: only a constraint has them")
    _need(values["parent"] is None or active, "parent: only an active memory stands in a bag")
    _need(values["parent"] is None or values["weight"] != "critical", "parent: a critical memory is no child")
    _need(values["parent"] != values["uid"], "parent: is itself")
    _need(len(values["tags"]) <= Memory.MAX_TAGS * 2, "tags: too many")
    if values["erased_at"] is not None:
        texts = ("summary", "body", "archive_reason", "details", "retrieval_hints", "tags", "scope_paths")
        _need(values["title"] == ERASED_TITLE and not active, "erased_at: an erased memory keeps nothing")
        _empty(values, texts)


def _empty(values: Values, names: Iterable[str]) -> None:
    for name in names:
        _need(not values[name], f"{name}: was erased and says something")


def _review(values: Values) -> None:
    waits = values["status"] == Review.Status.PENDING
    _need(waits == (values["decided_at"] is None), "decided_at: says another thing than the status")
    if values["kind"] == "create":
        _need(values["based_on"] is None, "based_on: a new memory has no version yet")
    else:
        _need(values["memory"] and values["based_on"], "memory: a change is of a memory and a version")
    if values["erased_at"] is not None:
        _need(not waits, "status: what was erased waits no longer")
        _empty(values, ("fields", "edits", "links", "beside", "reason"))


def _link(values: Values) -> None:
    _need(values["source"] != values["target"], "target: is the source itself")


def _task(values: Values) -> None:
    finished = values["status"] in FINISHED
    _need(values["version"] >= 1, "version: begins at 1")
    _need(values["parent"] != values["uid"], "parent: is itself")
    _need((values["claim_user"] is None) == (values["claim_until"] is None), "claim_until: half a claim")
    _need(finished == (values["finished_at"] is not None), "finished_at: says another thing than the status")
    _need(not finished or values["claim_until"] is None, "claim_until: a finished task is claimed")
    if values["erased_at"] is not None:
        _need(values["title"] == ERASED_TITLE and finished, "erased_at: an erased task keeps nothing")
        _empty(values, ("summary", "description", "tags"))


def _blocker(values: Values) -> None:
    _need(values["task"] != values["blocker"], "blocker: is the task itself")


def _receipt(values: Values) -> None:
    if values["erased_at"] is not None:
        _need(values["title"] == ERASED_TITLE, "erased_at: an erased receipt keeps nothing")
        _empty(values, ("summary", "tags", "references", *Receipt.TEXTS))


def _checkpoint(values: Values) -> None:
    _need(values["version"] >= 1, "version: begins at 1")


def _entry(values: Values) -> None:
    _need(values["version"] >= 1, "version: begins at 1")


_CHECKS: dict[str, Callable[[Values], None]] = {
    "memory": _memory,
    "review": _review,
    "link": _link,
    "task": _task,
    "blocker": _blocker,
    "receipt": _receipt,
    "checkpoint": _checkpoint,
    "checkpoint_entry": _entry,
    "checkpoint_loss": _entry,
}


def has_circle(edges: Iterable[tuple[Node, Node]]) -> bool:
    """Whether going along the edges leads back to where one was."""
    ahead: dict[Node, set[Node]] = {}
    for one, other in edges:
        ahead.setdefault(one, set()).add(other)
    # Taking away what leads nowhere; a circle is what is left.
    behind: dict[Node, set[Node]] = {}
    for one, others in ahead.items():
        for other in others:
            behind.setdefault(other, set()).add(one)
    ends = [node for node in behind if node not in ahead]
    while ends:
        end = ends.pop()
        for before in behind.get(end, ()):
            ahead[before].discard(end)
            if not ahead[before]:
                del ahead[before]
                ends.append(before)
    return bool(ahead)
