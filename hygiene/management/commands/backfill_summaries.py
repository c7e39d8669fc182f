from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from hygiene.services import backfill_summaries
from projects.commands import HubCommand, project_named


class Command(HubCommand):
    help = (
        "Fill missing summaries with a marked placeholder: the first 200 characters of the body. Never "
        "overwrites one. Says what it would do unless --apply is given."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--apply", action="store_true", help="write them")

    def run(self, **options: Any) -> None:
        done = backfill_summaries(project_named(options["slug"]), apply=options["apply"])
        for number, text in done.filled:
            self.say(f"#{number}: {text}")
        for number, why in done.left:
            self.say(f"#{number} is left: {why}")
        if options["apply"]:
            self.say(f"Filled {len(done.filled)} summaries, left {len(done.left)}.")
        else:
            would = f"Would fill {len(done.filled)} summaries, leave {len(done.left)}."
            self.say(f"{would} Run again with --apply to write.")
