from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from memoryhub.exchange.importing import bring_snapshot
from memoryhub.exchange.plan import Outcome, Plan
from memoryhub.exchange.progress import Bar
from memoryhub.kernel.actor import Actor, Door
from projects.commands import HubCommand, user_named


class Command(HubCommand):
    help = (
        "Bring a snapshot into a project, or into a new one where the slug is free. Without --apply it says "
        "what would happen and changes nothing. A file that is cut, altered or newer is refused whole."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the project to import into; it needn't be the one of the file")
        parser.add_argument("file", type=Path)
        parser.add_argument("--apply", action="store_true", help="do it; else it is a dry run")
        parser.add_argument("--owner", metavar="USER", help="of a project that is new with it")
        parser.add_argument(
            "--keep-secrets", action="store_true", help="take what looks like a credential as it comes"
        )

    def run(self, **options: Any) -> None:
        owner = user_named(options["owner"]) if options["owner"] else None
        try:
            with options["file"].open("rb") as file:
                plan = bring_snapshot(
                    actor=Actor(user=None, door=Door.COMMAND),
                    file=file,
                    slug=options["slug"],
                    apply=options["apply"],
                    owner=owner,
                    keep_secrets=options["keep_secrets"],
                    progress=Bar(self.stderr).show,
                )
        except OSError as wrong:
            raise CommandError(f"{options['file']} can't be read: {wrong.strerror}.") from wrong
        self._tell(plan)
        if plan.is_new and options["apply"] and owner is None:
            self.say(f"{plan.slug} has no members yet: manage.py add_member {plan.slug} USER --role owner")
        self.say(plan.summary)

    def _tell(self, plan: Plan) -> None:
        """What a person wants to see before the line for a log."""
        for plural, counter in plan.rows:
            self.say(f"{plural}: " + ", ".join(f"{many} {outcome}" for outcome, many in counter.items()))
        for line in plan.lines:
            self.say(f"  {line.outcome}: {line.kind} {line.subject}")
        listed = plan.total(Outcome.TAKEN, Outcome.CONFLICT_TAKEN, Outcome.CONFLICT_KEPT, Outcome.ERASED)
        if listed > len(plan.lines):
            self.say(f"  and {listed - len(plan.lines)} more")
        if plan.renumbered:
            self.say(f"{plan.renumbered} take new numbers: theirs are taken here.")
        if plan.moved_out:
            self.say(f"{plan.moved_out} leave their bag or task: the two sides together don't let them stay.")
        if plan.attributions:
            self.say(f"No account here, kept as names: {', '.join(plan.attributions[:50])}")
