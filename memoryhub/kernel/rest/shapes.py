"""The shapes of answers, by name, as the document says them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memoryhub.kernel.errors import ALL_ERRORS

Schema = dict[str, Any]
_shapes: dict[str, Schema] = {}


def shape(
    name: str,
    properties: Mapping[str, Schema],
    *,
    required: Iterable[str] = (),
    more: str = "",
    closed: bool = True,
) -> Schema:
    """Name the shape of an object and give the reference to it. Only what is named may be in it, unless it is
    one of several things of which this door knows what they have in common.
    """
    if name in _shapes:
        raise ValueError(f"There is a shape {name} already.")
    said = {"description": more} if more else {}
    _shapes[name] = {
        "type": "object",
        **said,
        "properties": dict(properties),
        **({"required": list(required)} if required else {}),
        "additionalProperties": not closed,
    }
    return ref(name)


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def all_shapes() -> Mapping[str, Schema]:
    """By name, in the order of declaring."""
    return _shapes


TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "integer", "minimum": 1}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}
OBJECT: Schema = {"type": "object"}
ANYTHING: Schema = {}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def one_of(options: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(options)}


def page(items: Schema) -> dict[str, Schema]:
    """What every list says, with its rows."""
    return {
        "items": array(items),
        "total": COUNT,
        "has_more": FLAG,
        "next_cursor": {**TEXT, "description": "Send it as `cursor`, with the same filters."},
    }


PAGE_REQUIRED = ("items", "has_more")

REFUSAL = shape(
    "Refusal",
    {
        "code": one_of(sorted({error.code for error in ALL_ERRORS})),
        "message": {**TEXT, "description": "What is wrong, and what to do."},
        "details": {
            **OBJECT,
            "description": "By code: `fields` names every bad field, `rule` a broken rule, and so on.",
        },
    },
    required=("code", "message", "details"),
)
