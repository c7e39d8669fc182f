"""The middle of every write: the project's lock, the memory's version, the revision.

Order of locks: the project's row, then memories. That one lock gives numbers, the one-level rule and
the change counter; on SQLite the transaction itself is the lock.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memories.errors import MovedOn, NoSuchMemory
from memories.evidence import Look, Near
from memories.keys import duplicate_key as duplicate_key
from memories.models import Memory, Review, Revision, ScopePath, Tag, Visibility
from memories.querysets import MemoryQuerySet
from memories.search import document_tokens, index, summary_rows
from memories.services.changes import Hint
from memories.services.policy import Touch
from memories.services.watching import Written, place_before, tell
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.compiled_writes import Insert, NewId, insert_together
from memoryhub.kernel.snapshots import answer_soon, unanswered
from memoryhub.kernel.text import collapsed
from projects.errors import ProjectArchived, RoleTooLow
from projects.models import Project, Role
from projects.services import ProjectWrite, lock_project
from projects.services import finish as finish
from projects.services import next_number as next_number

# What the index is made of, and what tells exact duplicates apart.
_INDEXED = {"title", "summary", "body", "details", "tags", "retrieval_hints", "visibility", "status"}
_COMPARED = {"title", "summary", "body", "visibility", "status"}

_memories, _revisions = Insert(Memory), Insert(Revision)
_tags, _scopes = Insert(Tag), Insert(ScopePath)


@dataclass
class Writing(ProjectWrite):
    """One write under way: the locked project, who writes, when, why, and what to say about it."""

    hints: list[Hint] = field(default_factory=list)
    # Of the hints, those on the text, which hold as well for what isn't applied.
    advice: list[Hint] = field(default_factory=list)
    request_digest: str = ""
    # What it moves, whoever may see it: what a review policy decides by.
    touched: list[Touch] = field(default_factory=list)
    # The proposal that it carries out.
    review: Review | None = None
    # One object a memory: two copies of a row would each write a version of their own.
    held: dict[int, Memory] = field(default_factory=dict)
    # The last that watchers were told of each memory.
    told: dict[int, Written] = field(default_factory=dict)
    # The id of the memory that is to be made, where it was asked for ahead.
    new_id: NewId | None = None

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
        return self.hold(memory)

    def hold(self, memory: Memory) -> Memory:
        """The one object of this write for a row that was loaded."""
        return self.held.setdefault(memory.pk, memory)

    def can_see(self, memory: Memory) -> bool:
        """Whether the actor may know of a memory of this project that was loaded without asking."""
        user = self.actor.user
        if user is None or memory.visibility == Visibility.PUBLIC:
            return True
        if self.actor.door is Door.ADMIN:
            return not memory.is_private
        return self.role is not None and (not memory.is_private or memory.author_id == user.pk)

    def say(self, type: str, message: str, number: int | None = None) -> None:
        self.hints.append(Hint(type, message, number))


def begin(
    actor: Actor,
    project: Project,
    reason: str = "",
    need: Role = Role.CONTRIBUTOR,
    memory: Memory | None = None,
    *,
    creates: bool = False,
) -> Writing:
    """Lock the project and check the role and right. Call inside a transaction; `creates` where one memory is
    about to be made.

    Raises NoSuchProject, ProjectArchived, RoleTooLow, RightMissing; NoSuchMemory to a stranger who
    may not see the `memory` it is about.
    """
    new_id = _memories.ask_id() if creates else None
    locked, role = lock_project(actor, project)
    writing = Writing(project=locked, actor=actor, role=role, reason=reason, new_id=new_id)
    _check_role(writing, need, memory)
    if locked.is_archived:
        raise ProjectArchived
    return writing


def _check_role(writing: Writing, need: Role, memory: Memory | None) -> None:
    """Superusers and the operator pass. A stranger isn't told of what they can't see."""
    if writing.role is not None or memory is None or writing.may(need):
        writing.check_member(need)
    elif writing.seen().numbered(memory.number).exists():
        raise RoleTooLow(need)
    else:
        raise NoSuchMemory(memory.number)


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


def store_new(
    writing: Writing,
    memory: Memory,
    fields: Mapping[str, Any],
    links: Mapping[str, Any],
    moments: Mapping[str, dt.datetime],
) -> Memory:
    """Store a new memory with its lists, its first revision and its place in the index.

    `moments` are the days that it had elsewhere; without them it begins now.
    """
    memory.number = next_number(writing)
    for moment in ("created_at", "updated_at", "touched_at", "summary_changed_at"):
        setattr(memory, moment, moments.get(moment, writing.at))
    tags = fields.get("tags", [])
    with unanswered():
        own: list[Memory] = []
        if writing.new_id is None:
            _memories.one(memory)
        else:
            memory.pk, writing.new_id, own = writing.new_id(), None, [memory]
        insert_together(
            (_memories, own),
            (_tags, _tags_of(memory, tags)),
            (_scopes, _scopes_of(memory, fields.get("scope_paths", []))),
            *([summary_rows(memory)] if memory.is_active else []),
            (_revisions, [_revision_of(writing, memory, {**fields, **links})]),
        )
        writing.hold(memory)
        # PostgreSQL stores it while its words are taken apart.
        answer_soon()
        tokens, near = _indexed(memory, tags) if memory.is_active else (frozenset(), None)
        writing.touched.append(Touch(None, memory.visibility))
        tell(Written(writing, memory, frozenset(fields), tags=tuple(tags), tokens=tokens, found=near))
    return memory


def _indexed(memory: Memory, tags: Sequence[str]) -> tuple[frozenset[str], Near]:
    """Put a new memory into the index: its words, and what was nearest before. PostgreSQL searches, and then
    indexes while this looks at what was found.
    """
    tokens = document_tokens(memory, tags)
    look = Look.of(memory, tags, tokens, is_new=True)
    look.ask()
    look.search()
    words = index(memory, tokens=tokens, is_new=True, summary_is_kept=True)
    return words, look.near()


def store_change(writing: Writing, memory: Memory, changed: Mapping[str, Any], **notes: Any) -> Memory:
    """Store what changed in a memory: version, time and revision move together.

    `changed` maps field names to new values (already set on the memory, but for tags and scopes);
    `notes` go into the revision alone.
    """
    was = place_before(memory, changed)
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
        _tags.many(_tags_of(memory, changed["tags"]))
    if "scope_paths" in changed:
        memory.scopes.all().delete()
        _scopes.many(_scopes_of(memory, changed["scope_paths"]))
    with unanswered():
        _revisions.many([_revision_of(writing, memory, {**changed, **notes})])
        tokens = index(memory) if _INDEXED & set(changed) else None
        writing.touched.append(Touch(was.visibility, memory.visibility))
        tell(Written(writing, memory, frozenset(changed), was, tokens=tokens))
    return memory


LINK_NAMES = {"supersedes", "related_to", "contradicts", "not_similar", "unlink", "resolves"}


def _says_something_else(memory: Memory, summary: str) -> bool:
    last = last_revision(memory, "summary")
    return last is None or collapsed(last.fields["summary"]) != collapsed(summary)


def last_revision(memory: Memory, field: str) -> Revision | None:
    """The latest revision that set a field. Its values are read whole: SQLite gives a text such as
    `42`, taken out of the JSON by a query, as a number.
    """
    return Revision.objects.filter(memory=memory, fields__has_key=field).order_by("-version").first()


def _tags_of(memory: Memory, names: Sequence[str]) -> list[Tag]:
    return [Tag(memory=memory, name=name, position=n) for n, name in enumerate(names)]


def _scopes_of(memory: Memory, paths: Sequence[str]) -> list[ScopePath]:
    return [ScopePath(memory=memory, path=path, position=n) for n, path in enumerate(paths)]


def _revision_of(writing: Writing, memory: Memory, fields: Mapping[str, Any]) -> Revision:
    actor, context = writing.actor, writing.actor.context
    kept = dict(fields)
    if "parent" in kept:
        kept["parent"] = kept["parent"].number if kept["parent"] else 0
    return Revision(
        memory=memory,
        version=memory.version,
        fields=kept,
        visibility=Visibility(memory.visibility),
        reason=writing.reason,
        actor=actor.user,
        actor_kind=actor.kind,
        token_name=actor.token_name,
        door=actor.door,
        request_digest=writing.request_digest if memory.version == 1 else "",
        review=writing.review,
        created_at=writing.at,
        **context.as_dict(),
    )
