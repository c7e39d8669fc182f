"""A proposal's fields as a person reads them: word by word beside what stands there, or as they'd read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from django.utils.safestring import SafeString

from memories.differences import Part, list_difference, word_difference
from memories.markdown import rendered
from memories.reviews.showing import FieldChange, Proposal
from memories.wording import FIELD_NAMES, choice_name, detail_name, steps_as_text
from memoryhub.kernel.text import collapsed, visible_marks

_LISTS = ("tags", "retrieval_hints", "scope_paths")
_CHOICES = ("kind", "weight", "visibility", "status", "hardness")
_PARAGRAPH = re.compile(r"</?p>")
_PLAIN = ("title", "summary")


@dataclass(frozen=True)
class ShownField:
    """One field: `parts` of a text, `items` of a list, or what it was and would be in a word.

    `html` is what a text would look like, as safe HTML, where it is Markdown. `is_edited`: the reviewer's
    words beside the proposer's.
    """

    name: str
    parts: list[Part] = field(default_factory=list)
    items: list[Part] = field(default_factory=list)
    before: str = ""
    after: str = ""
    html: SafeString | None = None
    compares: bool = False
    is_edited: bool = False
    # One word: it stands beside others of its kind.
    is_short: bool = False

    @property
    def says(self) -> str:
        """Of a text beside what stands there, what became of its words; empty for anything else."""
        kinds = {part.kind for part in self.parts} if self.compares else set()
        done = [word for kind, word in (("ins", "added"), ("del", "removed")) if kind in kinds]
        return f"words {' and '.join(done)}" if done else ""


def shown_fields(proposal: Proposal) -> list[ShownField]:
    """Every changed field in reading order; nothing of a change is cut, what stays the same may be."""
    fields = [_shown(change, compares=proposal.compares) for change in proposal.changes]
    return sorted(fields, key=lambda field: field.is_short)


def _shown(change: FieldChange, *, compares: bool) -> ShownField:
    name, _, key = change.name.partition(".")
    said = detail_name(key) if key else FIELD_NAMES.get(name, name.capitalize())
    edited = change.edited is not None
    before, value = (
        (change.proposed, change.edited)
        if edited
        else (change.current if compares else None, change.proposed)
    )
    compares = compares or edited
    given: dict[str, Any] = {"compares": compares, "is_edited": edited}
    if name in _LISTS:
        now = list(value or ())
        return ShownField(said, items=list_difference(list(before or ()) if compares else now, now), **given)
    if name in _CHOICES:
        was = choice_name(name, before) if compares and before else ""
        return _word(said, was, choice_name(name, value) or "none", given)
    if name == "parent":
        return _word("Bag", _bag(before) if compares else "", _bag(value), given)
    text, had = _text(value), _text(before) if compares else _text(value)
    html = _rendered(text) if name not in _PLAIN and isinstance(value, str) else None
    return ShownField(
        said, parts=word_difference(had, text, whole=True) if compares else _whole(text), html=html, **given
    )


def _word(said: str, was: str, now: str, given: dict[str, Any]) -> ShownField:
    """A field of one word. What is named with the value that it has changes nothing."""
    if was == now:
        return ShownField(said, after=now, is_short=True, is_edited=given["is_edited"])
    return ShownField(said, before=was, after=now, is_short=True, **given)


def _rendered(text: str) -> SafeString | None:
    """The text as HTML; None where it would read as it is written."""
    html = rendered(text)
    plain = unescape(_PARAGRAPH.sub("", html))
    return None if collapsed(plain) == collapsed(visible_marks(text)) else html


def _whole(text: str) -> list[Part]:
    return [Part("same", text)] if text else []


def _text(value: Any) -> str:
    return steps_as_text(value) if isinstance(value, list) else str(value or "")


def _bag(number: int | None) -> str:
    if number is None:
        return "a bag that you can't see"
    return f"#{number}" if number else "none"
