"""Pages of the record of calls, newest first, of what a reader may know."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memoryhub.kernel import cursors
from memoryhub.kernel.cursors import BadCursor
from projects.models import Call, Project, User

PAGE = 50
# The outcome that stands for all that isn't ok.
REFUSED = "refused"


@dataclass(frozen=True)
class Wanted:
    """Which calls; what is empty narrows nothing."""

    person: str = ""
    agent: str = ""
    name: str = ""
    outcome: str = ""
    door: str = ""
    since: dt.datetime | None = None
    before: dt.datetime | None = None

    def columns(self) -> dict[str, Any]:
        """What rows have to be equal to, and between."""
        said = {
            "token_name": self.agent,
            "name": self.name,
            "outcome": self.outcome if self.outcome != REFUSED else "",
            "door": self.door,
        }
        return {column: value for column, value in said.items() if value} | self.days()

    def days(self) -> dict[str, dt.datetime]:
        """What their moments have to be between."""
        said = {"at__gte": self.since, "at__lt": self.before}
        return {column: value for column, value in said.items() if value}


@dataclass(frozen=True)
class CallsPage:
    """A page of calls, each with its user."""

    items: Sequence[Call] = ()
    next_cursor: str | None = None
    is_first: bool = True


def calls_page(project: Project, reader: User, wanted: Wanted | None, cursor: str = "") -> CallsPage:
    """A page of what the reader may know. A cursor of another reader or filter opens page one."""
    if wanted is None:
        return CallsPage()
    bound = ["calls", reader.pk, project.pk, asdict(wanted)]
    calls = Call.objects.visible_to(reader, project).filter(**wanted.columns())
    if wanted.person:
        # By id, which there is an index of: somebody who called seldom is found at once.
        person = User.objects.named(wanted.person)
        if person is None:
            return CallsPage()
        calls = calls.of(person)
    calls = calls.refused() if wanted.outcome == REFUSED else calls
    try:
        calls = calls.older_than(cursors.decode(cursor, bound)) if cursor else calls
    except BadCursor:
        cursor = ""
    found = list(calls.select_related("user").order_by("-pk")[: PAGE + 1])
    more = cursors.encode(found[PAGE - 1].pk, bound) if len(found) > PAGE else None
    return CallsPage(found[:PAGE], more, is_first=not cursor)
