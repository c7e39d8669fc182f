"""What a request says: its JSON body, its query string, and the version that it was made for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, QueryDict
from rest_framework.parsers import BaseParser

from memoryhub.kernel.arguments import Argument, Numbers, Words
from memoryhub.kernel.errors import Invalid, Problems
from memoryhub.kernel.json_text import has_halves, without_halves
from memoryhub.kernel.middleware import too_large
from memoryhub.kernel.text import printable

# As we send it, without its quotes, and marked as weak by a proxy that packs answers.
_ETAG = re.compile(r'(?:W/)?"(\d{1,10})"|(\d{1,10})')


class BadRequest(Invalid):
    """The body can't be read at all."""

    status = 400


class PreconditionRequired(Invalid):
    """A change without the version that it was made for."""

    status = 428


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON.")


class JsonParser(BaseParser):
    """One JSON object in UTF-8. Anything else is refused in our own words."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Raises BadRequest, TooLarge."""
        try:
            body = stream.read()
            read = json.loads(body.decode("utf-8"), parse_constant=_no_constant) if body else {}
            if not isinstance(read, dict):
                raise BadRequest("The body must be one JSON object.")
            return without_halves(read) if has_halves(body) else read
        except RequestDataTooBig:
            raise too_large() from None
        except (ValueError, RecursionError):
            raise BadRequest("The body can't be read. Send one JSON object in UTF-8.") from None


def from_query(query: QueryDict, arguments: Mapping[str, Argument], problems: Problems) -> dict[str, Any]:
    """The arguments in a query string. A list is repeated (`tags=a&tags=b`) or stands between commas."""
    given: dict[str, Any] = {}
    for name, values in query.lists():
        if len(values) == 1:
            given[name] = values[0]
        elif isinstance(arguments.get(name), Words | Numbers):
            given[name] = values
        else:
            problems.add(printable(name), "Given more than once. Send it once.")
    return given


def check_names(
    given: Mapping[str, Any], allowed: Mapping[str, Argument], problems: Problems
) -> dict[str, Any]:
    """What may be given here; every other name goes into `problems`."""
    for name in given:
        if name not in allowed:
            names = ", ".join(allowed) or "none"
            problems.add(printable(name), f"Unknown argument. Allowed: {names}.")
    return {name: value for name, value in given.items() if name in allowed}


def expected_version(request: HttpRequest) -> int:
    """The version in `If-Match`. Raises PreconditionRequired without one, Invalid for what can't be one."""
    header = request.headers.get("If-Match", "").strip()
    if not header:
        sentence = (
            'Required: the ETag of what you read, such as "3". Read it again, and send the change with it.'
        )
        raise PreconditionRequired(fields={"If-Match": sentence})
    found = _ETAG.fullmatch(header)
    version = int(found[1] or found[2]) if found else 0
    if not version:
        raise Invalid(fields={"If-Match": 'Must be the one ETag of what you read, such as "3".'})
    return version


def etag(version: int) -> str:
    """The version of a memory as an ETag."""
    return f'"{version}"'
