from __future__ import annotations

import os
from typing import Any

from django.core.management.base import CommandError, CommandParser

from projects.commands import HubCommand
from projects.services import create_user


class Command(HubCommand):
    help = (
        "Create an account. The password is read from an environment variable, never from the command line."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--email", required=True)
        parser.add_argument(
            "--password-env", required=True, metavar="NAME", help="the variable with the password"
        )
        parser.add_argument(
            "--admin", action="store_true", help="may sign in to the admin and do everything there"
        )

    def run(self, **options: Any) -> None:
        password = os.environ.get(options["password_env"])
        if not password:
            raise CommandError(f"The environment variable {options['password_env']} is not set.")
        admin = options["admin"]
        user = create_user(
            username=options["user"],
            email=options["email"],
            password=password,
            is_staff=admin,
            is_superuser=admin,
        )
        self.say(f"Created the account {user.username}.")
