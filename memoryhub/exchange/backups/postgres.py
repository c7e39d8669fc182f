"""PostgreSQL: by its own pg_dump, pg_restore and psql, which see one moment and load in one transaction."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from memoryhub.kernel.errors import Invalid

# Of this schema what no extension brought.
_TABLES = """
SELECT format('DROP TABLE IF EXISTS %I.%I CASCADE', schemaname, tablename)
FROM pg_tables WHERE schemaname = current_schema() AND NOT EXISTS (
    SELECT 1 FROM pg_depend
    WHERE deptype = 'e' AND objid = format('%I.%I', schemaname, tablename)::regclass)
UNION ALL
SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', proc.oid::regprocedure)
FROM pg_proc AS proc WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS (
    SELECT 1 FROM pg_depend WHERE deptype = 'e' AND objid = proc.oid)
"""


def dump(path: Path) -> None:
    """Dump the store as it is at this moment, in pg_dump's custom format."""
    # The container compresses.
    _run("pg_dump", ["-Fc", "-Z0", "--no-owner", "--no-privileges", "-f", str(path)])


def load(path: Path) -> None:
    """Make the store what the dump is: in one transaction, all or nothing."""
    script = path.with_suffix(".sql")
    try:
        _run(
            "pg_restore",
            ["--no-owner", "--no-privileges", "-f", str(script), str(path)],
            with_database=False,
        )
        with connection.cursor() as cursor:
            cursor.execute(_TABLES)
            drops = "".join(f"{row[0]};\n" for row in cursor.fetchall())
        first = path.with_suffix(".drops.sql")
        first.write_text(drops, encoding="utf-8")
        # Whatever holds the tables would be waited for.
        connection.close()
        flags = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-1", "-f", str(first), "-f", str(script)]
        _run("psql", flags)
    finally:
        script.unlink(missing_ok=True)
        path.with_suffix(".drops.sql").unlink(missing_ok=True)


def _run(program: str, flags: Sequence[str], *, with_database: bool = True) -> None:
    """Run one of the server's own programs against this store. The password is in no command line."""
    found = shutil.which(program, path=settings.PG_BIN or None)
    if found is None:
        raise Invalid(
            f"{program} isn't there. Install PostgreSQL's client programs (Debian and Ubuntu: "
            "postgresql-client, Alpine: postgresql18-client, macOS: libpq), of the server's version or "
            "newer, or name their folder in MEMORYHUB_PG_BIN."
        )
    args, env = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, list(flags))
    args = args[1:] if with_database else list(flags)
    environment = {**os.environ, **(env or {}), "PGCONNECT_TIMEOUT": "10"}
    done = subprocess.run([found, *args], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line.lower()), done.stderr)
        raise Invalid(f"{program} failed: {said.strip()[:500]}")
