"""What our management commands share: refusals as command errors, users and projects by name."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryhub.kernel.errors import DomainError
from projects.models import Project, User


class HubCommand(BaseCommand):
    """A command whose refusals are sentences on stderr and exit code 1, without a traceback."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except DomainError as refusal:
            raise CommandError(refusal.message) from refusal

    def run(self, **options: Any) -> None:
        raise NotImplementedError

    def say(self, sentence: str) -> None:
        """A line for a person; scripts read the last line of standard output."""
        self.stdout.write(sentence)
        # To a pipe or a log it would wait for more, and a command that goes on is heard too late.
        self.stdout.flush()


def user_named(username: str) -> User:
    """The user, whatever the case of the name. Raises CommandError."""
    user = User.objects.named(username)
    if user is None:
        raise CommandError(f"There is no user {username!r}. Create one with create_user.")
    return user


def project_named(slug: str) -> Project:
    """The project. Raises CommandError."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project {slug!r}. Create one with create_project.")
    return project
