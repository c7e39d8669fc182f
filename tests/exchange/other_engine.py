"""A hub on the other engine, for one exchange: python -m tests.exchange.other_engine FILE OUT."""

from __future__ import annotations

import os
import sys

OTHER = {"sqlite": "postgres", "postgres": "sqlite"}


def main(file: str, out: str) -> None:
    """Import a file into an empty store of this process's engine, and export it again."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    # A store of its own, whoever else tests on the server.
    connection.settings_dict["TEST"]["NAME"] = (
        f"test_exchange_{os.getpid()}" if connection.vendor == "postgresql" else f"{out}.sqlite3"
    )
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0)
    try:
        call_command("import", "harbor", file, "--apply")
        call_command("import", "harbor", file, "--apply")
        call_command("export", "harbor", out)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
