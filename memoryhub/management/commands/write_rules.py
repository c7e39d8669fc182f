from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from memoryhub.kernel.files import FileRefused
from memoryhub.kernel.text import in_one_line
from memoryhub.projections.rules import marker, render_rules
from memoryhub.projections.writing import write_folder
from projects.commands import HubCommand, project_named, user_named


class Command(HubCommand):
    help = (
        "Write the constraints of a project to a folder, one file a scope with paths: in its front matter: "
        "what every member reads. Files of an earlier run whose rule is gone are removed; others are left."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("folder", type=Path, help="one of its own, such as .claude/rules/memoryhub")
        parser.add_argument("--user", help="as this user sees them: their own private ones as well")

    def run(self, **options: Any) -> None:
        project = project_named(options["slug"])
        reader = user_named(options["user"]) if options["user"] else None
        rules = render_rules(project, reader)
        try:
            done = write_folder(options["folder"], rules.files, marker(project))
        except FileRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        for one in rules.refused:
            numbers = ", ".join(f"#{number}" for number in one.numbers)
            self.stderr.write(f"No file for the scope {in_one_line(one.scope)} of {numbers}: {one.why}")
        counts = f"{len(done.written)} written, {len(done.removed)} removed, {len(done.unchanged)} unchanged"
        self.say(f"{options['folder']}: {counts}.")
