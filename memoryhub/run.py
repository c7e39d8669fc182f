"""`make run`: bring the store up to date, load the demo into an empty one, and serve."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import django
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command, get_commands
from django.core.management.base import CommandError
from django.db import DatabaseError, connections

from memoryhub.env import env_bool

GUNICORN_CONF = Path(__file__).resolve().parent / "gunicorn.conf.py"


def main() -> None:
    """Prepare, tell where to go, and become gunicorn. Background work is started by its configuration."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    try:
        django.setup()
        prepare()
        say_where()
    except (ImproperlyConfigured, CommandError, DatabaseError) as problem:
        # The operator's to put right: one sentence says more than a traceback.
        sys.exit(f"memoryhub: {problem}")
    connections.close_all()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "-c", str(GUNICORN_CONF)])  # noqa: S606


def prepare() -> None:
    """Migrate, and collect the static files that a server without DEBUG serves."""
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def say_where() -> None:
    """Print the address and, for an empty store, what the demo says: its sign-in and the connect line."""
    from django.conf import settings

    print(f"MemoryHub: {settings.MEMORYHUB_URL}")
    if get_user_model()._default_manager.exists():
        return
    if env_bool("MEMORYHUB_DEMO", default=True) and "demo" in get_commands():
        call_command("demo")
    else:
        print("The store is empty: make the first user with `manage.py create_user`.")


if __name__ == "__main__":
    main()
