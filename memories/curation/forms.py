"""What the actions on several ask for. What is typed is judged by the services."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from django import forms

from memories.form_fields import TagsField, TextField
from memories.models import Memory, Tag, Weight
from memories.querysets import MemoryQuerySet
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.text import printable, storable, visible_marks
from projects.models import Project, User

# So many are named where what was typed fits several, and so many bags are suggested.
_NAMED, SUGGESTED = 8, 100
_PICKED = re.compile(r"#\s*(\d{1,10})\b.*", re.DOTALL)


def _named(text: str, candidates: MemoryQuerySet) -> list[Memory]:
    """By number, as picked from a list, by its whole title, or else those with the text in their title."""
    picked = _PICKED.fullmatch(text)
    number = read_number(picked[1] if picked else text)
    if number is not None:
        return list(candidates.numbered(number))
    # What can't be in a title, a database may refuse to look for.
    if len(text) > Memory.TITLE_MAX_LENGTH or not storable(text):
        return []
    exact = list(candidates.filter(title__iexact=text)[:_NAMED])
    return exact or list(candidates.filter(title__icontains=text).order_by("number")[:_NAMED])


def _sent(value: Any) -> str:
    if isinstance(value, Memory):
        return str(value.number)
    return ", ".join(value) if isinstance(value, list) else str(value)


def name_of(memory: Memory) -> str:
    """`#48 Deployment`, safe to read."""
    return f"#{memory.number} {visible_marks(memory.title)}"


def _tags(label: str) -> TagsField:
    field = TagsField(label=label)
    field.widget = forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"})
    field.help_text = f"Lower case, with commas between them, each at most {Tag.NAME_MAX_LENGTH} characters."
    return field


class ActionForm(forms.Form):
    """Nothing to ask. `chosen` are the memories that it is about."""

    def __init__(self, data: Any = None, *, project: Project, reader: User, chosen: Sequence[Memory]) -> None:
        super().__init__(data, auto_id="do-%s")
        self.chosen = chosen
        self.seen = Memory.objects.in_project(project).visible_to(reader).active()
        self.reader = reader

    def the_one(self, name: str, candidates: MemoryQuerySet, what: str) -> Memory | None:
        """The memory that a field names by number or title; None leaves an error at the field."""
        text = str(self.cleaned_data.get(name) or "").strip()
        found = _named(text, candidates.defer("body", "details", "retrieval_hints"))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(name_of(memory) for memory in found)
            self.add_error(name, f"Several fit: {names}. Write the number of the one you mean.")
        else:
            self.add_error(name, f"No {what} here has “{printable(text)}” as its number or in its title.")
        return None

    @property
    def suggestions(self) -> list[tuple[int, str]]:
        """Number and title of what may be meant."""
        return []

    @property
    def read(self) -> list[tuple[str, str]]:
        """What a valid form says, as hidden fields send it again: memories by their number."""
        return [(name, _sent(value)) for name, value in self.cleaned_data.items() if value]


def _reason_field() -> TextField:
    return TextField(
        required=False,
        label="Reason",
        max_length=Memory.REASON_MAX_LENGTH,
        help_text="Why: it stands in the history of each.",
        widget=forms.TextInput(),
    )


class ReasonForm(ActionForm):
    """Why."""

    reason = _reason_field()


class NewBagForm(ReasonForm):
    """A bag is a memory that says what it holds."""

    title = TextField(label="Title of the new bag", widget=forms.TextInput())
    summary = TextField(
        label="Summary",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=f"Plain text: what it holds and why, in 1 to {Memory.SUMMARY_MAX_LENGTH} characters.",
    )
    tags = _tags("Tags")
    field_order = ("title", "summary", "tags", "reason")


class IntoBagForm(ReasonForm):
    """A bag that is there, or any memory of the top level, which becomes one."""

    bag = TextField(
        label="Into which",
        help_text="Its number, or words of its title.",
        widget=forms.TextInput(attrs={"list": "do-suggestions", "autocomplete": "off"}),
    )
    summary = TextField(
        required=False,
        label="Its summary from now on",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Left empty it stays, and the bag is stale until somebody says what it holds now.",
    )
    field_order = ("bag", "summary", "reason")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "bag" in cleaned:
            cleaned["bag"] = self.the_one("bag", self.seen.top_level(), "memory at the top level")
        return cleaned

    @property
    def suggestions(self) -> list[tuple[int, str]]:
        """The bags."""
        bags = self.seen.top_level().bags_for(self.reader).order_by("title", "number")
        return list(bags.values_list("number", "title")[:SUGGESTED])


class WeightForm(ReasonForm):
    """How heavily they count."""

    weight = forms.ChoiceField(
        choices=[
            (Weight.CRITICAL, "critical: always in recall"),
            (Weight.NORMAL, "normal"),
            (Weight.LOW, "low: never listed in recall, found by search"),
        ],
        initial=Weight.LOW,
        widget=forms.RadioSelect,
    )
    field_order = ("weight", "reason")


class TagsForm(ReasonForm):
    """Tags to come, and tags to go."""

    add = _tags("Add")
    remove = _tags("Remove")
    field_order = ("add", "remove", "reason")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("add") and not cleaned.get("remove"):
            self.add_error("add", "Name at least one tag to add or to remove.")
        return cleaned


class _StayingForm(ReasonForm):
    """One stays, and the others go."""

    follow = forms.BooleanField(
        required=False,
        label="What they hold goes into the one that stays, where the rules allow; else to the top level",
    )


class SupersedeForm(_StayingForm):
    """By which memory they are replaced: one of those chosen, or any other."""

    successor = TextField(
        label="Replaced by",
        help_text="The number or words of the title; one of those chosen, or any other.",
        widget=forms.TextInput(attrs={"list": "do-suggestions", "autocomplete": "off"}),
    )
    field_order = ("successor", "follow", "reason")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "successor" in cleaned:
            cleaned["successor"] = self.the_one("successor", self.seen, "active memory")
            if cleaned["successor"] and {memory.number for memory in self.chosen} == {
                cleaned["successor"].number
            }:
                self.add_error("successor", "A memory can't replace itself. Name another.")
        return cleaned

    @property
    def suggestions(self) -> list[tuple[int, str]]:
        """Those chosen."""
        return [(memory.number, memory.title) for memory in self.chosen if memory.is_active][:SUGGESTED]


class MergeForm(_StayingForm):
    """Which of the two stays."""

    survivor = forms.TypedChoiceField(coerce=int, label="Which one stays", widget=forms.RadioSelect)
    field_order = ("survivor", "follow", "reason")

    def __init__(self, data: Any = None, **given: Any) -> None:
        super().__init__(data, **given)
        field = cast(forms.TypedChoiceField, self.fields["survivor"])
        field.choices = [(memory.number, name_of(memory)) for memory in self.chosen]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        stays = {memory.number: memory for memory in self.chosen}
        cleaned["survivor"] = stays.get(cleaned.get("survivor") or 0)
        return cleaned
