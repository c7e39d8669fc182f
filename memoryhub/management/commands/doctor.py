from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from memoryhub.kernel.doctor import all_checks
from projects.commands import HubCommand, project_named
from projects.models import Project


class Command(HubCommand):
    help = (
        "Report what should hold and doesn't. Exit code 0: all holds; 1: something drifted and a command "
        "mends it; 2: a rule is broken. Repairs nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?")

    def run(self, **options: Any) -> None:
        projects = [project_named(options["slug"])] if options["slug"] else list(Project.objects.all())
        worst = 0
        for project in projects:
            for check in all_checks().values():
                for finding in check(project):
                    self.say(finding.sentence)
                    worst = max(worst, finding.severity)
        if not worst:
            self.say(f"All holds in {len(projects)} projects.")
        sys.exit(worst)
