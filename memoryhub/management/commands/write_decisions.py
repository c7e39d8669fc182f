from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from memoryhub.kernel.files import FileRefused
from memoryhub.projections.decisions import NAME, marker, render_decisions
from memoryhub.projections.writing import write_document
from projects.commands import HubCommand, project_named, user_named


class Command(HubCommand):
    help = (
        f"Write the decisions of a project to a {NAME}: what every member reads. A file that MemoryHub "
        "didn't write is left alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("file", help="where to; - for standard output")
        parser.add_argument("--user", help="as this user sees them: their own private ones as well")

    def run(self, **options: Any) -> None:
        project = project_named(options["slug"])
        reader = user_named(options["user"]) if options["user"] else None
        text = render_decisions(project, reader)
        if options["file"] == "-":
            self.stdout.write(text, ending="")
            return
        try:
            changed = write_document(Path(options["file"]), text, marker(project))
        except FileRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        self.say(f"{'Wrote' if changed else 'Unchanged:'} {options['file']}.")
