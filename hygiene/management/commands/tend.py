from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from hygiene.services import Tended
from hygiene.services.upkeep import keep_up
from projects.commands import HubCommand, project_named
from projects.models import Project


class Command(HubCommand):
    help = (
        "The daily upkeep: ages session summaries as each project chose, ends claims that lapsed a week ago, "
        "writes the day's score, and prunes tokens that expired more than 90 days ago and old calls. Safe to "
        "run twice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?", help="one project alone")

    def run(self, **options: Any) -> None:
        projects = [project_named(options["slug"])] if options["slug"] else None
        self.is_watched = options.get("verbosity", 1) > 1 or self.stdout.isatty()
        self.say(keep_up(projects, progress=self._progress).summary)

    def _progress(self, project: Project, done: Tended) -> None:
        """For a person who waits; a log has the last line."""
        if self.is_watched:
            self.say(
                f"{project.slug}: score {done.score}, {done.lowered} lowered, {done.bagged} into bags, "
                f"{done.refused} refused, {done.claims} claims ended"
            )
