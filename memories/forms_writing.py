"""The form in which a person writes a memory: what the page shows of it, and what the services take.

It reads what was typed and checks nothing itself: the services say what is wrong, field by field, and
every door says the same. Nothing typed is ever lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from memories.flat import DETAIL, STEPS, field_name, texts_of
from memories.form_fields import NumberField, problems_of
from memories.forms_memory import LINKS, OF_CONSTRAINTS, MemoryFields
from memories.models import Kind, Memory, Visibility
from memoryhub.kernel.errors import DomainError


class WritingForm(MemoryFields):
    """A new memory, or a change of one that was read at `expected_version`."""

    def clean(self) -> dict[str, Any]:
        if self.memory is not None and not self.cleaned_data.get("expected_version"):
            # A hidden field has no place of its own on the page.
            self.errors.pop("expected_version", None)
            self.add_error(None, "The page has lost the version that you read. Open the memory again.")
        return self.cleaned_data

    @property
    def had_names(self) -> list[str]:
        """The fields that a memory has by itself, but for steps: no links, no reason, no version."""
        apart = (*LINKS, "unlink", "reason", "expected_version", "merging")
        return [name for name in self.fields if name not in apart and not name.startswith(f"{STEPS}.")]

    # --- what the page shows --------------------------------------------------------------

    @property
    def of_kind(self) -> list[forms.BoundField]:
        """The fields of the kind, but for steps."""
        names = [name for name in self.fields if name.startswith(DETAIL) or name in OF_CONSTRAINTS]
        return [self[name] for name in names]

    @property
    def steps(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        places = [at for at in range(Memory.MAX_STEPS) if f"{STEPS}.{at}.does" in self.fields]
        return [(self[f"{STEPS}.{at}.does"], self[f"{STEPS}.{at}.depends_on"]) for at in places]

    @property
    def has_steps(self) -> bool:
        """Whether the kind has steps, rather than an earlier one's left to be emptied."""
        return STEPS in texts_of(self.kind)

    @property
    def can_have_more_steps(self) -> bool:
        return self.has_steps and len(self.steps) < Memory.MAX_STEPS

    @property
    def link_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in (*LINKS, "unlink") if name in self.fields]

    @property
    def has_links(self) -> bool:
        """Whether something stands in them, so that they are shown opened."""
        return any(field.errors or field.value() for field in self.link_fields)

    @property
    def carried(self) -> list[tuple[str, str]]:
        """What was typed for another kind: kept until the kind comes back."""
        shown = set(self.fields)
        return [
            (name, str(self.data[name]))
            for name in self.data
            if name not in shown
            and self.data[name]
            and (name in OF_CONSTRAINTS or name.startswith((DETAIL, f"{STEPS}.")))
        ]

    @property
    def chosen_visibility(self) -> str:
        """The one that is chosen now."""
        chosen = self["visibility"].value()
        return str(chosen if chosen in Visibility.values else self.start["visibility"])

    @property
    def is_current(self) -> bool:
        """Whether it began at the version that is stored now."""
        return self.memory is not None and str(self["expected_version"].value()) == str(self.memory.version)

    @property
    def problems(self) -> list[tuple[str, str, str]]:
        return problems_of(self)

    # --- what the services take -------------------------------------------------------------

    def given(self) -> dict[str, Any]:
        """Of a new memory all that says something, of a change what was changed; with the reason."""
        said = self._said()
        if self.memory is None:
            kept = {name: value for name, value in said.items() if value not in ("", [], {}, 0)}
            return {"title": said["title"], "summary": said["summary"], **kept}
        # What wasn't sent at all stays as it is.
        changed = {name for name in self.changed_data if name in self.data}
        given = {name: value for name, value in said.items() if name in changed and name != "details"}
        details = self._details({name for name in changed if name.startswith((DETAIL, STEPS))})
        if details:
            given["details"] = details
        if self.memory.kind == Kind.CONSTRAINT and self.kind != Kind.CONSTRAINT:
            # Other kinds have neither; the history keeps them.
            given |= {"hardness": "", "scope_paths": []}
        return {**given, "reason": said["reason"]}

    def _said(self) -> dict[str, Any]:
        """What could be read of every field that is a service's."""
        apart = ("expected_version", "merging")
        said = {
            name: value
            for name, value in self.cleaned_data.items()
            if name not in apart and not name.startswith((DETAIL, f"{STEPS}."))
        }
        if self.memory is None:
            said["details"] = {key: text for key, text in self._details(set(self.fields)).items() if text}
        return {"title": "", "summary": "", "reason": "", **said}

    def _details(self, names: Iterable[str]) -> dict[str, Any]:
        """The fields of the kind among these, as the service takes them."""
        found: dict[str, Any] = {
            name.removeprefix(DETAIL): self.cleaned_data[name]
            for name in self.fields
            if name in names and name.startswith(DETAIL) and name in self.cleaned_data
        }
        if any(name.startswith(f"{STEPS}.") for name in names) and self.steps:
            found[STEPS] = self.steps_typed
        return found

    @property
    def steps_typed(self) -> list[dict[str, str]]:
        """Those that say something; one that only depends on something is refused by the service."""
        steps = []
        for does, needs in self.steps:
            said = {
                "does": self.cleaned_data.get(does.name, ""),
                "depends_on": self.cleaned_data.get(needs.name, ""),
            }
            if any(text.strip() for text in said.values()):
                steps.append({part: text for part, text in said.items() if text.strip()})
        return steps

    def put(self, refusal: DomainError) -> None:
        """A refusal at the fields that it names, or that name what it is about; else above all fields."""
        named = dict(refusal.details.get("fields") or {})
        number = refusal.details.get("number")
        if not named and refusal.code == "not_found" and number:
            named = dict.fromkeys(self._naming(number), refusal.message)
        for name, sentence in named.items():
            place = next((field for field in self.fields if field.startswith(f"{STEPS}.")), "")
            place = place if name == f"{DETAIL}{STEPS}" else name
            if place in self.fields:
                self.add_error(place, sentence)
            else:
                self.add_error(None, f"{field_name(name)}: {sentence}")
        if not named:
            self.add_error(None, refusal.message)

    def _naming(self, number: int) -> list[str]:
        """The fields in which this number was typed."""
        return [
            name
            for name in ("parent", *LINKS, "unlink")
            if number in _numbers(self.cleaned_data.get(name) or [])
        ]


def _numbers(value: Any) -> list[int]:
    return value if isinstance(value, list) else [value]


class StartForm(forms.Form):
    """What the address of a new memory says it begins with."""

    kind = forms.ChoiceField(required=False, choices=Kind.choices)
    parent = NumberField()
    supersedes = NumberField()
