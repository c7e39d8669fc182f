"""Two memories side by side before one is merged into the other: field by field, and what each would gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.differences import Part, list_difference, word_difference
from memories.models import Memory, Revision
from memories.services import Applied, Pending, Step, merge_memories, try_several
from memories.wording import FIELD_NAMES, LINK_SENTENCES, detail_name, steps_as_text
from memoryhub.kernel.actor import Actor
from projects.models import Project

_TEXTS = ("title", "summary", "body")
_WORDS = ("kind", "weight", "visibility", "hardness")
_LISTS = ("tags", "retrieval_hints", "scope_paths")
# Beside the fields: what one survivor took over of the other's links.
_LINKED = "linked"


@dataclass(frozen=True)
class Compared:
    """A field of both: the parts that only the first has are `del`, those of the second `ins`."""

    name: str
    parts: Sequence[Part]
    is_list: bool = False

    @property
    def same(self) -> bool:
        return all(part.kind == "same" for part in self.parts)

    @property
    def first(self) -> list[Part]:
        return [part for part in self.parts if part.kind != "ins"]

    @property
    def second(self) -> list[Part]:
        return [part for part in self.parts if part.kind != "del"]


@dataclass(frozen=True)
class Outcome:
    """What would come of merging the other into `survivor`."""

    survivor: Memory
    other: Memory
    refusal: str = ""
    waits: bool = False
    gains: Sequence[str] = ()
    hints: Sequence[str] = ()


def compared(first: Memory, second: Memory) -> list[Compared]:
    """All that either of them has, in reading order. Long texts are cut where they agree."""
    rows = [Compared(FIELD_NAMES[name], _texts(first, second, name)) for name in _TEXTS[:2]]
    rows += [Compared(FIELD_NAMES[name], _word(first, second, name)) for name in _WORDS]
    for key in dict.fromkeys([*first.details, *second.details]):
        old, new = _detail(first.details.get(key)), _detail(second.details.get(key))
        rows.append(Compared(detail_name(key), word_difference(old, new)))
    rows.append(Compared(FIELD_NAMES["body"], _texts(first, second, "body")))
    for name, field in zip(_LISTS, ("tag_names", "retrieval_hints", "scope_paths"), strict=True):
        parts = list_difference(getattr(first, field), getattr(second, field))
        rows.append(Compared(FIELD_NAMES[name], parts, is_list=True))
    return [row for row in rows if row.parts]


def _texts(first: Memory, second: Memory, name: str) -> list[Part]:
    return word_difference(getattr(first, name), getattr(second, name))


def _word(first: Memory, second: Memory, name: str) -> list[Part]:
    old, new = (str(getattr(memory, f"get_{name}_display")()) for memory in (first, second))
    if old == new:
        return [Part("same", old)] if old else []
    return [part for part in (Part("del", old), Part("ins", new)) if part.text]


def _detail(value: Any) -> str:
    return steps_as_text(value) if isinstance(value, list) else str(value or "")


def outcomes(actor: Actor, project: Project, first: Memory, second: Memory) -> list[Outcome]:
    """Both ways, each tried and taken back."""
    return [_outcome(actor, project, first, second), _outcome(actor, project, second, first)]


def _outcome(actor: Actor, project: Project, survivor: Memory, other: Memory) -> Outcome:
    trial = try_several(
        actor=actor,
        project=project,
        steps=[Step(merge_memories, other.number, {"survivor": survivor.number})],
        beside=[survivor.number],
        look=lambda: _gained(survivor),
    )
    tried = trial.tried[0]
    if tried.refusal is not None:
        return Outcome(survivor, other, refusal=tried.refusal.message)
    if isinstance(tried.result, Pending):
        return Outcome(survivor, other, waits=True, hints=[hint.message for hint in tried.result.hints])
    assert isinstance(tried.result, Applied)
    gains = list(_gains(trial.looked, survivor))
    return Outcome(survivor, other, gains=gains, hints=[hint.message for hint in tried.result.hints])


def _gained(survivor: Memory) -> Mapping[str, Any]:
    """What the revision says that the merge wrote; nothing where it wrote none."""
    written = Revision.objects.filter(memory=survivor).after(survivor.version).oldest_first().first()
    return written.fields if written else {}


def _gains(fields: Mapping[str, Any], survivor: Memory) -> list[str]:
    said = []
    for name, value in fields.items():
        if name in _LISTS:
            had = survivor.tag_names if name == "tags" else getattr(survivor, name)
            said.append(f"{FIELD_NAMES[name]}: {', '.join(item for item in value if item not in had)}")
        elif name == "details":
            more = [detail_name(key) for key in value if not survivor.details.get(key)]
            said.append(f"{FIELD_NAMES[name]}: {', '.join(more)}")
        elif name == _LINKED:
            said.append(f"{LINK_SENTENCES[name]} {', '.join(f'#{number}' for number in value)}")
        elif name in FIELD_NAMES:
            said.append(f"{FIELD_NAMES[name]}, which was empty")
    return said
