from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from projects.commands import HubCommand, project_named, user_named
from projects.services import create_token


class Command(HubCommand):
    help = "Create an access token and print it, alone, on the last line. It is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")
        parser.add_argument(
            "--project", required=True, action="append", metavar="SLUG", help="may be repeated"
        )
        parser.add_argument("--rights", required=True, help="read,write or read,write,review")
        parser.add_argument("--name", default="", help="what it is for")

    def run(self, **options: Any) -> None:
        user = user_named(options["user"])
        projects = [project_named(slug) for slug in dict.fromkeys(options["project"])]
        rights = [right.strip() for right in options["rights"].split(",")]
        name = options["name"] or f"for {', '.join(project.slug for project in projects)}"[:80]
        token, text = create_token(user=user, projects=projects, rights=rights, name=name)
        self.say(f"Access token {token.name!r} of {user.username}, shown this once:")
        self.stdout.write(text)
