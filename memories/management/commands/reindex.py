from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from memories.search.upkeep import reindex
from projects.commands import HubCommand, project_named

WIDTH = 40


class Command(HubCommand):
    help = "Make the search index anew, beside the running hub: of one project, or of all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?")

    def run(self, **options: Any) -> None:
        project = project_named(options["slug"]) if options["slug"] else None
        done = reindex(project, progress=self._show if sys.stderr.isatty() else None)
        self.say(f"Indexed {done} memories, tasks and receipts.")

    def _show(self, done: int, total: int) -> None:
        filled = WIDTH * done // max(total, 1)
        end = "\n" if done >= total else ""
        self.stderr.write(f"\r[{'#' * filled}{'.' * (WIDTH - filled)}] {done} of {total}", ending=end)
        self.stderr.flush()
