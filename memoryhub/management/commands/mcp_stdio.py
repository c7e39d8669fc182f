from __future__ import annotations

from typing import Any

import anyio
from asgiref.sync import sync_to_async
from django.core.management.base import CommandError, CommandParser
from django.db import close_old_connections
from mcp.server.stdio import stdio_server

from memoryhub.mcp.server import current_caller, server
from projects.callers import Caller
from projects.commands import HubCommand, project_named, user_named
from projects.services import role_of


class Command(HubCommand):
    help = "Serve MCP over standard input and output for one user and project: the answers of HTTP."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", required=True)
        parser.add_argument("--project", required=True, metavar="SLUG")

    def run(self, **options: Any) -> None:
        user, project = user_named(options["user"]), project_named(options["project"])
        if role_of(user, project) is None:
            raise CommandError(f"{user.username} is no member of {project.slug}. Use add_member first.")
        self.caller = Caller(user, pinned_slug=project.slug)
        anyio.run(self._serve)

    async def _serve(self) -> None:
        current_caller.set(self.caller)
        server.middleware.append(_fresh_connections)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


async def _fresh_connections(ctx: Any, call_next: Any) -> Any:
    # A long-lived process without requests: nothing else would notice a database that went away.
    await sync_to_async(close_old_connections)()
    return await call_next(ctx)
