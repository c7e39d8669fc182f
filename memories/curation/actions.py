"""What can be done with several: for each action what it asks for, the steps it takes, and how it is told.

The steps are verbs of `memories.services`; here is nothing decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.curation import forms
from memories.models import Memory
from memories.services import (
    NEW_BAG,
    NewBag,
    Step,
    add_tags,
    archive_memory,
    change_tags,
    merge_memories,
    move_into_bag,
    refresh_summary,
    restore_memory,
    revise_memory,
    supersede_memory,
    verify_memory,
)

Given = Mapping[str, Any]


@dataclass(frozen=True)
class Planned:
    """A step, what it would do to its memory, and whether it is to one of those chosen."""

    step: Step
    says: str
    is_chosen: bool = True


@dataclass(frozen=True)
class Action:
    """One action: its button, its heading, what is said afterwards, and the form of what it asks for.

    `does` and `done` may name `{many}` (`12 memories are`) and `{into}`.
    """

    name: str
    label: str
    does: str
    done: str
    plan: Callable[[Sequence[Memory], Given], list[Planned]]
    form: type[forms.ActionForm]
    exactly: int = 0

    @property
    def asks(self) -> bool:
        """Whether there is something to be typed first."""
        return bool(self.form.base_fields)


def _each(
    says: str, verb: Callable[..., Any], **fixed: Any
) -> Callable[[Sequence[Memory], Given], list[Planned]]:
    """The same verb for each."""
    return lambda rows, given: [
        Planned(Step(verb, row.number, {**fixed, **_reason(given)}), says) for row in rows
    ]


def _reason(given: Given) -> dict[str, Any]:
    return {"reason": given["reason"]} if given.get("reason") else {}


def _verify(rows: Sequence[Memory], given: Given) -> list[Planned]:
    return [Planned(Step(verify_memory, row.number), "is verified: still true") for row in rows]


def _new_bag(rows: Sequence[Memory], given: Given) -> list[Planned]:
    says = f"goes into the new bag “{given['title']}”"
    others = {"bag": NEW_BAG}
    return [Planned(Step(move_into_bag, row.number, _reason(given), others), says) for row in rows]


def _into_bag(rows: Sequence[Memory], given: Given) -> list[Planned]:
    bag: Memory = given["bag"]
    says = f"goes into #{bag.number} “{bag.title}”"
    others = {"bag": bag.number}
    planned = [
        Planned(Step(move_into_bag, row.number, _reason(given), others), says)
        for row in rows
        if row.number != bag.number
    ]
    if given.get("summary"):
        step = Step(refresh_summary, bag.number, {"summary": given["summary"], **_reason(given)})
        planned.append(Planned(step, f"gets the summary “{given['summary']}”", is_chosen=False))
    return planned


def _weight(rows: Sequence[Memory], given: Given) -> list[Planned]:
    weight = given["weight"]
    says = {
        "low": "gets low weight: no longer listed in recall, still found",
        "normal": "gets normal weight",
        "critical": "becomes critical: read by every session",
    }[weight]
    return _each(says, revise_memory, weight=weight)(rows, given)


def _tags(rows: Sequence[Memory], given: Given) -> list[Planned]:
    add, remove = given["add"], given["remove"]
    said = [f"gets the tags {', '.join(add)}"] if add else []
    said += [f"loses the tags {', '.join(remove)}"] if remove else []
    verb: Callable[..., Any] = change_tags if remove else add_tags
    named = {"add": add, "remove": remove} if remove else {"tags": add}
    return _each(" and ".join(said), verb, **named)(rows, given)


def _supersede(rows: Sequence[Memory], given: Given) -> list[Planned]:
    successor: Memory = given["successor"]
    says = f"is superseded by #{successor.number} “{successor.title}” and leaves recall"
    others = [row for row in rows if row.number != successor.number]
    fixed = {"successor": successor.number, "children_follow": given["follow"]}
    return _each(says, supersede_memory, **fixed)(others, given)


def _merge(rows: Sequence[Memory], given: Given) -> list[Planned]:
    survivor: Memory = given["survivor"]
    says = f"is merged into #{survivor.number}, and archived with a link to it; its text stays"
    others = [row for row in rows if row.number != survivor.number]
    fixed = {"survivor": survivor.number, "children_follow": given["follow"]}
    return _each(says, merge_memories, **fixed)(others, given)


ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        Action("new_bag", "New bag", "Put into a new bag", "in the new bag", _new_bag, forms.NewBagForm),
        Action("into_bag", "Into a bag", "Put into a bag", "in the bag", _into_bag, forms.IntoBagForm),
        Action(
            "lift",
            "Lift out",
            "Lift out of its bag",
            "at the top level",
            _each("comes out of its bag, to the top level", move_into_bag, bag=None),
            forms.ReasonForm,
        ),
        Action("weight", "Weight", "Change the weight", "of another weight", _weight, forms.WeightForm),
        Action("tags", "Tags", "Change the tags", "tagged anew", _tags, forms.TagsForm),
        Action("verify", "Verify", "Verify: still true", "verified", _verify, forms.ActionForm),
        Action(
            "archive",
            "Archive",
            "Archive",
            "archived",
            _each("is archived: out of use, its text and history stay", archive_memory),
            forms.ReasonForm,
        ),
        Action(
            "restore",
            "Restore",
            "Restore",
            "in use again",
            _each("is in use again, in its former bag where that takes it back", restore_memory),
            forms.ReasonForm,
        ),
        Action("supersede", "Supersede", "Supersede", "superseded", _supersede, forms.SupersedeForm),
        Action("merge", "Merge two", "Merge two", "merged", _merge, forms.MergeForm, exactly=2),
    )
}


def new_bag_of(action: Action, given: Given) -> NewBag | None:
    """The bag that an action makes first; None where there is none to make."""
    if action.name != "new_bag":
        return None
    return NewBag(given["title"], given["summary"], given["tags"])


def beside(given: Given) -> set[int]:
    """The numbers that steps name as plain values: their versions are compared, too."""
    named = (given.get(name) for name in ("successor", "survivor"))
    return {memory.number for memory in named if isinstance(memory, Memory)}
