from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from projects.commands import HubCommand, user_named
from projects.models import ReviewPolicy
from projects.services import create_project


class Command(HubCommand):
    help = "Create a project with its first owner."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--name", required=True)
        parser.add_argument("--owner", required=True, metavar="USER")
        parser.add_argument(
            "--review",
            choices=ReviewPolicy.values,
            default=ReviewPolicy.AGENTS.value,
            help="Who works in it: none for just you, agents (unless given) for a team, whose reviewers "
            "decide on what agents propose; everyone makes all changes wait.",
        )

    def run(self, **options: Any) -> None:
        project = create_project(
            slug=options["slug"],
            name=options["name"],
            owner=user_named(options["owner"]),
            review_policy=options["review"],
        )
        self.say(f"Created the project {project.slug}, owned by {options['owner']}.")
