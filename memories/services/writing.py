"""The middle of every write: the project's lock, the memory's version, the revision.

Order of locks: the project's row, then memories. That one lock gives numbers, the one-level rule and
the change counter; on SQLite the transaction itself is the lock.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from memories.errors import MovedOn, NoSuchMemory
from memories.models import Memory, Revision, ScopePath, Tag, Visibility
from memories.querysets import MemoryQuerySet
from memories.search import index
from memories.services.changes import Hint
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.text import collapsed, normalised
from projects.errors import NoSuchProject, ProjectArchived, RightMissing, RoleTooLow
from projects.models import Project, Role
from projects.services import role_of

# What the index is made of, and what tells exact duplicates apart.
_INDEXED = {"title", "summary", "body", "details", "tags", "retrieval_hints", "visibility", "status"}
_COMPARED = {"title", "summary", "body", "visibility", "status"}


@dataclass
class Writing:
    """One write under way: the locked project, who writes, when, why, and what to say about it."""

    project: Project
    actor: Actor
    role: Role | None
    reason: str = ""
    at: dt.datetime = field(default_factory=timezone.now)
    hints: list[Hint] = field(default_factory=list)
    request_digest: str = ""

    def seen(self) -> MemoryQuerySet:
        """The project's memories that the actor may see; the operator sees all but erased ones.

        In the admin those that the admin shows, to whomever: its superusers need not be members.
        """
        here = Memory.objects.in_project(self.project)
        if self.actor.user is None:
            return here.filter(erased_at=None)
        if self.actor.door is Door.ADMIN:
            return here.visible_to_staff()
        return here.visible_to(self.actor.user)

    def load(self, number: int) -> Memory:
        """Another memory of this write, locked. Raises NoSuchMemory."""
        memory = self.seen().numbered(number).select_for_update(of=("self",)).first()
        if memory is None:
            raise NoSuchMemory(number)
        return memory

    def can_see(self, memory: Memory) -> bool:
        """Whether the actor may know of a memory of this project that was loaded without asking."""
        if not memory.is_private or self.actor.user is None:
            return True
        return self.actor.door is not Door.ADMIN and memory.author_id == self.actor.user.pk

    def say(self, type: str, message: str, number: int | None = None) -> None:
        self.hints.append(Hint(type, message, number))


def begin(actor: Actor, project: Project, reason: str = "", need: Role = Role.CONTRIBUTOR) -> Writing:
    """Lock the project and check the role and right. Call inside a transaction.

    Raises NoSuchProject, ProjectArchived, RoleTooLow, RightMissing.
    """
    locked = Project.objects.select_for_update().filter(pk=project.pk).first()
    if locked is None:
        raise NoSuchProject(project.slug)
    if actor.token is not None and not actor.token.can_write:
        raise RightMissing("write")
    role = role_of(actor.user, locked)
    if actor.user is not None and not actor.user.is_superuser and (role is None or not role.includes(need)):
        raise RoleTooLow(need)
    if locked.is_archived:
        raise ProjectArchived
    return Writing(project=locked, actor=actor, role=role, reason=reason)


def lock_memory(writing: Writing, memory: Memory, expected_version: int | None) -> Memory:
    """The memory as it is now. Raises NoSuchMemory, MovedOn. Without a version none is compared."""
    locked = writing.load(memory.number)
    if expected_version is not None and locked.version != expected_version:
        raise MovedOn(
            locked.number, locked.version, expected_version, _changed_since(writing, locked, expected_version)
        )
    return locked


def _changed_since(writing: Writing, memory: Memory, version: int) -> list[str]:
    revisions = Revision.objects.filter(memory=memory, version__gt=version)
    if writing.actor.door is Door.ADMIN:
        revisions = revisions.visible_to_staff()
    elif writing.actor.user is not None:
        revisions = revisions.visible_to(writing.actor.user)
    return sorted({name for fields in revisions.values_list("fields", flat=True) for name in fields})


def next_number(writing: Writing) -> int:
    """The next number of the project's one sequence."""
    writing.project.last_number += 1
    return writing.project.last_number


def finish(writing: Writing) -> None:
    """Raise the change counter, under the lock that `begin` took."""
    writing.project.change_counter += 1
    writing.project.save(update_fields=["last_number", "change_counter"])


def duplicate_key(memory: Memory) -> str:
    """SHA-256 of title, summary and body after NFC, case folding and collapsing of white space."""
    parts = "\x00".join(normalised(text) for text in (memory.title, memory.summary, memory.body))
    return hashlib.sha256(parts.encode()).hexdigest()


def store_new(
    writing: Writing, memory: Memory, fields: Mapping[str, Any], links: Mapping[str, Any]
) -> Memory:
    """Store a new memory with its lists, its first revision and its place in the index."""
    memory.number = next_number(writing)
    for moment in ("created_at", "updated_at", "touched_at", "summary_changed_at"):
        setattr(memory, moment, writing.at)
    memory.save(force_insert=True)
    if fields.get("tags"):
        _store_tags(memory, fields["tags"])
    if fields.get("scope_paths"):
        _store_scopes(memory, fields["scope_paths"])
    _write_revision(writing, memory, {**fields, **links})
    index(memory, tags=fields.get("tags", []))
    return memory


def store_change(writing: Writing, memory: Memory, changed: Mapping[str, Any], **notes: Any) -> Memory:
    """Store what changed in a memory: version, time and revision move together.

    `changed` maps field names to new values (already set on the memory, but for tags and scopes);
    `notes` go into the revision alone.
    """
    memory.version += 1
    memory.updated_at = writing.at
    memory.touched_at = max(writing.at, memory.verified_at or writing.at)
    columns = {"version", "updated_at", "touched_at", *(set(changed) - {"tags", "scope_paths", "links"})}
    if "summary" in changed and _says_something_else(memory, changed["summary"]):
        memory.summary_changed_at = writing.at
        columns.add("summary_changed_at")
    if _COMPARED & set(changed):
        memory.duplicate_key = duplicate_key(memory)
        columns.add("duplicate_key")
    if "status" in changed:
        columns |= {"archived_at", "archive_reason"}
    columns = {name for name in columns if name not in LINK_NAMES}
    memory.save(update_fields=columns)
    if "tags" in changed:
        memory.tags.all().delete()
        _store_tags(memory, changed["tags"])
    if "scope_paths" in changed:
        memory.scopes.all().delete()
        _store_scopes(memory, changed["scope_paths"])
    _write_revision(writing, memory, {**changed, **notes})
    if _INDEXED & set(changed):
        index(memory)
    return memory


LINK_NAMES = {"supersedes", "related_to", "contradicts", "unlink"}


def _says_something_else(memory: Memory, summary: str) -> bool:
    last = (
        Revision.objects.filter(memory=memory, fields__has_key="summary")
        .order_by("-version")
        .values_list("fields__summary", flat=True)
        .first()
    )
    return last is None or collapsed(last) != collapsed(summary)


def _store_tags(memory: Memory, names: list[str]) -> None:
    Tag.objects.bulk_create(Tag(memory=memory, name=name, position=n) for n, name in enumerate(names))


def _store_scopes(memory: Memory, paths: list[str]) -> None:
    ScopePath.objects.bulk_create(
        ScopePath(memory=memory, path=path, position=n) for n, path in enumerate(paths)
    )


def _write_revision(writing: Writing, memory: Memory, fields: Mapping[str, Any]) -> Revision:
    actor, context = writing.actor, writing.actor.context
    kept = dict(fields)
    if "parent" in kept:
        kept["parent"] = kept["parent"].number if kept["parent"] else 0
    return Revision.objects.create(
        memory=memory,
        version=memory.version,
        fields=kept,
        visibility=Visibility(memory.visibility),
        reason=writing.reason,
        actor=actor.user,
        actor_kind=actor.kind,
        token_name=actor.token.name if actor.token else "",
        door=actor.door,
        request_digest=writing.request_digest if memory.version == 1 else "",
        created_at=writing.at,
        **context.as_dict(),
    )
