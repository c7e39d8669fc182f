"""The fixes that pages offer for a finding: which rule has which, what they ask for, and their steps.

A fix is a verb of `memories.services` on one memory or on two; `services.apply_fix` does its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memories.models import Weight
from memories.services import (
    NEW_BAG,
    NewBag,
    Step,
    add_tags,
    archive_memory,
    mark_not_similar,
    merge_memories,
    move_into_bag,
    refresh_summary,
    resolve_contradiction,
    revise_memory,
    supersede_memory,
    verify_memory,
)

# A page of hygiene and the admin's list show so many at most; the service takes more.
CHOSEN_MAX = 100


@dataclass(frozen=True, order=True)
class Item:
    """What a fix is done to: a memory, and the other one of a pair."""

    number: int
    other: int = 0

    @property
    def key(self) -> str:
        """As forms send it: `12`, or `12-7`."""
        return f"{self.number}-{self.other}" if self.other else str(self.number)

    @property
    def numbers(self) -> set[int]:
        return {self.number, self.other} - {0}


@dataclass(frozen=True)
class Given:
    """What was typed into a fix."""

    summary: str = ""
    reason: str = ""
    tags: Sequence[str] = ()
    paths: Sequence[str] = ()
    bag: int = NEW_BAG
    title: str = ""


@dataclass(frozen=True)
class Fix:
    """A fix: `label` is its button, `does` what a preview says of one item, `done` what is said afterwards.

    `all_label` and `all_done` are those for several. Sentences may name `{number}`, `{other}`, `{many}`,
    `{into}` (a bag) and what was given.
    """

    name: str
    label: str
    does: str
    done: str
    step: Callable[[Item, Given], Step]
    all_label: str = ""
    all_done: str = ""
    inputs: tuple[str, ...] = ()
    several: bool = True
    pair: bool = False

    @property
    def many_label(self) -> str:
        """The button for several: it names no number."""
        return self.all_label or self.label


def _revise(**given: object) -> Callable[[Item, Given], Step]:
    return lambda item, said: Step(revise_memory, item.number, {**given, "reason": said.reason})


def _pair(verb: Callable[..., object], name: str = "other") -> Callable[[Item, Given], Step]:
    return lambda item, said: Step(verb, item.number, {"reason": said.reason}, {name: item.other})  # type: ignore[arg-type]


FIXES: dict[str, Fix] = {
    fix.name: fix
    for fix in (
        Fix(
            "summary",
            "Write its summary",
            "gets the summary “{summary}”",
            "#{number} has its new summary.",
            lambda item, said: Step(
                refresh_summary, item.number, {"summary": said.summary, "reason": said.reason}
            ),
            inputs=("summary",),
            several=False,
        ),
        Fix(
            "lower",
            "Lower its weight",
            "gets low weight: no longer listed in recall, still found",
            "#{number} has low weight now.",
            all_label="Lower their weight",
            all_done="{many} memories have low weight now.",
            step=_revise(weight=Weight.LOW.value),
        ),
        Fix(
            "normal",
            "Make normal",
            "gets normal weight",
            "#{number} has normal weight now.",
            all_done="{many} memories have normal weight now.",
            step=_revise(weight=Weight.NORMAL.value),
        ),
        Fix(
            "verify",
            "Still true",
            "is verified",
            "#{number} is verified.",
            all_done="{many} memories are verified.",
            step=lambda item, said: Step(verify_memory, item.number),
        ),
        Fix(
            "archive",
            "Archive",
            "is archived: out of use, its text and history stay",
            "#{number} is archived.",
            all_done="{many} memories are archived.",
            step=lambda item, said: Step(archive_memory, item.number, {"reason": said.reason}),
        ),
        Fix(
            "bag",
            "Put into a bag",
            "goes into {into}",
            "#{number} is in {into}.",
            all_done="{many} memories are in {into}.",
            step=lambda item, said: Step(
                move_into_bag, item.number, {"reason": said.reason}, {"bag": said.bag}
            ),
            inputs=("bag", "title", "summary", "tags"),
        ),
        Fix(
            "lift",
            "Lift out",
            "comes out of its bag, to the top level",
            "#{number} stands at the top level.",
            all_done="{many} memories stand at the top level.",
            step=lambda item, said: Step(move_into_bag, item.number, {"bag": None, "reason": said.reason}),
        ),
        Fix(
            "tag",
            "Tag",
            "gets the tags {tags}",
            "#{number} is tagged.",
            all_done="{many} memories are tagged.",
            step=lambda item, said: Step(add_tags, item.number, {"tags": said.tags, "reason": said.reason}),
            inputs=("tags",),
        ),
        Fix(
            "scope",
            "Name its paths",
            "covers {paths}",
            "#{number} covers {paths} now.",
            lambda item, said: Step(
                revise_memory, item.number, {"scope_paths": list(said.paths), "reason": said.reason}
            ),
            inputs=("scope_paths",),
            several=False,
        ),
        Fix(
            "merge",
            "Merge into #{other}",
            "is merged into #{other}, which gains its tags, hints and links; it is archived with a link",
            "#{number} is merged into #{other}.",
            all_label="Merge into the earlier ones",
            all_done="{many} memories are merged into earlier ones.",
            step=lambda item, said: Step(
                merge_memories, item.number, {"survivor": item.other, "reason": said.reason}
            ),
            pair=True,
        ),
        Fix(
            "not_similar",
            "Not similar",
            "is no longer compared with #{other}, until the text of one of them changes",
            "#{number} and #{other} are marked as not similar.",
            all_done="{many} pairs are marked as not similar.",
            step=_pair(mark_not_similar),
            pair=True,
        ),
        Fix(
            "supersede",
            "Keep #{other}, retire #{number}",
            "is superseded by #{other} and leaves recall",
            "#{other} replaces #{number} now.",
            all_label="Replace",
            all_done="{many} memories are replaced now.",
            step=lambda item, said: Step(
                supersede_memory, item.number, {"successor": item.other, "reason": said.reason}
            ),
            pair=True,
        ),
        Fix(
            "resolve",
            "Both hold",
            "no longer contradicts #{other}: {reason}",
            "#{number} and #{other} no longer contradict each other.",
            _pair(resolve_contradiction),
            inputs=("reason",),
            several=False,
            pair=True,
        ),
        Fix(
            "unlink",
            "Both hold",
            "is no longer superseded by #{other}: {reason}",
            "#{other} no longer supersedes #{number}.",
            lambda item, said: Step(
                revise_memory, item.number, {"unlink": [item.other], "reason": said.reason}
            ),
            inputs=("reason",),
            several=False,
            pair=True,
        ),
    )
}


def steps_of(fix: Fix, items: Sequence[Item], given: Given) -> list[Step]:
    """What is done for all items; what a bag itself gets comes at the end, when it is full."""
    steps = [fix.step(item, given) for item in items]
    if fix.name == "bag" and given.bag != NEW_BAG and given.summary:
        steps.append(Step(refresh_summary, given.bag, {"summary": given.summary}))
    if fix.name == "bag" and given.bag != NEW_BAG and given.tags:
        steps.append(Step(add_tags, given.bag, {"tags": given.tags}))
    return steps


def new_bag_of(fix: Fix, given: Given) -> NewBag | None:
    """The bag that a fix makes first; None where there is none to make."""
    return (
        NewBag(given.title, given.summary, given.tags) if fix.name == "bag" and given.bag == NEW_BAG else None
    )


def beside(fix: Fix, items: Sequence[Item]) -> set[int]:
    """The numbers that its steps name as plain values: their versions are compared, too."""
    return {item.other for item in items if item.other} if fix.pair else set()


def sentence(text: str, item: Item, given: Given, many: int = 1) -> str:
    """A sentence of a fix about one item, filled in."""
    into = f"#{given.bag}" if given.bag != NEW_BAG else f"the new bag “{given.title}”"
    return text.format(
        number=item.number,
        other=item.other,
        many=many,
        into=into,
        summary=given.summary,
        reason=given.reason,
        tags=", ".join(given.tags),
        paths=", ".join(given.paths),
    )
