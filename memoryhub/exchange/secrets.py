"""No door stores what looks like a credential, and a file is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memoryhub.exchange.files import SnapshotFile
from memoryhub.kernel.errors import SecretDetected
from memoryhub.kernel.secret_scan import find_secret

# Made by a hub, of nothing that a person writes.
_OUR_OWN = ("request_digest",)


def check_secrets(file: SnapshotFile, kind: str, values: dict[str, Any]) -> None:
    """Raises SecretDetected naming the line of the file and the field, never the text."""
    for name, value in values.items():
        for text in _texts(value):
            if name not in _OUR_OWN and find_secret(text):
                where = file.refusal(kind, ValueError(f"{name}: looks like a secret")).message
                raise SecretDetected(f"{where} Take it out where it is kept, and export anew.", field=name)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= 8:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
