from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memoryhub.exchange.backups import back_up
from projects.commands import HubCommand


class Command(HubCommand):
    help = (
        "Write the whole hub, accounts included, to one file, while it runs. `restore` brings it back. On "
        "PostgreSQL its client programs are needed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def run(self, **options: Any) -> None:
        done = back_up(options["file"])
        said = f"users={done.users} projects={done.projects} bytes={done.size}"
        self.say(f"Backed up to {options['file']}: engine={done.engine} {said}")
