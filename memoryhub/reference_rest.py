"""The reference page of the REST door, from its document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memoryhub.kernel.rest.documenting import document

_METHODS = ("get", "post", "put", "patch")


def rest_page() -> str:
    """Every address with what it takes and answers."""
    made = document()
    parts = [
        "# The REST API\n",
        "Served under `/api/v1/`; `GET /api/v1/schema` is the OpenAPI document that this page is written from, for "
        "anybody. Bodies are one JSON object; an argument has the name and the rules that it has over MCP "
        "([tools](tools.md)), and so has a row. `text` answers are plain text, the others JSON.\n",
        "Sign in with `Authorization: Bearer mh_…`, or call from a page of the hub with its session; a write then "
        "sends the CSRF token in `X-CSRFToken`. A refusal is `code`, `message` and `details` ([errors](errors.md)), "
        "also for what HTTP refuses by itself: 400 (no JSON object), 405, 406, 415 are `invalid`.\n",
        "What is marked `If-Match` needs the ETag of what was read: without it 428 `invalid`, with an older one 412 "
        "`conflict`, and nothing is changed. A create answers 201 with `Location`, a retry of it 200, a change that "
        "waits for a reviewer 202 with `pending_review`. A list goes on with `cursor`, which is bound to reader, "
        "project and filters. A list of words is repeated (`tags=a&tags=b`) or stands between commas.\n",
        *(
            _operation(path, method, there[method])
            for path, there in made["paths"].items()
            for method in _METHODS
            if method in there
        ),
    ]
    return "\n".join(parts)


def _operation(path: str, method: str, said: dict[str, Any]) -> str:
    rows = list(_rows(said))
    table = ["| takes | type | |", "|---|---|---|", *rows, ""] if rows else []
    statuses = ", ".join(f"{status} {_answer(answer)}" for status, answer in _good(said))
    return "\n".join(
        [
            f"## {method.upper()} {path}\n",
            f"`{said['operationId']}`: {said['description']} Answers {statuses}.\n",
            *table,
        ]
    )


def _good(said: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((status, answer) for status, answer in said["responses"].items() if status < "400")


def _answer(answer: dict[str, Any]) -> str:
    if "content" not in answer:
        return "nothing"
    kind, content = next(iter(answer["content"].items()))
    if kind == "application/gzip":
        return "a gzip file"
    return "text" if kind == "text/plain" else f"`{_shape(content['schema'])}`"


def _rows(said: dict[str, Any]) -> Iterator[str]:
    for one in said["parameters"]:
        if one["in"] != "path":
            more = (one["required"] and "required", one.get("description"))
            yield _row(one["name"], one["schema"], one["in"], more)
    content = said.get("requestBody", {}).get("content", {})
    # A form takes what JSON takes, and a file.
    taken = content.get("multipart/form-data") or content.get("application/json", {})
    body = taken.get("schema", {})
    for name, schema in body.get("properties", {}).items():
        required = name in body.get("required", ())
        yield _row(name, schema, "body", (required and "required", schema.get("description")))


def _row(name: str, schema: dict[str, Any], where: str, said: tuple[Any, ...]) -> str:
    return f"| `{name}` ({where}) | {_shape(schema)} | {'. '.join(part for part in said if part)} |"


def _shape(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if schema.get("type") == "array":
        return f"list: {_shape(schema['items'])}"
    return str(schema.get("type", "any"))
