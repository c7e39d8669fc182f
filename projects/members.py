"""Who is in a project, as its page shows it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memoryhub.kernel import cursors
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.snapshots import read_snapshot
from projects.activity import last_written
from projects.models import AccessToken, Membership, Project, Role, User

PAGE = 100


@dataclass(frozen=True)
class MemberRow:
    """A member: when they last wrote what the reader may see, and how many tokens of theirs reach this."""

    membership: Membership
    last_written: dt.datetime | None
    # None where that is not the reader's to know.
    tokens: int | None


@dataclass(frozen=True)
class MemberPage:
    """A page of members, by name."""

    rows: Sequence[MemberRow]
    total: int
    next_cursor: str | None
    is_first: bool


def members_of(project: Project, reader: User, *, is_owner: bool, cursor: str = "") -> MemberPage:
    """A page of the members, in a fixed number of queries. Others' tokens are an owner's to know."""
    bound = ["members", reader.pk, project.pk]
    try:
        after = cursors.decode(cursor, bound) if cursor else ""
    except BadCursor:
        cursor = after = ""
    with read_snapshot():
        everybody = Membership.objects.in_project(project)
        total = everybody.count()
        found = list(everybody.by_name(after=after)[: PAGE + 1])
        page = found[:PAGE]
        people = [row.user_id for row in page]
        written = last_written(project, reader, people)
        tokens = Counter(
            AccessToken.objects.visible_to(reader).reaching(project).standing().values_list("user", flat=True)
        )
    rows = [
        MemberRow(
            row,
            written.get(row.user_id),
            tokens[row.user_id] if is_owner or row.user_id == reader.pk else None,
        )
        for row in page
    ]
    more = cursors.encode(page[-1].user.username, bound) if len(found) > PAGE else None
    return MemberPage(rows, total, more, is_first=not cursor)


@dataclass(frozen=True)
class RoleWords:
    """A role, and what it sees and may, in a sentence each."""

    role: str
    name: str
    sees: str
    may: str


ROLES = (
    RoleWords(
        Role.READER,
        "Reader",
        "Everything shared in the project: memories, tasks, receipts, hygiene, activity, this list.",
        "Read, in the browser and through tokens that read. Write nothing.",
    ),
    RoleWords(
        Role.CONTRIBUTOR,
        "Contributor",
        "The same, and what became of their own proposals.",
        "Write memories, private ones among them, tasks and receipts. What the review policy asks for "
        "waits for a reviewer.",
    ),
    RoleWords(
        Role.REVIEWER,
        "Reviewer",
        "Every proposal of the project, too.",
        "Also decide what waits, and release others' claims.",
    ),
    RoleWords(
        Role.OWNER,
        "Owner",
        "The names, rights and last use of everybody's tokens for this project, too; never a secret.",
        "Also manage members and settings, archive the project, revoke others' tokens.",
    ),
)
EVERYBODY_ELSE = (
    "Somebody who is no member sees the public memories of this project and its name, and nothing else. "
    "Nobody sees another's private memories, whatever the role."
)
