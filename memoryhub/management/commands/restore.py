from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memoryhub.exchange.backups import restore
from projects.commands import HubCommand


class Command(HubCommand):
    help = (
        "Make this hub what it was when a backup was made, in one step. A hub that has something is left "
        "alone unless --replace; a damaged file is refused whole. Stop the server before, start it after."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="what this hub holds now may go")

    def run(self, **options: Any) -> None:
        done = restore(options["file"], replace=options["replace"])
        said = f"users={done.users} projects={done.projects} made_at={done.made_at}"
        self.say(f"Restored from {options['file']}: engine={done.engine} {said}")
