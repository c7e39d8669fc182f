"""Backing a hub up and restoring it, on either engine. For the operator alone: it is everything."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from memories.recall.keeping import kept
from memoryhub.exchange.backups import container, postgres, sqlite
from memoryhub.exchange.files import compressed, write_parts
from memoryhub.kernel.errors import Conflict, Invalid
from projects.models import Project, User


@dataclass(frozen=True)
class Kept:
    """What a backup holds or a restore brought."""

    engine: str
    made_at: str
    users: int
    projects: int
    size: int


def back_up(path: Path) -> Kept:
    """Write the whole store as it is at this moment to a file, whole or not at all, for its owner alone.

    Writers aren't held up. Raises Invalid where it can't be written, or PostgreSQL's programs are missing.
    """
    with _beside(path) as copy:
        _engine().dump(copy)
        head = {"engine": connection.vendor, "migrations": _applied()}
        try:
            with copy.open("rb") as payload:
                size = write_parts(path, compressed(container.parts(payload, head)))
        except OSError as wrong:
            raise Invalid(f"The backup couldn't be written to {path}: {wrong.strerror}.") from wrong
    return Kept(connection.vendor, "", User.objects.count(), Project.objects.count(), size)


def restore(path: Path, *, replace: bool = False) -> Kept:
    """Make this store what it was when the backup was made; then bring it up to this version.

    Raises Invalid for a file that is no sound backup of this engine, or a newer version's, and Conflict where
    the store holds something and `replace` doesn't say that it may go. Then nothing has changed.
    """
    with _beside(path, near_store=True) as copy:
        with copy.open("wb") as payload:
            head = container.unpack(path, payload)
        _check(head)
        if not replace and not _is_empty():
            raise Conflict(
                "This hub has accounts or projects, and a restore replaces all of it. Say --replace if that "
                "is meant; a backup of what is here now is made with `manage.py backup`."
            )
        _engine().load(copy)
    kept.clear()
    call_command("migrate", verbosity=0)
    size = path.stat().st_size
    users, projects = User.objects.count(), Project.objects.count()
    return Kept(head["engine"], str(head.get("made_at", "")), users, projects, size)


def _engine() -> ModuleType:
    return postgres if connection.vendor == "postgresql" else sqlite


@contextmanager
def _beside(path: Path, *, near_store: bool = False) -> Iterator[Path]:
    """A place for the engine's own copy, readable by its owner alone, on a disk that has to have room."""
    folder = path.absolute().parent
    if near_store and connection.vendor == "sqlite":
        folder = Path(str(connection.settings_dict["NAME"])).absolute().parent
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".memoryhub-backup-") as made:
            yield Path(made) / "copy"
    except FileNotFoundError as wrong:
        raise Invalid(f"There is no folder {folder}.") from wrong


def _applied() -> list[list[str]]:
    return sorted([app, name] for app, name in MigrationRecorder(connection).applied_migrations())


def _check(head: dict[str, Any]) -> None:
    if head["engine"] != connection.vendor:
        raise Invalid(
            f"This is a backup of a hub on {head['engine']}, and this hub is on {connection.vendor}. Restore "
            "it there; to change engines, export the projects and import them here."
        )
    known = MigrationLoader(None).disk_migrations
    ours = {app for app, _ in known}
    try:
        unknown = [name for app, name in head["migrations"] if app in ours and (app, name) not in known]
    except (TypeError, ValueError):
        raise Invalid("The file is no backup of MemoryHub.") from None
    if unknown:
        raise Invalid("The backup was made by a newer MemoryHub. Update MemoryHub first.")


def _is_empty() -> bool:
    """Whether nobody would miss anything: no accounts and no projects, if there are tables at all."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
    if User._meta.db_table not in tables:
        return True
    return not (User.objects.exists() or Project.objects.exists())
