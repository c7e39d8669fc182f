"""Calling the REST door as a script does, through Django's test client."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from tests.mcp_client import CONTEXT


@dataclass
class Script:
    """A script with a token, in a project."""

    token: str
    slug: str = "harbor"
    client: Client = field(default_factory=Client)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The HTTP response of an address under the project."""
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        at = f"/api/v1/projects/{self.slug}{path}"
        data = json.dumps(body) if not isinstance(body, bytes) else body
        more = {} if body is None else {"data": data, "content_type": "application/json"}
        return self.client.generic(method, at, headers={**sent, **named}, **more)

    def get(self, path: str = "", **headers: str) -> Any:
        return self.ask("GET", path, **headers)

    def write(self, method: str, path: str, version: int | None = None, **body: Any) -> Any:
        """A write with its context, for the version that was read."""
        match = {} if version is None else {"If_Match": f'"{version}"'}
        return self.ask(method, path, {"write_context": CONTEXT, **body}, **match)

    def post(self, path: str, version: int | None = None, **body: Any) -> Any:
        return self.write("POST", path, version, **body)

    def patch(self, path: str, version: int | None = None, **body: Any) -> Any:
        return self.write("PATCH", path, version, **body)
