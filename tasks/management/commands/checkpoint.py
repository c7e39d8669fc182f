from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.files import FileRefused
from projects.commands import HubCommand, project_named, user_named
from projects.models import Project, User
from tasks.current_state import render_checkpoint
from tasks.models import Checkpoint
from tasks.services import save_file
from tasks.state_files import read_state_file, write_state_file


class Command(HubCommand):
    help = (
        "Write the checkpoint of a user's stream to a CURRENT_STATE.md, or save it from one. What stands "
        "already is left alone; a change needs the version that it was made from."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("way", choices=("export", "import"))
        parser.add_argument("slug")
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", help="whose; may be left out in a project of one member")
        parser.add_argument("--stream", default=Checkpoint.MAIN)
        parser.add_argument("--expected-version", type=int, help="import: of a checkpoint that is there")

    def run(self, **options: Any) -> None:
        project, file, stream = project_named(options["slug"]), options["file"], options["stream"]
        user = user_named(options["user"]) if options["user"] else _only_member(project)
        try:
            if options["way"] == "export":
                self._export(project, user, stream, file)
            else:
                self._import(project, user, stream, file, options["expected_version"])
        except FileNotFoundError:
            raise CommandError(f"There is no {file}.") from None
        except FileRefused as refusal:
            raise CommandError(str(refusal)) from refusal

    def _export(self, project: Project, user: User, stream: str, file: Path) -> None:
        mine = Checkpoint.objects.in_project(project).visible_to(user)
        checkpoint = mine.of_stream(stream).first()
        if checkpoint is None:
            raise CommandError(f"There is no checkpoint {stream!r} of {user.username} in {project.slug}.")
        write_state_file(file, render_checkpoint(checkpoint, user))
        self.say(f"Wrote {file}: {stream!r} of {user.username} at version {checkpoint.version}.")

    def _import(self, project: Project, user: User, stream: str, file: Path, version: int | None) -> None:
        text, actor = read_state_file(file), Actor(user=user, door=Door.COMMAND)
        done = save_file(actor=actor, project=project, stream=stream, text=text, expected_version=version)
        what = "Saved" if done.changed else "Unchanged:"
        self.say(f"{what} {stream!r} of {user.username} at version {done.checkpoint.version}.")


def _only_member(project: Project) -> User:
    members = [membership.user for membership in project.memberships.select_related("user")[:2]]
    if len(members) != 1:
        raise CommandError("Say whose with --user: the project hasn't exactly one member.")
    return members[0]
