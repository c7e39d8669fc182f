from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from memoryhub.working import Worker
from projects.commands import HubCommand


class Command(HubCommand):
    help = (
        "Do the background work: the daily upkeep. Runs until it is stopped; a second one waits its turn and "
        "is harmless."
    )
    # They import every page and tool: a process that only waits needs none of it.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="do what is due and leave")

    def run(self, **options: Any) -> None:
        # Where logs are collected, no line is of another kind.
        say = logging.getLogger("memoryhub.work").info if settings.LOG_REQUESTS else self.say
        Worker(say).run(once=options["once"])
