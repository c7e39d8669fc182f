from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from projects.commands import HubCommand, project_named, user_named
from projects.models import Membership, Role
from projects.services import add_member, change_role


class Command(HubCommand):
    help = "Take a user into a project, or change the role of one who is in it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("user")
        parser.add_argument("--role", required=True, choices=Role.values)

    def run(self, **options: Any) -> None:
        project, user = project_named(options["slug"]), user_named(options["user"])
        membership = Membership.objects.filter(project=project, user=user).first()
        if membership:
            change_role(by=None, membership=membership, role=options["role"])
        else:
            add_member(by=None, project=project, user=user, role=options["role"])
        self.say(f"{user.username} is {options['role']} of {project.slug}.")
