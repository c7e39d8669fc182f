"""The file of a backup: gzip over a line that says what it is, the engine's own copy, and a digest.

Read to its end before anything of it is used: what is cut or damaged is refused whole.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from django.utils import timezone

import memoryhub
from memoryhub.kernel.errors import Invalid

FORMAT = 1
_CHUNK = 1024 * 1024
_DIGEST_BYTES = len("sha256:") + 64
_HEAD_MAX = 1024 * 1024


def parts(payload: IO[bytes], head: dict[str, Any]) -> Iterator[bytes]:
    """What goes into the file, before compression."""
    digest = hashlib.sha256()
    said = {
        "memoryhub_backup": FORMAT,
        "hub": memoryhub.__version__,
        "made_at": timezone.now().isoformat(),
        **head,
    }
    first = json.dumps(said, sort_keys=True).encode() + b"\n"
    digest.update(first)
    yield first
    while chunk := payload.read(_CHUNK):
        digest.update(chunk)
        yield chunk
    yield f"sha256:{digest.hexdigest()}".encode()


def unpack(path: Path, payload: IO[bytes]) -> dict[str, Any]:
    """Write the engine's copy into `payload`; what the file says of itself. Raises Invalid."""
    try:
        with gzip.open(path, "rb") as file:
            return _unpack(file, payload)
    except EOFError:
        raise Invalid("The backup is cut: its end is missing. Take another copy.") from None
    except gzip.BadGzipFile:
        raise Invalid("The file is no backup of MemoryHub, or a damaged one.") from None
    except zlib.error:
        raise Invalid("The backup is damaged. Take another copy.") from None
    except OSError as wrong:
        raise Invalid(f"{path} can't be read: {wrong.strerror or wrong}.") from wrong


def _unpack(file: gzip.GzipFile, payload: IO[bytes]) -> dict[str, Any]:
    first = file.readline(_HEAD_MAX)
    digest, held = hashlib.sha256(first), b""
    head = _read_head(first)
    while chunk := file.read(_CHUNK):
        held += chunk
        # The last bytes are the digest, and one never knows which are the last.
        ready, held = held[:-_DIGEST_BYTES], held[-_DIGEST_BYTES:]
        digest.update(ready)
        payload.write(ready)
    if held != f"sha256:{digest.hexdigest()}".encode():
        raise Invalid("The backup is damaged: its content isn't what its digest says. Take another copy.")
    payload.flush()
    return head


def _read_head(line: bytes) -> dict[str, Any]:
    try:
        head = json.loads(line)
    except (ValueError, RecursionError):
        _refuse()
    if not isinstance(head, dict) or not isinstance(head.get("memoryhub_backup"), int):
        _refuse()
    if head["memoryhub_backup"] > FORMAT:
        raise Invalid("The backup was made by a newer MemoryHub. Update MemoryHub first.")
    if not isinstance(head.get("migrations"), list) or head.get("engine") not in ("sqlite", "postgresql"):
        _refuse()
    return head


def _refuse() -> NoReturn:
    raise Invalid("The file is no backup of MemoryHub.")
