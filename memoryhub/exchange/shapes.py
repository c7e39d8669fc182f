"""What the JSON columns of an entry may hold, and where numbers of the project stand in them.

Pages and services read these values as they read their own: a text where a list belongs would break them.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any

from memories.models import CommitReport, Memory, ScopePath, Tag
from memories.scopes import normalise_path
from memories.services import Brought
from memories.services.checks import LINK_FIELDS, STEP_KEYS
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.text import printable, text_problem
from tasks.models import Checkpoint, CheckpointFields, Receipt, Task

Shape = Callable[[Any], None]

_TAG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MANY = 1000
_BIG = 2**31


def check_json(kind: str, name: str, value: Any) -> None:
    """Raises ValueError where the value of a JSON column isn't what such a column holds."""
    _SHAPES[kind, name](value)


# --- the shapes ------------------------------------------------------------------------


def _text(most: int, *, least: int = 0) -> Shape:
    def check(value: Any) -> None:
        problem = text_problem(value, most=most, least=least)
        if problem:
            raise ValueError(problem)

    return check


def _number(value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _BIG:
        raise ValueError("must be a number")


def _truth(value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")


def _tag(value: Any) -> None:
    if not isinstance(value, str) or len(value) > Tag.NAME_MAX_LENGTH or not _TAG.fullmatch(value):
        raise ValueError("has what is no tag")


def _path(value: Any) -> None:
    _text(4000, least=1)(value)
    if normalise_path(value) != value:
        raise ValueError("has a path that isn't written as paths are")


def _list(of: Shape, most: int, *, once: bool = False) -> Shape:
    def check(value: Any) -> None:
        if not isinstance(value, list) or len(value) > most:
            raise ValueError(f"must be a list of at most {most}")
        for item in value:
            of(item)
        if once and len(set(value)) < len(value):
            raise ValueError("has the same twice")

    return check


def _object(known: Mapping[str, Shape], other: Shape | None = None, needed: Collection[str] = ()) -> Shape:
    """An object of known keys; what stands under others is checked by `other`, or refused."""

    def check(value: Any) -> None:
        if not isinstance(value, dict) or len(value) > _MANY:
            raise ValueError("must be an object")
        if lacking := sorted(set(needed) - value.keys()):
            raise ValueError(f"lacks {', '.join(lacking)}")
        for key, item in value.items():
            shape = known.get(key, other)
            if shape is None or text_problem(key, most=200, one_line=True):
                raise ValueError(f"has the unknown key {printable(key)}")
            try:
                shape(item)
            except ValueError as wrong:
                raise ValueError(f"{printable(key)}: {wrong}") from None

    return check


def _null_or(shape: Shape) -> Shape:
    return lambda value: None if value is None else shape(value)


_step = _object(dict.fromkeys(STEP_KEYS, _text(Memory.DETAIL_MAX_LENGTH)), needed=["does"])
# A kind may have gained and lost fields: any key, but texts.
_details = _object({"steps": _list(_step, Memory.MAX_STEPS)}, _text(Memory.DETAIL_MAX_LENGTH))
# What an older store had stays as it came, over the limits of writers.
_names = _list(_tag, 50, once=True)
_hints = _list(_text(Memory.BODY_MAX_LENGTH), 50)
_paths = _list(_text(ScopePath.PATH_MAX_LENGTH, least=1), 100, once=True)
_numbers = _list(_number, _MANY)
_body = _text(Memory.BODY_MAX_LENGTH)
_line = _text(Memory.BODY_MAX_LENGTH)

_links = _object({**dict.fromkeys(LINK_FIELDS, _numbers)})
# What a revision or a proposal of a memory names. Notes beside the fields are numbers or short texts.
_memory_fields = _object(
    {
        "kind": _line,
        "title": _line,
        "summary": _body,
        "body": _body,
        "details": _details,
        "tags": _names,
        "retrieval_hints": _hints,
        "scope_paths": _paths,
        "hardness": _line,
        "weight": _line,
        "visibility": _line,
        "status": _line,
        "parent": _null_or(_number),
        "left_bag": _number,
        "merged": _number,
        "merged_into": _number,
        "superseded_by": _number,
        "linked": _numbers,
        "erased": _truth,
        **dict.fromkeys(LINK_FIELDS, _numbers),
    }
)
_task_fields = _object(
    {
        "title": _line,
        "summary": _body,
        "description": _text(Task.DESCRIPTION_MAX_LENGTH),
        "status": _line,
        "priority": _line,
        "assignee": _line,
        "tags": _names,
        "parent": _number,
        "blocked_by": _numbers,
        "erased": _truth,
    }
)
_SECTION = dict.fromkeys(("title", "text", "after"), _text(Checkpoint.SECTIONS_MAX_LENGTH))
_sections = _list(_object(_SECTION, needed=_SECTION), Checkpoint.MAX_SECTIONS)
_decisions = _list(_text(CheckpointFields.DECISION_MAX_LENGTH), CheckpointFields.MAX_DECISIONS)
# A late one and the whole of a subagent's results may be over the limits of a checkpoint.
_checkpoint_fields = _object(
    {
        **dict.fromkeys((*CheckpointFields.LINES, *CheckpointFields.TEXTS), _body),
        "key_decisions": _list(_body, _MANY),
        "sections": _sections,
    }
)
_context = _object({name: _text(most) for name, most in WriteContext.MAX_LENGTHS.items()})


def _brought(value: Any) -> None:
    """What an import proposed with: nothing, or a past that can be read."""
    days = dict.fromkeys(Brought.DAYS, _text(40))
    archived = _null_or(_text(Memory.REASON_MAX_LENGTH))
    links = _object(dict.fromkeys(LINK_FIELDS, _list(_text(36), _MANY)))
    _object({"uid": _text(36), "archived": archived, "links": links, **days})(value)
    try:
        past = Brought.read(value)
        for uid in [past.uid, *(uid for uids in past.links.values() for uid in uids)] if past else []:
            uuid.UUID(uid)
    except (TypeError, ValueError):
        raise ValueError("has a past that can't be read") from None


_SHAPES: dict[tuple[str, str], Shape] = {
    ("memory", "tags"): _names,
    ("memory", "scope_paths"): _paths,
    ("memory", "retrieval_hints"): _hints,
    ("memory", "details"): _details,
    ("review", "beside"): _object({}, _number),
    ("review", "brought"): _brought,
    ("review", "decided_context"): _context,
    ("review", "links"): _links,
    ("review", "edits"): _memory_fields,
    ("review", "fields"): _memory_fields,
    ("revision", "fields"): _memory_fields,
    ("commit", "paths"): _list(_path, CommitReport.MAX_PATHS),
    ("task", "tags"): _names,
    ("task_revision", "fields"): _task_fields,
    ("receipt", "tags"): _names,
    ("receipt", "references"): _object(
        {"branch": _text(200), "commit": _text(64), "numbers": _list(_number, Receipt.MAX_NUMBERS)}
    ),
    ("checkpoint", "key_decisions"): _decisions,
    ("checkpoint", "sections"): _sections,
    ("checkpoint_entry", "fields"): _checkpoint_fields,
    ("checkpoint_loss", "lost"): _list(
        _object({"field": _line, "text": _body}, needed=("field", "text")), _MANY
    ),
}

# --- numbers ---------------------------------------------------------------------------

# Under these keys of a revision, a proposal or a receipt stand numbers of the project.
NUMBERED = {
    "parent",
    "left_bag",
    "merged",
    "merged_into",
    "superseded_by",
    "linked",
    "blocked_by",
    "numbers",
    *LINK_FIELDS,
}


def renumbered(fields: Mapping[str, Any], numbers: Callable[[int], int]) -> dict[str, Any]:
    """The same with the numbers that the receiving store gave."""
    return {name: _renumber(value, numbers) if name in NUMBERED else value for name, value in fields.items()}


def _renumber(value: Any, numbers: Callable[[int], int]) -> Any:
    if isinstance(value, list):
        return [numbers(item) for item in value]
    return numbers(value) if value else value
