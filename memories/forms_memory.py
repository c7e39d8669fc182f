"""The fields of a memory for a person to fill in: they follow the kind, and hold what it has already."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from memories.flat import DETAIL, STEPS, empty_of, field_name, flat_of, texts_of
from memories.form_fields import LinesField, NumberField, NumbersField, TagLineField, TextField
from memories.form_widgets import area, choices_of, line, summary_help, tags_help, title_help
from memories.models import Hardness, Kind, Memory, ScopePath, Tag, Visibility, Weight
from memoryhub.kernel.refs import MAX_NUMBER
from memoryhub.kernel.text import visible_marks
from projects.models import Project, User

# Empty places for more steps than there are.
MORE_STEPS = 2
# By the submit button that asks for more of them.
STEPS_ADDED = 5
LINKS = ("supersedes", "related_to", "contradicts")
OF_CONSTRAINTS = ("hardness", "scope_paths")
_STEP = re.compile(rf"{STEPS}\.(\d{{1,3}})\.(does|depends_on)", re.ASCII)
_KINDS = {
    Kind.DECISION: "decision: what was chosen, and why",
    Kind.CONSTRAINT: "constraint: what must be kept to, in which files",
    Kind.PIPELINE: "pipeline: steps that are gone through again and again",
    Kind.FACT: "fact: how something is",
    Kind.PREFERENCE: "preference: how somebody wants it",
    Kind.NOTE: "note: anything else",
    Kind.SESSION_SUMMARY: "session summary: what a session did",
}
_WEIGHTS = {
    Weight.CRITICAL: "critical: every session reads it",
    Weight.NORMAL: "normal: read while there is room",
    Weight.LOW: "low: found by search alone",
}
_VISIBILITIES = {
    Visibility.PRIVATE: "private: you alone",
    Visibility.SHARED: "shared: the project's members",
    Visibility.PUBLIC: "public: everybody on this hub",
}
_HARDNESSES = {
    Hardness.ABSOLUTE: "absolute: it is kept, whatever speaks against it",
    Hardness.ADVISORY: "advisory: it is weighed against other things",
}
_LINK_HELPS = {
    "supersedes": "Numbers of older memories that this replaces. They leave recall and name this one.",
    "related_to": "Numbers of memories that belong beside it.",
    "contradicts": "Numbers of memories that can't be true beside it.",
}


def _anew(only: str, part: str) -> dict[str, str]:
    """With JavaScript, what follows a choice comes anew at once."""
    asked = {"hx-post": "", "hx-trigger": "change", "hx-vals": json.dumps({"only": only})}
    return {**asked, "hx-target": f"#{part}", "hx-swap": "outerHTML"}


class MemoryFields(forms.Form):
    """A new memory, or a change of one that was read at `expected_version`.

    `initial` are values by name as `flat` gives them. `links` are numbers and names of the links it has.
    """

    def __init__(
        self,
        project: Project,
        reader: User,
        memory: Memory | None = None,
        data: QueryDict | None = None,
        initial: Mapping[str, Any] | None = None,
        links: Sequence[tuple[int, str]] = (),
    ) -> None:
        super().__init__(data)
        self.memory, self.reader = memory, reader
        self.had = flat_of(memory) if memory else {}
        defaults = {"kind": Kind.NOTE.value, "weight": "normal", "visibility": project.default_visibility}
        self.start: dict[str, Any] = {**defaults, **self.had, **(initial or {})}
        typed = data.get("kind") if data is not None else None
        self.kind = str(typed if typed in Kind.values else self.start["kind"])
        self._add_texts()
        self._add_kind_s()
        self._add_rest(links)

    # --- the fields -----------------------------------------------------------------------

    def _add(self, name: str, field: forms.Field, label: str = "", help_text: str = "") -> None:
        if isinstance(field, forms.CharField):
            field.strip = False  # allowed text is stored exactly
        field.required = False
        field.label, field.help_text = label or field_name(name), help_text
        self.fields[name] = field
        value = self.start.get(name)
        self.initial[name] = empty_of(name) if value is None else value

    def _add_texts(self) -> None:
        self._add("kind", forms.ChoiceField(choices=choices_of(Kind, _KINDS)))
        self.fields["kind"].widget.attrs |= _anew("kind", "kind-fields")
        most = Memory.TITLE_MAX_LENGTH
        self._add("title", TextField(widget=line(most)), help_text=title_help(most))
        most = Memory.SUMMARY_MAX_LENGTH
        says = summary_help(most, "what, and why it matters.")
        self._add("summary", TextField(widget=area(3, most)), help_text=says)
        most = Memory.BODY_MAX_LENGTH
        says = f"Markdown, at most {most:,} characters."
        self._add("body", TextField(widget=area(12, most)), help_text=says)

    def _add_kind_s(self) -> None:
        """What the kind has, and what an earlier kind or an import left, to be emptied."""
        of_kind = texts_of(self.kind)
        left = [
            name for name, value in self.had.items() if name.startswith(DETAIL) and isinstance(value, str)
        ]
        for name in dict.fromkeys([*(f"{DETAIL}{key}" for key in of_kind if key != STEPS), *left]):
            least = of_kind.get(name.removeprefix(DETAIL))
            rows = 4 if least or self.start.get(name) else 2
            field = TextField(widget=area(rows, Memory.DETAIL_MAX_LENGTH, least or 0))
            self._add(name, field, help_text=self._detail_help(least))
        if STEPS in of_kind or self.had.get(STEPS):
            for at in range(self._places()):
                self._add_step(at)
        if self.kind == Kind.CONSTRAINT:
            named = choices_of(Hardness, _HARDNESSES)
            self._add("hardness", forms.ChoiceField(choices=[("", "choose"), *named]))
            says = (
                f"Paths from the top of the repository, one a line: at most {Memory.MAX_SCOPES} of "
                f"{ScopePath.PATH_MAX_LENGTH} characters. Empty: all."
            )
            self._add("scope_paths", LinesField(), "Covers", says)

    def _detail_help(self, least: int | None) -> str:
        if least is None:
            name = Kind(self.kind).label
            return f"A {name} has no such field: move what still holds to the body, and empty this."
        return (
            f"Markdown. Required, at least {least} characters."
            if least > 1
            else ("Markdown. Required." if least else "Markdown.")
        )

    def _add_step(self, at: int) -> None:
        steps = self.start.get(STEPS) or []
        step = steps[at] if at < len(steps) else {}
        step = step if isinstance(step, dict) else {"does": str(step)}
        for part, label in (("does", f"Step {at + 1}"), ("depends_on", f"Step {at + 1} depends on")):
            name = f"{STEPS}.{at}.{part}"
            self.start[name] = step.get(part, "")
            rows = 2 if part == "does" else 1
            self._add(name, TextField(widget=area(rows, Memory.DETAIL_MAX_LENGTH)), label)

    def _places(self) -> int:
        """As many steps as there are or were typed, with a few to spare."""
        there = len(self.start.get(STEPS) or [])
        sent = [int(found[1]) for name in self.data if (found := _STEP.fullmatch(name))]
        more = STEPS_ADDED if self.data.get("only") == STEPS else 0
        return min(max(there + MORE_STEPS, max(sent, default=-1) + 1 + more), Memory.MAX_STEPS)

    def _add_rest(self, links: Sequence[tuple[int, str]]) -> None:
        self._add("tags", TagLineField(), help_text=tags_help(Memory.MAX_TAGS, Tag.NAME_MAX_LENGTH))
        self._add("weight", forms.ChoiceField(choices=choices_of(Weight, _WEIGHTS)))
        self._add("visibility", forms.ChoiceField(choices=self._visibilities()))
        self.fields["visibility"].widget.attrs |= _anew("sending", "sending")
        bag = NumberField()
        bag.widget.attrs |= {"list": "bag-list", "autocomplete": "off", "inputmode": "numeric"}
        self._add("parent", bag, help_text=self._bag_help())
        says = (
            f"Other words to find it by, one a line: at most {Memory.MAX_HINTS} of "
            f"{Memory.HINT_MAX_LENGTH} characters."
        )
        self._add("retrieval_hints", LinesField(), "Also found by", says)
        for name in LINKS:
            self._add(name, NumbersField(), name.replace("_", " ").capitalize(), _LINK_HELPS[name])
        if links:
            box = forms.CheckboxSelectMultiple
            ends = forms.TypedMultipleChoiceField(coerce=int, choices=links, widget=box)
            self._add("unlink", ends, "Links that end", "Needs a reason below.")
            self.initial["unlink"] = []
        most = Memory.REASON_MAX_LENGTH
        label = "Why it is new" if self.memory is None else "Why it changes"
        says = "Kept with the history, and read by whoever reviews it."
        self._add("reason", TextField(widget=area(2, most)), label, says)
        if self.memory is not None:
            seen = forms.IntegerField(min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput)
            self._add("expected_version", seen)
            self.initial["expected_version"] = self.memory.version
            self._add(
                "merging", forms.IntegerField(min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput)
            )

    def _bag_help(self) -> str:
        says = "The number of the memory to put it into; empty for none."
        bag = self.memory.parent if self.memory else None
        return f"It is in #{bag.number} {visible_marks(bag.title)}. {says}" if bag else says

    def _visibilities(self) -> list[tuple[str, str]]:
        """Only its author makes a memory private."""
        memory = self.memory
        if memory is None or memory.is_private or memory.author_id == self.reader.pk:
            return choices_of(Visibility, _VISIBILITIES)
        open_ones = {one: says for one, says in _VISIBILITIES.items() if one != Visibility.PRIVATE}
        return choices_of(Visibility, open_ones)
