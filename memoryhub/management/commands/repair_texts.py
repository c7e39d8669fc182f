from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from memoryhub.importing.repairing import repair_project
from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.commands import HubCommand, project_named


class Command(HubCommand):
    help = (
        "Repair stored text that was read in the wrong encoding before it came here, only where misreading "
        "the repair again gives what was there. Says what it would do unless --apply is given."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--apply", action="store_true", help="write it")

    def run(self, **options: Any) -> None:
        project, apply = project_named(options["slug"]), options["apply"]
        context = WriteContext(session="repair", client="manage.py repair_texts")
        done, left = 0, 0
        for each in repair_project(Actor(None, Door.COMMAND, context=context), project, apply=apply):
            done, left = done + (not each.problem), left + bool(each.problem)
            self.say(f"#{each.number}: {', '.join(each.fields)}{' ' + each.problem if each.problem else ''}")
        if apply:
            self.say(f"Repaired {done} memories, left {left}.")
        else:
            self.say(f"Would repair {done} memories. Run again with --apply to write.")
