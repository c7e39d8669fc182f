"""The OpenAPI document: the addresses by drf-spectacular, each operation by its endpoint.

What is taken is written from the very arguments that read it, so the document can't promise what a tool
refuses or keep back what it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema

from memoryhub.kernel.arguments import Argument, Choice, Count, Moment, Number, Version
from memoryhub.kernel.refs import MAX_NUMBER
from memoryhub.kernel.rest.endpoints import Endpoint
from memoryhub.kernel.rest.shapes import NUMBER, REFUSAL, TEXT, Schema, all_shapes

_PART = re.compile(r"\{(\w+)\}")
_JSON = "application/json"
_FORM = "multipart/form-data"
_GZIP = "application/gzip"
_BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
_PARTS: dict[str, Schema] = {
    "slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$", "description": "The project."},
    "number": {**NUMBER, "maximum": MAX_NUMBER},
}
_ETAG = {"ETag": {"description": "The version, for If-Match.", "schema": TEXT}}
_DIGEST = {"ETag": {"description": "Of what it says, for If-None-Match.", "schema": TEXT}}
_LOCATION = {"Location": {"description": "Where it is.", "schema": TEXT}}
_SECURITY_SCHEMES: Schema = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "An access token (mh_…) of the Connect page: acts for its user, in its projects.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "Of a page of the hub. A write sends the page's CSRF token in X-CSRFToken.",
    },
}

# By status, when it is refused; each a `Refusal`. What a read and a write share first.
_READ = {
    "401": "No token or session that is good.",
    "403": "The token's rights or the role in the project don't reach.",
    "406": "Only other formats are accepted.",
    "429": "Too many calls in this minute; Retry-After says how many seconds to wait.",
}
_IN_PROJECT = {"404": "Not there, or not for this reader."}
_INPUT = {"422": "Something given is wrong: `details.fields` names all of it."}
_WRITE = {
    "400": "The body is no JSON object.",
    "409": "A conflict with what is stored, a duplicate, or decided already.",
    "413": "The body is larger than 2 MiB.",
    "415": "The body isn't sent as JSON.",
    **_INPUT,
}
_VERSIONED = {
    "412": "Changed since the version in If-Match: read again and repeat the change.",
    "428": "If-Match is missing.",
}


class EndpointSchema(AutoSchema):
    """Describes a method of a view by its endpoint."""

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any
    ) -> Schema | None:
        """The operation; None for what is no endpoint and stays out of the document."""
        handler = getattr(self.view, method.lower(), None)
        endpoint: Endpoint | None = getattr(handler, "endpoint", None)
        if endpoint is None:
            return None
        reads = method.upper() == "GET"
        body = {} if reads else {"requestBody": _body(endpoint)}
        return {
            "operationId": endpoint.name or endpoint.tool.name,
            "description": f"{endpoint.says} Needs the right {endpoint.tool.needs()}.",
            "parameters": list(_parameters(path, endpoint, reads)),
            **body,
            "security": [{"token": []}, {"session": []}],
            "responses": _responses(path, endpoint, reads),
        }


def _parameters(path: str, endpoint: Endpoint, reads: bool) -> Iterator[Schema]:
    for part in _PART.findall(path):
        yield {"name": part, "in": "path", "required": True, "schema": _PARTS[part]}
    if endpoint.versioned:
        said = "The ETag of what was read: the change is refused when something else changed it since."
        needed = not endpoint.unversioned_too
        if not needed:
            said += " May be left out where there is nothing yet, and by the session that saved last."
        schema = {"type": "string", "pattern": '^"[1-9][0-9]{0,8}"$'}
        yield {"name": "If-Match", "in": "header", "required": needed, "description": said, "schema": schema}
    if endpoint.of_content:
        said = "The ETag of what one has: while that is what there is, 304 answers without it."
        yield {
            "name": "If-None-Match",
            "in": "header",
            "required": False,
            "description": said,
            "schema": TEXT,
        }
    for name, argument in endpoint.arguments.items() if reads or endpoint.file else ():
        schema = schema_of(argument)
        said = schema.pop("description", "")
        yield {
            "name": name,
            "in": "query",
            "required": argument.required,
            **({"description": said} if said else {}),
            "schema": schema,
        }


def schema_of(argument: Argument) -> Schema:
    """What an argument takes, with what a tool's schema leaves out to be short."""
    schema = argument.schema()
    if isinstance(argument, Choice):
        schema["enum"] = list(argument.options)
    elif isinstance(argument, Number):
        schema |= {"minimum": 0 if argument.or_zero else 1, "maximum": MAX_NUMBER}
    elif isinstance(argument, Version):
        schema |= {"minimum": argument.least, "maximum": argument.most}
    elif isinstance(argument, Count):
        lowered = f"At most {argument.most}; more is lowered to it."
        schema |= {"minimum": argument.least}
        schema["description"] = ". ".join(part for part in (argument.description, lowered) if part)
    elif isinstance(argument, Moment) and not argument.description:
        schema["description"] = "Date, or date-time with zone"
    return schema


def _body(endpoint: Endpoint) -> Schema:
    if endpoint.file:
        return {"required": True, "content": {_GZIP: {"schema": _BYTES}}}
    arguments = endpoint.arguments
    required = [name for name, argument in arguments.items() if argument.required]
    properties = {name: schema_of(argument) for name, argument in arguments.items()}
    plain = {name: said for name, said in properties.items() if said.get("format") != "binary"}
    # A file is sent in a form; JSON has everything else.
    sent = {_JSON: plain} | ({_FORM: properties} if plain != properties else {})
    content = {
        media_type: {
            "schema": {
                "type": "object",
                "properties": named,
                **({"required": required} if required else {}),
                "additionalProperties": False,
            }
        }
        for media_type, named in sent.items()
    }
    return {"required": bool(required), "content": content}


def _responses(path: str, endpoint: Endpoint, reads: bool) -> Schema:
    refusals = dict(_READ)
    if "{slug}" in path:
        refusals |= _IN_PROJECT
    # An unknown argument is refused wherever one could be.
    refusals |= _INPUT if reads else _WRITE
    if endpoint.versioned:
        refusals |= _VERSIONED
    if endpoint.unversioned_too:
        del refusals["428"]
    good = {"200": _answer(endpoint, "Done." if not reads else "What was asked for.", _ETAG)}
    if endpoint.of_content:
        good["200"]["headers"] = _DIGEST
        good["304"] = {"description": "What If-None-Match names is what there is.", "headers": _DIGEST}
    if endpoint.creates:
        good["200"] = _answer(endpoint, "A retry: it was stored before.", _ETAG | _LOCATION)
        good["201"] = _answer(endpoint, "Stored.", _ETAG | _LOCATION)
    if endpoint.waits:
        good["202"] = _answer(endpoint, "Waits for a reviewer: nothing has changed yet.", {})
    refused = {
        status: {"description": said, "content": {_JSON: {"schema": REFUSAL}}}
        for status, said in refusals.items()
    }
    return dict(sorted((good | refused).items()))


def _answer(endpoint: Endpoint, said: str, headers: Schema) -> Schema:
    if endpoint.is_text and endpoint.file:
        return {"description": said, "content": {_GZIP: {"schema": _BYTES}}}
    content = {"text/plain": {"schema": TEXT}} if endpoint.is_text else {_JSON: {"schema": endpoint.answers}}
    shown = {"headers": headers} if headers and endpoint.of_version else {}
    return {"description": said, **shown, "content": content}


@cache
def document() -> Schema:
    """The whole document. The same for everybody, as long as the server runs."""
    made: Schema = SchemaGenerator().get_schema(request=None, public=True)
    made["components"] = {"schemas": dict(sorted(all_shapes().items())), "securitySchemes": _SECURITY_SCHEMES}
    return made
