"""The shape of what is written: limits, text rules and secrets, before any row is touched.

Each function adds what is wrong to `problems` under the field's name and gives the values as they are
stored, so that one refusal names every bad field.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from memories.services.checks import read_tags
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.secret_scan import find_secret
from memoryhub.kernel.text import printable, summary_problem, text_problem, tidy
from tasks.current_state import section_problem
from tasks.models import Checkpoint, CheckpointFields, Priority, Receipt, Task, TaskStatus

Reader = Callable[[str, Any, Problems], Any]


def _text(most: int, *, one_line: bool = False, least: int = 0) -> Reader:
    def read(name: str, value: Any, problems: Problems) -> Any:
        problems.add(name, text_problem(value, most=most, least=least, one_line=one_line))
        return tidy(value) if isinstance(value, str) else ""

    return read


def _summary(name: str, value: Any, problems: Problems) -> Any:
    problems.add(name, summary_problem(value))
    return tidy(value) if isinstance(value, str) else ""


def _choice(options: list[str]) -> Reader:
    def read(name: str, value: Any, problems: Problems) -> Any:
        if value not in options:
            problems.add(name, f"Must be one of: {', '.join(options)}.")
        return value

    return read


def _tags(name: str, value: Any, problems: Problems) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        problems.add(name, "Must be a list of texts.")
        return []
    return read_tags(value, problems)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _number_or_none(name: str, value: Any, problems: Problems) -> int:
    if value != 0 and not _is_number(value):
        problems.add(name, "Must be the number of a task, or 0 for none.")
        return 0
    return int(value)


def _numbers(most: int) -> Reader:
    def read(name: str, value: Any, problems: Problems) -> list[int]:
        if not isinstance(value, list) or not all(_is_number(number) for number in value):
            problems.add(name, "Must be a list of numbers such as [48, 52].")
            return []
        numbers = sorted(set(value))
        if len(numbers) > most:
            problems.add(name, f"Has {len(numbers)} numbers; at most {most} are allowed.")
        return numbers

    return read


def _decisions(name: str, value: Any, problems: Problems) -> list[str]:
    if not isinstance(value, list):
        problems.add(name, "Must be a list of texts.")
        return []
    most = CheckpointFields.MAX_DECISIONS
    if len(value) > most:
        problems.add(
            name, f"Has {len(value)} decisions; at most {most} are allowed. Keep those that still hold."
        )
        return []
    for item in value:
        problem = text_problem(item, most=CheckpointFields.DECISION_MAX_LENGTH, least=1, one_line=True)
        problems.add(name, problem and f"One of them: {problem}")
    return [tidy(item) if isinstance(item, str) else "" for item in value]


def _sections(name: str, value: Any, problems: Problems) -> list[dict[str, str]]:
    """Sections as `current_state.parse` gives them."""
    problems.add(name, section_problem(value))
    for section in value:
        problem = text_problem(section["title"], most=Checkpoint.SECTIONS_MAX_LENGTH, one_line=True)
        problem = problem or text_problem(section["text"], most=Checkpoint.SECTIONS_MAX_LENGTH)
        problems.add(name, problem and f"{printable(section['title'])}: {problem}")
    return [{key: tidy(text) for key, text in section.items()} for section in value]


# What a receipt may point at, with the longest text of each; and numbers.
_REFERENCES = {"branch": WriteContext.MAX_LENGTHS["branch"], "commit": WriteContext.MAX_LENGTHS["commit"]}


def _references(name: str, value: Any, problems: Problems) -> dict[str, Any]:
    if not isinstance(value, dict):
        problems.add(name, "Must be an object of branch, commit, numbers.")
        return {}
    read: dict[str, Any] = {}
    for key, item in value.items():
        field = f"{name}.{printable(key)}"
        if key == "numbers":
            read[key] = _numbers(Receipt.MAX_NUMBERS)(field, [] if item is None else item, problems)
        elif key in _REFERENCES:
            text = "" if item is None else item
            problems.add(field, text_problem(text, most=_REFERENCES[key], one_line=True))
            read[key] = text
        else:
            problems.add(field, "Unknown. Allowed: branch, commit, numbers.")
    return {key: item for key, item in read.items() if item}


TASK_FIELDS: dict[str, Reader] = {
    "title": _text(Task.TITLE_MAX_LENGTH, one_line=True, least=1),
    "summary": _summary,
    "description": _text(Task.DESCRIPTION_MAX_LENGTH),
    "status": _choice(TaskStatus.values),
    "priority": _choice(Priority.values),
    "tags": _tags,
    "parent": _number_or_none,
    "blocked_by": _numbers(Task.MAX_BLOCKERS),
    "assignee": _text(150, one_line=True),
}
RECEIPT_FIELDS: dict[str, Reader] = {
    "title": _text(Receipt.TITLE_MAX_LENGTH, one_line=True),
    "summary": _summary,
    "tags": _tags,
    **{name: _text(Receipt.TEXT_MAX_LENGTH) for name in Receipt.TEXTS},
    "references": _references,
    "acknowledges": _numbers(Receipt.MAX_ACKNOWLEDGED),
}
CHECKPOINT_FIELDS: dict[str, Reader] = {
    **{
        name: _text(CheckpointFields.LINE_MAX_LENGTH)
        if name in CheckpointFields.LINES
        else _text(CheckpointFields.TEXT_MAX_LENGTH)
        for name in CheckpointFields.ALL
        if name != "key_decisions"
    },
    "key_decisions": _decisions,
    "sections": _sections,
}


def read_fields(
    fields: Mapping[str, Reader],
    given: Mapping[str, Any],
    context: WriteContext,
    problems: Problems,
    *,
    required: tuple[str, ...] = (),
    reason: str = "",
) -> dict[str, Any]:
    """The given fields as they are stored; text that looks like a credential is refused in any of them."""
    read: dict[str, Any] = {}
    for name, value in given.items():
        reader = fields.get(name)
        if reader is None:
            problems.add(printable(name), f"Unknown field. Fields: {', '.join(fields)}.")
        else:
            read[name] = reader(name, value, problems)
    for name in required:
        if name not in given:
            problems.add(name, _REQUIRED[name])
    problems.add("reason", text_problem(reason, most=Task.REASON_MAX_LENGTH))
    for name, value in {**read, "reason": reason, "write_context": context.as_dict()}.items():
        _scan(name, value, problems)
    return read


_REQUIRED = {
    "title": f"Required: 1 to {Task.TITLE_MAX_LENGTH} characters.",
    "summary": f"Required: 1 to {Task.SUMMARY_MAX_LENGTH} characters on what it is about and why it matters.",
}


def check_stream(stream: Any, problems: Problems) -> str:
    """The name of a stream: one line of text, a slash as in a branch's name included."""
    problem = text_problem(stream, most=Checkpoint.STREAM_MAX_LENGTH, least=1, one_line=True)
    problems.add("stream", problem)
    if problem is None:
        _scan("stream", stream, problems)
    return stream if problem is None else ""


def _scan(name: str, value: Any, problems: Problems) -> None:
    if isinstance(value, str):
        if name not in problems.fields and (found := find_secret(value)):
            problems.add_secret(name, found.line, found.kind)
    elif isinstance(value, list):
        for item in value:
            _scan(name, item, problems)
    elif isinstance(value, dict):
        for key, item in value.items():
            _scan(f"{name}.{key}", item, problems)


def digest_of(given: Mapping[str, Any], reason: str = "") -> str:
    """Of what is asked for: equal for a retry of the same call."""
    asked = json.dumps([given, reason], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(asked.encode()).hexdigest()
