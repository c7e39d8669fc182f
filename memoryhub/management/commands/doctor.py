from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from memoryhub.kernel.doctor import Finding, all_checks
from memoryhub.kernel.files import FileRefused
from projects.commands import HubCommand, project_named
from projects.models import Project
from tasks.checkup import check_state_file
from tasks.state_files import read_state_file


class Command(HubCommand):
    help = (
        "Report what should hold and doesn't. Exit code 0: all holds; 1: something drifted and a command "
        "mends it, or a checkpoint that nobody could go on with; 2: a rule is broken. Repairs nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?")
        parser.add_argument(
            "--file", type=Path, help="report on this CURRENT_STATE.md instead, by the project's limits"
        )

    def run(self, **options: Any) -> None:
        projects = [project_named(options["slug"])] if options["slug"] else list(Project.objects.all())
        if options["file"] is not None:
            sys.exit(self._report(_of_file(projects, options["file"]), f"{options['file']} is in order."))
        found = (
            finding for project in projects for check in all_checks().values() for finding in check(project)
        )
        sys.exit(self._report(found, f"All holds in {len(projects)} projects."))

    def _report(self, findings: Iterable[Finding], sound: str) -> int:
        """Say each; the severity of the worst, 0 where there is none."""
        worst = 0
        for finding in findings:
            self.say(finding.sentence)
            worst = max(worst, finding.severity)
        if not worst:
            self.say(sound)
        return worst


def _of_file(projects: list[Project], path: Path) -> Iterator[Finding]:
    if len(projects) != 1:
        raise CommandError("Name the project whose limits the file is held to.")
    try:
        text = read_state_file(path)
    except FileNotFoundError:
        text = None
    except FileRefused as refusal:
        yield Finding.broken(str(refusal))
        return
    yield from check_state_file(projects[0], str(path), text)
