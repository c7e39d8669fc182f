"""Two edits of one memory that began at the same version: what only one side changed is taken.

A three-way merge by fields, of a kind each a whole: nobody's text is mixed with another's inside a field.
What both changed, and differently, is shown with both, and stands in the form as it was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from memories.differences import Part, word_difference
from memories.errors import NoSuchVersion
from memories.flat import STEPS, empty_of, field_name, flat, flat_of
from memories.forms_writing import WritingForm
from memories.models import Memory, Revision
from memories.versions import as_it_was
from memories.wording import choice_name, steps_as_text
from projects.models import User

_CHOICES = ("kind", "weight", "visibility", "hardness")
_BY_LINES = ("retrieval_hints", "scope_paths")


@dataclass(frozen=True)
class Clash:
    """A field that both changed: each side as a difference from what both began with, where that is known."""

    name: str
    theirs: list[Part]
    mine: list[Part]

    @property
    def label(self) -> str:
        return field_name(self.name)


@dataclass(frozen=True)
class Meeting:
    """What came of it: the merged values, the names that were taken from them, and where both clash."""

    base: int
    version: int
    merged: Mapping[str, Any]
    taken: list[str] = field(default_factory=list)
    clashes: list[Clash] = field(default_factory=list)
    # Who changed it since, newest first, as far as the reader may know.
    since: list[Revision] = field(default_factory=list)

    @property
    def taken_names(self) -> str:
        return ", ".join(field_name(name) for name in self.taken)


def meet(memory: Memory, reader: User, form: WritingForm, base: int) -> Meeting:
    """What was typed on version `base` against the memory as it is now. Five queries at most."""
    seen = Revision.objects.visible_to(reader).of(memory)
    had, theirs, mine = _base(memory, reader, base), flat_of(memory), typed_in(form)
    merged, taken, clashes = {}, [], []
    for name in dict.fromkeys([*mine, *theirs]):
        their, my = theirs.get(name, empty_of(name)), mine.get(name, theirs.get(name))
        began = had.get(name, empty_of(name)) if had is not None and _is_known(had, name) else None
        if my in (began, their):
            merged[name] = their
            if my != their:
                taken.append(name)
            continue
        merged[name] = my
        if their != began:
            clashes.append(Clash(name, _sides(name, began, their), _sides(name, began, my)))
    since = list(seen.after(base).without_values())
    return Meeting(base, memory.version, merged, taken, clashes, since)


def _base(memory: Memory, reader: User, version: int) -> Mapping[str, Any] | None:
    try:
        values = as_it_was(memory, reader, [version])[0].values
    except NoSuchVersion:
        return None
    return {**flat(values), "": "details" in values}


def _is_known(had: Mapping[str, Any], name: str) -> bool:
    """Whether it is known what a field was; a text of the kind that wasn't there was empty."""
    return name in had or (bool(had[""]) and (name.startswith("details.") or name == STEPS))


def typed_in(form: WritingForm) -> dict[str, Any]:
    """The values that were sent by name; what couldn't be read as it was typed."""
    form.is_valid()
    names = [name for name in form.had_names if name in form.data]
    typed: dict[str, Any] = {name: form.cleaned_data.get(name, form[name].data) for name in names}
    if form.steps and f"{STEPS}.0.does" in form.data:
        typed[STEPS] = form.steps_typed
    return typed


def data_of(form: WritingForm, values: Mapping[str, Any], **more: Any) -> QueryDict:
    """What a form would have sent with these values in it; the rest as it was sent."""
    assert isinstance(form.data, QueryDict), "A form that was sent."
    data = form.data.copy()
    for name, value in values.items():
        if name == STEPS:
            _put_steps(data, value)
        else:
            data[name] = as_typed(name, value)
    for name, value in more.items():
        data[name] = str(value)
    return data


def as_typed(name: str, value: Any) -> str:
    """A value as somebody would type it."""
    if isinstance(value, list):
        return ("\n" if name in _BY_LINES else ", ").join(str(item) for item in value)
    return "" if value in (0, None) else str(value)


def _put_steps(data: QueryDict, steps: Any) -> None:
    for name in [name for name in data if name.startswith(f"{STEPS}.")]:
        del data[name]
    for at, step in enumerate(steps or ()):
        for part in ("does", "depends_on"):
            data[f"{STEPS}.{at}.{part}"] = step.get(part, "")


def _sides(name: str, began: Any, now: Any) -> list[Part]:
    text = as_text(name, now)
    return word_difference(text if began is None else as_text(name, began), text, whole=True)


def as_text(name: str, value: Any) -> str:
    """A value as it is compared: choices in words, lists by lines, steps numbered."""
    if name == STEPS:
        return steps_as_text(value)
    if name in _CHOICES:
        return choice_name(name, value) or "none"
    if name == "parent":
        return f"#{value}" if value else "none"
    return as_typed(name, value) or "empty"
