"""One address and method: the tool that answers there, and how the request becomes its arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http.response import HttpResponseBase
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from memoryhub.kernel.arguments import Argument
from memoryhub.kernel.errors import NotFound, Problems
from memoryhub.kernel.json_text import as_json
from memoryhub.kernel.refs import MAX_NUMBER
from memoryhub.kernel.rest.reading import check_names, etag, expected_version, from_query
from memoryhub.kernel.rest.shapes import Schema
from memoryhub.kernel.tools import Answer, Tool, VersionedText, find_tool

VERSION = "expected_version"


@dataclass(frozen=True)
class Endpoint:
    """What is asked of a tool at one address, by one method.

    `path` says which argument a part of the address is; `fixed` are arguments that the address stands for;
    `takes` narrows those that the body or the query string may name. `versioned`: `If-Match` is the tool's
    `expected_version`; `unversioned_too`: it may be missing. `of_version`: the answer's version is its ETag.
    `of_content`: its ETag is a digest of what it says, and whoever sends that gets 304 while nothing changed.
    `file`: a read answers a gzip file, a write takes one as its body, and its arguments stand in the address.
    `creates`: 201 with a Location. `waits`: it may become a review. `name` is what the document calls it;
    the tool's name unless given.
    """

    tool: Tool
    answers: Schema | None
    says: str
    path: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    takes: tuple[str, ...] = ()
    versioned: bool = False
    unversioned_too: bool = False
    of_version: bool = False
    of_content: bool = False
    file: bool = False
    creates: bool = False
    waits: bool = False
    name: str = ""

    @property
    def is_text(self) -> bool:
        """Plain text, not JSON."""
        return self.answers is None

    @property
    def arguments(self) -> dict[str, Argument]:
        """What the body or the query string may name."""
        elsewhere = {*self.path.values(), *self.fixed, *((VERSION,) if self.versioned else ())}
        return {
            name: argument
            for name, argument in self.tool.arguments.by_name.items()
            if name not in elsewhere and (not self.takes or name in self.takes)
        }

    def given(self, request: Request, path: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
        """The tool's arguments as this request gives them. Raises NotFound, PreconditionRequired, Invalid."""
        for value in path.values():
            if isinstance(value, int) and not 0 < value <= MAX_NUMBER:
                raise NotFound("There is nothing with such a number.")
        named = {argument: path[part] for part, argument in self.path.items()}
        needed = self.versioned and not (self.unversioned_too and "If-Match" not in request.headers)
        version = {VERSION: expected_version(request)} if needed else {}
        said = from_query(request.query_params, self.arguments, problems)
        if request.method not in ("GET", "HEAD") and not self.file:
            # Nothing of a write stands in an address: those are kept in logs.
            check_names(said, {}, problems)
            said = request.data
        return {**check_names(said, self.arguments, problems), **self.fixed, **named, **version}

    def response(self, request: Request, answer: Any) -> Response:
        """The tool's answer with the status and headers that HTTP has for it."""
        if isinstance(answer, HttpResponseBase):
            return answer
        if self.of_content:
            return _unless_known(request, answer)
        if isinstance(answer, str):
            versioned = {"ETag": etag(answer.version)} if isinstance(answer, VersionedText) else {}
            return Response(answer, headers=versioned)
        response = Response(answer)
        if answer.get("result") == "pending_review":
            response.status_code = 202
        elif self.creates and "duplicate" not in answer:
            response.status_code = 201
        if self.creates and "number" in answer:
            response["Location"] = f"{request.path}/{answer['number']}"
        if self.of_version and "version" in answer:
            response["ETag"] = etag(answer["version"])
        return response


def _unless_known(request: Request, answer: Answer) -> Response:
    """The answer with a digest as its ETag; 304 without it for whoever has it already."""
    text = answer if isinstance(answer, str) else as_json(answer)
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()}"'
    known = parse_etags(request.headers.get("If-None-Match", ""))
    # A proxy that packs answers marks what it passes on as weak.
    if known and (known[0] == "*" or tag in {one.removeprefix("W/") for one in known}):
        return Response("" if isinstance(answer, str) else None, status=304, headers={"ETag": tag})
    return Response(answer, headers={"ETag": tag})


Handler = Callable[..., Response]


def endpoint(tool: str | Tool, answers: Schema | None, says: str = "", **more: Any) -> Handler:
    """The method of a view that answers by a tool: `get = endpoint("memory_list", PAGE)`.

    `answers` is the shape of the answer, None for plain text; `says` the tool's description unless given.
    """
    found = find_tool(tool) if isinstance(tool, str) else tool
    if found is None:
        raise LookupError(f"There is no tool {tool}.")
    described = Endpoint(found, answers, says or found.description, **more)

    def handler(view: Any, request: Request, **path: Any) -> Response:
        answer: Response = view.use(described, request, path)
        return answer

    handler.endpoint = described  # type: ignore[attr-defined]
    return handler
