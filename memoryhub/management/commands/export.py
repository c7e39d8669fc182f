from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memoryhub.exchange.exporting import everything
from memoryhub.exchange.files import write_snapshot
from memoryhub.exchange.progress import Counted
from projects.commands import HubCommand, project_named


class Command(HubCommand):
    help = (
        "Write a snapshot of a whole project, private memories included, to a file: what `import` brings in "
        "again. Accounts, members, tokens and addresses stay here."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("file", type=Path)

    def run(self, **options: Any) -> None:
        project, path = project_named(options["slug"]), options["file"]
        entries = Counted(everything(project), project, self.stderr)
        size = write_snapshot(path, entries)
        self.say(f"Exported {project.slug} to {path}: entries={entries.done} bytes={size}")
