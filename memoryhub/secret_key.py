"""The signing key of an embedded hub: made once, kept beside its SQLite file."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def kept_secret_key(path: Path) -> str:
    """The key in `path`, which is made first if it isn't there, readable by its owner alone.

    Two processes may start at once. The key is written to a file of its own (exclusive,
    0600) and then linked to its name, which fails if the name is taken: so nobody ever
    reads half a key, and all read the same one.
    """
    if not path.exists():
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(50))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(draft, path)
        finally:
            os.unlink(draft)
    key = path.read_text().strip()
    if not key:
        raise ImproperlyConfigured(f"{path} is empty: delete it for a new key, or restore it.")
    return key
