from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from memories.models import Visibility
from memoryhub.exchange.progress import Bar
from memoryhub.importing import FORMATS, apply_import, open_source, plan_import
from memoryhub.importing.doing import as_session
from memoryhub.importing.planning import Progress
from memoryhub.importing.telling import outcome_lines, plan_lines
from memoryhub.kernel.actor import Actor, Door
from projects.commands import HubCommand, project_named, user_named
from projects.models import Project, Role, User


class Command(HubCommand):
    help = (
        "Import what another system keeps: a folder, a file or a zip. Says what it would do unless --apply "
        "is given. Running it twice adds nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("path", type=Path)
        parser.add_argument(
            "--format", choices=sorted(FORMATS), default="", help="guessed where it is left out"
        )
        parser.add_argument("--apply", action="store_true", help="write them")
        parser.add_argument("--user", help="whose they become; may be left out in a project with one owner")
        parser.add_argument(
            "--visibility", choices=Visibility.values, default="", help="the project's default"
        )
        parser.add_argument(
            "--as-it-is", action="store_true", help="repair no text that was read in the wrong encoding"
        )
        parser.add_argument("--all", action="store_true", help="list every entry")

    def run(self, **options: Any) -> None:
        project = project_named(options["slug"])
        user = user_named(options["user"]) if options["user"] else _only_owner(project)
        actor = as_session(Actor(user=user, door=Door.COMMAND), "manage.py import_from")
        with open_source(options["path"]) as source:
            plan = plan_import(
                actor,
                project,
                source,
                format=options["format"],
                visibility=options["visibility"],
                mend=not options["as_it_is"],
                progress=self._progress("Looked at"),
            )
        for line in plan_lines(plan, everything=options["all"]):
            self.say(line)
        if not options["apply"]:
            self.say("Nothing was written. Run again with --apply to import.")
            return
        outcome = apply_import(actor, plan, progress=self._progress("Imported"))
        for line in outcome_lines(plan, outcome):
            self.say(line)

    def _progress(self, phase: str) -> Progress:
        """A bar for a person at a terminal; nothing in a log."""
        bar = Bar(self.stderr)

        def show(done: int, of: int) -> None:
            if done % 50 == 0 or done == of:
                bar.show(phase, done, of)

        return show


def _only_owner(project: Project) -> User:
    owners = [each.user for each in project.memberships.filter(role=Role.OWNER).select_related("user")[:2]]
    if len(owners) != 1:
        raise CommandError("Say whose they become with --user: the project hasn't exactly one owner.")
    return owners[0]
