"""The shape of what is written: limits, kinds, text rules and secrets, before any row is touched.

`check_change` names everything that is wrong at once. What needs other rows (bags, links, versions)
is checked under the lock by the services.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from django.utils.text import slugify

from memories.models import Hardness, Kind, Memory, Status, Tag, Visibility, Weight
from memories.scopes import normalise_scopes
from memories.services.changes import Change, ChangeKind
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.secret_scan import find_secret
from memoryhub.kernel.text import printable, summary_problem, text_problem, tidy

_TAG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

# The fields of each kind with the least number of characters; 0 may be left out.
DETAILS: dict[Kind, dict[str, int]] = {
    Kind.DECISION: {"problem": 40, "why_chosen": 60, "alternatives": 0, "what_we_tried": 0, "tradeoffs": 0},
    Kind.CONSTRAINT: {"reason": 40, "triggering_incident": 0},
    Kind.PIPELINE: {"purpose": 1, "when_to_invoke": 0, "steps": 0},
}
STEP_KEYS = ("does", "depends_on")
FIELDS = (
    "kind",
    "title",
    "summary",
    "body",
    "details",
    "tags",
    "retrieval_hints",
    "scope_paths",
    "hardness",
    "weight",
    "visibility",
    "parent",
    "status",
)
LINK_FIELDS = ("supersedes", "related_to", "contradicts", "not_similar", "unlink", "resolves")
_CHOICES = {"kind": Kind, "weight": Weight, "visibility": Visibility, "hardness": Hardness}


def check_change(change: Change, context: WriteContext) -> dict[str, Any]:
    """The fields as they will be stored. Raises Invalid or SecretDetected with every bad field."""
    problems = Problems()
    fields = collect(change, context, problems)
    problems.raise_if_any()
    return fields


def collect(change: Change, context: WriteContext, problems: Problems) -> dict[str, Any]:
    """The same, with what is wrong added to the `problems` that a door has found already."""
    fields = _read_fields(_touched(change), problems, as_it_came=change.brought is not None)
    kind = _kind(change, fields)
    if change.kind is ChangeKind.CREATE:
        if change.brought is not None:
            fields.setdefault("summary", "")
        _need(fields, problems)
    if change.kind in (ChangeKind.CREATE, ChangeKind.UPDATE) and kind is not None:
        _check_kind(change, fields, kind, problems)
    _check_links(change, problems)
    _check_reason(change, problems)
    _scan(fields, change, context, problems)
    return fields


# By field, the attribute that an update compares with what it names.
_COMPARED = {
    "title": "title",
    "summary": "summary",
    "body": "body",
    "retrieval_hints": "retrieval_hints",
    "hardness": "hardness",
    "tags": "tag_names",
    "scope_paths": "scope_paths",
}


def _touched(change: Change) -> dict[str, Any]:
    """The named fields, but those that an update names with the value they have.

    What an import brought thin or too long stays as it is until somebody changes it, and a form sends
    the fields that nobody touched as well.
    """
    memory = change.memory
    given = dict(change.fields)
    if change.kind is not ChangeKind.UPDATE or memory is None:
        return given
    for name, attribute in _COMPARED.items():
        if name in given and _tidied(given[name]) == getattr(memory, attribute):
            del given[name]
    if isinstance(given.get("details"), dict):
        had = memory.details
        given["details"] = {
            key: value
            for key, value in given["details"].items()
            if key not in had or _tidied(value) != had[key]
        }
    return given


def _tidied(value: Any) -> Any:
    return tidy(value) if isinstance(value, str) else value


def _kind(change: Change, fields: Mapping[str, Any]) -> Kind | None:
    """The kind that the memory will have; None where it can't be read."""
    if "kind" in fields:
        return Kind(fields["kind"]) if fields["kind"] in Kind.values else None
    return Kind(change.memory.kind) if change.memory else None


def _read_fields(given: Mapping[str, Any], problems: Problems, *, as_it_came: bool) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, value in given.items():
        if name not in FIELDS:
            problems.add(printable(name), f"Unknown field. Fields: {', '.join(FIELDS)}.")
        elif name == "summary" and as_it_came:
            problems.add(name, brought_summary_problem(value))
            read[name] = tidy(value) if isinstance(value, str) else value
        else:
            read[name] = _read(name, value, problems)
    return read


def brought_summary_problem(value: Any) -> str | None:
    """What is wrong with a summary that an import brings: it may be missing, or one long line."""
    if value == "":
        return None
    if isinstance(value, str) and len(value) > Memory.SUMMARY_MAX_LENGTH:
        return text_problem(value, most=Memory.BODY_MAX_LENGTH, one_line=True)
    return summary_problem(value)


def _read(name: str, value: Any, problems: Problems) -> Any:
    if name == "title":
        problems.add(name, text_problem(value, most=Memory.TITLE_MAX_LENGTH, least=1, one_line=True))
    elif name == "summary":
        problems.add(name, summary_problem(value))
    elif name == "body":
        problems.add(name, text_problem(value, most=Memory.BODY_MAX_LENGTH))
    elif name in _CHOICES:
        return _read_choice(name, value, problems)
    elif name == "status":
        if value != Status.ACTIVE:
            problems.add(name, "Can only be set to active, which restores. To end a memory, archive it.")
    elif name in ("tags", "retrieval_hints", "scope_paths"):
        return _read_list(name, value, problems)
    elif name == "details":
        return _read_details(value, problems)
    elif name == "parent" and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        problems.add(name, "Must be the number of a bag, or 0 for none.")
    return tidy(value) if isinstance(value, str) else value


def _read_choice(name: str, value: Any, problems: Problems) -> Any:
    """One of the field's choices. An empty hardness is for the kinds that have none."""
    if name == "hardness" and value in ("", None):
        return ""
    options = _CHOICES[name].values
    if value not in options:
        problems.add(name, f"Must be one of: {', '.join(options)}.")
    return value


def _read_list(name: str, value: Any, problems: Problems) -> Any:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        problems.add(name, "Must be a list of texts.")
        return []
    if name == "tags":
        return read_tags(value, problems)
    if name == "retrieval_hints":
        return _read_hints(value, problems)
    try:
        scopes = normalise_scopes(value)
    except ValueError as wrong:
        problems.add(name, str(wrong))
        return []
    if len(scopes) > Memory.MAX_SCOPES:
        problems.add(name, f"Has {len(scopes)} paths; at most {Memory.MAX_SCOPES} are allowed.")
    return scopes


def read_tags(value: list[str], problems: Problems) -> list[str]:
    """Tags as they are stored; what is wrong goes into `problems`."""
    tags = list(dict.fromkeys(tag.strip(" ").lower() for tag in value))
    wrong = [tag for tag in tags if len(tag) > Tag.NAME_MAX_LENGTH or not _TAG.fullmatch(tag)]
    if wrong:
        shown = ", ".join(ascii(tag[:40]) for tag in wrong[:5])
        rule = f"1 to {Tag.NAME_MAX_LENGTH} characters of a-z, 0-9 and single hyphens"
        meant = slugify(wrong[0][:200]).replace("_", "-")[: Tag.NAME_MAX_LENGTH].strip("-")
        such = f", such as {meant}" if _TAG.fullmatch(meant) else ""
        problems.add("tags", f"Not a tag: {shown}. Use {rule}{such}.")
    elif len(tags) > Memory.MAX_TAGS:
        problems.add("tags", f"Has {len(tags)} tags; at most {Memory.MAX_TAGS} are allowed.")
    return tags


def _read_hints(value: list[str], problems: Problems) -> list[str]:
    hints = list(dict.fromkeys(value))
    if len(hints) > Memory.MAX_HINTS:
        problems.add("retrieval_hints", f"Has {len(hints)} hints; at most {Memory.MAX_HINTS} are allowed.")
    for hint in hints:
        problem = text_problem(hint, most=Memory.HINT_MAX_LENGTH, least=1, one_line=True)
        problems.add("retrieval_hints", problem and f"One of them: {problem}")
    return hints


def _read_details(value: Any, problems: Problems) -> Any:
    """Null and empty texts clear a key; texts keep their white space."""
    if not isinstance(value, dict):
        problems.add("details", "Must be an object.")
        return {}
    read: dict[str, Any] = {}
    for key, item in value.items():
        if key == "steps":
            read[key] = _read_steps(item, problems)
            continue
        item = "" if item is None else item
        problems.add(f"details.{printable(key)}", text_problem(item, most=Memory.DETAIL_MAX_LENGTH))
        read[key] = tidy(item) if isinstance(item, str) else ""
    return read


def _read_steps(value: Any, problems: Problems) -> list[dict[str, str]]:
    """Steps in order: texts, or objects of what a step does and what it depends on."""
    field = "details.steps"
    if value in (None, ""):
        return []
    if not isinstance(value, list):
        problems.add(field, "Must be a list of steps, each a text or {does, depends_on}.")
        return []
    if len(value) > Memory.MAX_STEPS:
        problems.add(field, f"Has {len(value)} steps; at most {Memory.MAX_STEPS} are allowed.")
        return []
    steps = []
    for item in value:
        step = {"does": item} if isinstance(item, str) else item
        if not isinstance(step, dict) or not step.get("does") or any(key not in STEP_KEYS for key in step):
            problems.add(field, "Each step must be a text, or an object of does and depends_on.")
            continue
        step = {key: text for key, text in step.items() if text not in (None, "")}
        for key, text in step.items():
            least = 1 if key == "does" else 0
            problems.add(field, text_problem(text, most=Memory.DETAIL_MAX_LENGTH, least=least))
        steps.append({key: tidy(text) if isinstance(text, str) else "" for key, text in step.items()})
    if len(json.dumps(steps, ensure_ascii=False)) > Memory.DETAIL_MAX_LENGTH:
        problems.add(field, f"Is longer than {Memory.DETAIL_MAX_LENGTH} characters in all.")
    return steps


def _need(fields: Mapping[str, Any], problems: Problems) -> None:
    """What every new memory must have."""
    if "kind" not in fields:
        problems.add("kind", f"Required. One of: {', '.join(Kind.values)}.")
    if "title" not in fields:
        problems.add("title", f"Required: 1 to {Memory.TITLE_MAX_LENGTH} characters.")
    if "summary" not in fields:
        limit = Memory.SUMMARY_MAX_LENGTH
        problems.add("summary", f"Required: 1 to {limit} characters on what happened and why it matters.")
    if "status" in fields:
        problems.add("status", "A new memory is active. Leave it out.")


def _check_kind(change: Change, fields: dict[str, Any], kind: Kind, problems: Problems) -> None:
    """The fields of a kind: required ones on create, on a change of kind, and whenever they are touched."""
    memory = change.memory
    had = memory.details if memory else {}
    all_of_them = memory is None or memory.kind != kind
    touched = fields.get("details", {})
    allowed = DETAILS.get(kind, {})
    merged = {key: text for key, text in {**had, **touched}.items() if text}
    for key in {**touched, **(merged if all_of_them else {})}:
        # Clearing what an earlier kind had is how a kind is changed.
        if key not in allowed and (key in merged or key not in had):
            names = ", ".join(allowed) or "none"
            clear = " Move its text to the body and clear it, by an empty text." if key in had else ""
            sentence = f"A {kind.label} has no such field. Its fields: {names}.{clear}"
            problems.add(f"details.{printable(key)}", sentence)
    for key, least in allowed.items():
        if least and (all_of_them or key in touched) and change.brought is None:
            problems.add(f"details.{key}", _too_thin(merged.get(key, ""), least))
    if "details" in fields or (all_of_them and memory is not None):
        # What an import brought beyond the fields of the kind stays, too.
        fields["details"] = {key: merged[key] for key in {**allowed, **merged} if key in merged}
    _check_constraint(change, fields, kind, all_of_them, problems)


def _too_thin(text: str, least: int) -> str | None:
    length = len(text.strip())
    if length >= least:
        return None
    needed = f"at least {least} characters" if least > 1 else "a text"
    return f"Required: {needed}, it has {length}." if length else f"Required: {needed}."


def _check_constraint(
    change: Change, fields: dict[str, Any], kind: Kind, all_of_them: bool, problems: Problems
) -> None:
    """Hardness is required of constraints; neither it nor scope paths exist on other kinds."""
    memory = change.memory
    hardness = fields.get("hardness", memory.hardness if memory else "")
    scopes = fields.get("scope_paths", memory.scope_paths if memory and all_of_them else [])
    if kind is Kind.CONSTRAINT:
        if not hardness and (all_of_them or "hardness" in fields) and change.brought is None:
            problems.add("hardness", f"Required for a constraint: {' or '.join(Hardness.values)}.")
        return
    if hardness:
        problems.add("hardness", f"Only a constraint has one. Leave it out, or clear it, for a {kind.label}.")
    if scopes:
        problems.add(
            "scope_paths", f"Only a constraint has them. Leave them out, or clear them, for a {kind.label}."
        )


def _check_links(change: Change, problems: Problems) -> None:
    """Lists of numbers; whether there are such memories is looked up under the lock."""
    for name, numbers in change.links.items():
        if not isinstance(numbers, list) or not all(_is_number(number) for number in numbers):
            problems.add(name, "Must be a list of numbers such as [48, 52].")
        elif len(numbers) > Memory.MAX_LINKS:
            problems.add(name, f"Has {len(numbers)} numbers; at most {Memory.MAX_LINKS} are allowed at once.")
    for name in ("unlink", "resolves"):
        if change.kind is ChangeKind.CREATE and change.links.get(name):
            problems.add(name, "A new memory has no links yet. Leave it out.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _check_reason(change: Change, problems: Problems) -> None:
    problems.add("reason", text_problem(change.reason, most=Memory.REASON_MAX_LENGTH))
    ends_links = change.kind is ChangeKind.UPDATE and (
        change.links.get("unlink") or change.links.get("resolves")
    )
    if ends_links and not str(change.reason).strip():
        problems.add("reason", "Say why the link no longer holds: it is kept with the history.")


def _scan(fields: Mapping[str, Any], change: Change, context: WriteContext, problems: Problems) -> None:
    """Refuse text that looks like a credential, in whichever field it stands."""
    for name, value in {**fields, "reason": change.reason}.items():
        for label, text in _texts(name, value):
            _scan_text(label, text, problems)
    for name, text in context.as_dict().items():
        _scan_text(f"write_context.{name}", text, problems)


def _scan_text(field: str, text: str, problems: Problems) -> None:
    if field not in problems.fields and (found := find_secret(text)):
        problems.add_secret(field, found.line, found.kind)


def _texts(name: str, value: Any) -> list[tuple[str, str]]:
    """The texts in a field's value, each with the name that a refusal gives it."""
    if isinstance(value, str):
        return [(name, value)]
    if isinstance(value, list):
        return [found for item in value for found in _texts(name, item)]
    if isinstance(value, dict):
        deeper = "details" if name == "details" else None
        return [
            found
            for key, item in value.items()
            for found in _texts(f"{deeper}.{key}" if deeper else name, item)
        ]
    return []
