"""What a reviewer changes in a proposal before approving it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.models import ChangeKind, Review, Visibility
from memories.services.checks import FIELDS, collect
from memories.services.reviews.data import change_of
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.text import printable

_EDITABLE = (ChangeKind.CREATE, ChangeKind.UPDATE)
_FIELDS = tuple(name for name in FIELDS if name != "status")


def read_edits(review: Review, edits: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
    """The edits as they will be stored, without those that change nothing. Raises Invalid, SecretDetected.

    A reviewer makes nothing private that isn't his, and an agent nothing more visible than it was proposed.
    """
    if not edits:
        return {}
    problems = Problems()
    if review.kind not in _EDITABLE:
        problems.add("edits", f"Has no fields to edit: the proposal is to {review.kind}. Reject it instead.")
        problems.raise_if_any()
    for name in edits:
        if name not in _FIELDS:
            problems.add(printable(name), f"Can't be edited here. Fields: {', '.join(_FIELDS)}.")
    _check_visibility(review, edits, actor, problems)
    named = {name: value for name, value in edits.items() if name in _FIELDS}
    change = change_of(review, named)
    checked = collect(change, actor.context, problems)
    problems.raise_if_any()
    return _changing(review, named, checked)


def _changing(review: Review, named: Mapping[str, Any], checked: Mapping[str, Any]) -> dict[str, Any]:
    """The named fields that differ from what was proposed, as they are stored."""
    kept: dict[str, Any] = {}
    for name, given in named.items():
        # A field that is given the value which the memory has is left out by the check.
        value = checked.get(name, given)
        if name == "details":
            proposed = review.fields.get("details", {})
            now = {key: value.get(key, "") for key in given}
            value = {key: text for key, text in now.items() if text != proposed.get(key)}
            if value:
                kept[name] = value
        elif value != review.fields.get(name):
            kept[name] = value
    return kept


def _check_visibility(review: Review, edits: Mapping[str, Any], actor: Actor, problems: Problems) -> None:
    wanted = edits.get("visibility")
    if wanted not in Visibility.values:
        return
    had = review.memory.visibility if review.memory else Visibility.SHARED
    proposed = Visibility(review.fields.get("visibility", had))
    if wanted == Visibility.PRIVATE:
        problems.add("visibility", "A reviewer makes nothing private. Reject the proposal instead.")
    elif actor.is_agent and not proposed.at_least(Visibility(wanted)):
        problems.add("visibility", f"It was proposed as {proposed}; only a person makes it more visible.")
