"""Applying a checked change under the project's lock: create, update, archive, supersede."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from memories.errors import AlreadyStored, BagRule, OnlyItsAuthor
from memories.models import Memory, Origin, Revision, Status, Visibility, Weight
from memories.querysets import MemoryQuerySet
from memories.services import bags, links
from memories.services.changes import Applied, Brought, Change
from memories.services.commits import note_scopes
from memories.services.merging import merge
from memories.services.writing import Writing, duplicate_key, last_revision, store_change, store_new
from memoryhub.kernel.actor import ActorKind
from memoryhub.kernel.compiled import Compiled
from memoryhub.kernel.snapshots import answer_soon
from projects.models import Project

__all__ = ["archive", "create", "merge", "supersede", "update"]

# The same add again from the same session within this time is a retry, not a duplicate.
RETRY_WITHIN = dt.timedelta(hours=1)
_ORIGINS = {ActorKind.AGENT: Origin.AGENT}
_PLAIN = (
    "kind",
    "title",
    "summary",
    "body",
    "details",
    "retrieval_hints",
    "hardness",
    "weight",
    "visibility",
)


def create(writing: Writing, change: Change, fields: dict[str, Any]) -> Applied:
    """A new memory. A retry of the same add answers the first one."""
    author = writing.actor.user
    assert author is not None, "Every memory has an author."
    fields = {"visibility": writing.project.default_visibility, "weight": Weight.NORMAL.value, **fields}
    parent_number = fields.pop("parent", 0)
    memory = Memory(
        project=writing.project, author=author, origin=_ORIGINS.get(writing.actor.kind, Origin.USER)
    )
    moments: dict[str, dt.datetime] = {}
    if change.brought is not None:
        moments = change.brought.moments(writing.at)
        fields |= _as_it_was(memory, change.brought, moments)
    for name in _PLAIN:
        if name in fields:
            setattr(memory, name, fields[name])
    memory.duplicate_key = duplicate_key(memory)
    read_twin = _ask_twin(memory)
    answer_soon()
    # An approved proposal brings that of the call which made it.
    writing.request_digest = writing.request_digest or change.digest()
    twin = read_twin()
    if twin is not None:
        return _retried(writing, change, twin)
    if parent_number:
        memory.parent = writing.load(parent_number)
        bags.check_bag(writing, memory, memory.parent)
    targets = links.load_targets(writing, memory, _links_of(writing, change))
    if memory.parent in targets["supersedes"]:
        raise _replaced_bag(memory)
    new = links.new_links(memory, targets)
    parent = {"parent": memory.parent} if memory.parent else {}
    store_new(writing, memory, {**fields, **parent}, links.told(memory, new), moments)
    links.add_links(writing, memory, new)
    if change.brought is not None:
        note_scopes(memory)
    return Applied(memory, writing.hints)


def _as_it_was(memory: Memory, brought: Brought, moments: Mapping[str, dt.datetime]) -> dict[str, str]:
    """Give a new memory the past that an import brings; what of it its first revision says.

    A uid that is taken, by whatever the actor may not see, is not given twice.
    """
    memory.origin = Origin.IMPORT
    if brought.uid and not Memory.objects.with_uids([brought.uid]).exists():
        memory.uid = uuid.UUID(brought.uid)
    memory.verified_at = moments.get("verified_at")
    if brought.archived is None:
        return {}
    memory.status, memory.archived_at = Status.ARCHIVED, moments["updated_at"]
    memory.archive_reason = brought.archived
    return {"status": Status.ARCHIVED.value}


def _links_of(writing: Writing, change: Change) -> Mapping[str, list[int]]:
    """The links of a new memory: those that are named, and of those that an import brings what is there."""
    brought = change.brought.links if change.brought else {}
    uids = {uid for named in brought.values() for uid in named}
    if not uids:
        return change.links
    rows = writing.seen().with_uids(uids).order_by().values_list("uid", "number")
    known = {str(uid): number for uid, number in rows}
    found = {name: [known[uid] for uid in named if uid in known] for name, named in brought.items()}
    return {name: [*change.links.get(name, []), *found.get(name, [])] for name in {*change.links, *found}}


def _replaced_bag(memory: Memory) -> BagRule:
    assert memory.parent is not None
    sentence = (
        f"#{memory.parent.number} is replaced by this and can't hold it as well. Leave out one of the two."
    )
    return BagRule("bag_is_active", sentence)


def _saying_the_same(project: int, key: str, visibility: str, author: int | None = None) -> MemoryQuerySet:
    # Unordered: SQLite would rather read the project in the order of numbers than by the key.
    found = Memory.objects.exact_duplicates_of(Project(pk=project), key, visibility, author)
    return found.order_by().only("number", "author", "version")


_open_twins = Compiled(lambda project, key, visibility: _saying_the_same(project, key, visibility))
_own_twins = Compiled(lambda project, key, author: _saying_the_same(project, key, Visibility.PRIVATE, author))


def _ask_twin(memory: Memory) -> Callable[[], Memory | None]:
    """Asks for another active memory of the same project and visibility that says exactly the same."""
    key: dict[str, int | str] = {"project": memory.project_id, "key": memory.duplicate_key}
    if memory.is_private:
        asked = _own_twins.ask(**key, author=memory.author_id)
    else:
        asked = _open_twins.ask(**key, visibility=str(memory.visibility))

    def read() -> Memory | None:
        others = [other for other in asked.rows() if other.pk != memory.pk]
        return min(others, key=lambda other: other.number, default=None)

    return read


def _retried(writing: Writing, change: Change, twin: Memory) -> Applied:
    first = Revision.objects.filter(memory=twin, version=1).first()
    session = writing.actor.context.session
    if (
        first is not None
        and session
        and first.session == session
        and first.actor_id == twin.author_id == (writing.actor.user and writing.actor.user.pk)
        and first.request_digest == change.digest()
        and writing.at - first.created_at <= RETRY_WITHIN
    ):
        return Applied(twin, duplicate=True)
    raise AlreadyStored(twin.number)


def update(writing: Writing, change: Change, memory: Memory, fields: dict[str, Any]) -> Memory:
    """Change what is named, leave the rest. Nothing changed: no revision, the same version."""
    changed = _plain_changes(memory, fields)
    _check_visibility(writing, memory, changed)
    for name, value in changed.items():
        if name in _PLAIN:
            setattr(memory, name, value)
    if fields.get("status") == Status.ACTIVE and not memory.is_active:
        changed |= {"status": Status.ACTIVE.value}
        memory.status, memory.archived_at, memory.archive_reason = Status.ACTIVE, None, ""
        if "parent" not in fields:
            _put_back(writing, memory, changed)
    if "parent" in fields:
        _change_parent(writing, memory, fields["parent"], changed)
    elif memory.parent and {"visibility", "weight"} & set(changed):
        _check_stays(writing, memory, memory.parent)
    targets = links.load_targets(writing, memory, change.links)
    ended = links.check_unlink(writing, memory, change.links.get("unlink") or [])
    ended += links.check_unlink(
        writing, memory, change.links.get("resolves") or [], "resolves", links.TYPES["contradicts"]
    )
    _check_successors(writing, memory, changed)
    if memory.parent in targets["supersedes"]:
        _leave_replaced_bag(writing, memory, changed)
    new = links.new_links(memory, targets)
    notes = links.told(memory, {**new, **links.other_ends(writing, memory, ended)})
    if changed or notes:
        _check_duplicate(memory, changed)
        store_change(writing, memory, changed, **notes)
    links.resolve(writing, memory, ended)
    links.add_links(writing, memory, new)
    if "visibility" in changed:
        bags.release_less_visible(writing, memory)
    return memory


def _leave_replaced_bag(writing: Writing, memory: Memory, changed: dict[str, Any]) -> None:
    """A child that replaces its own bag leaves it. Raises BagRule where it is to go in at once."""
    if changed.get("parent"):
        raise _replaced_bag(memory)
    memory.parent = changed["parent"] = None
    writing.say("moved_to_top_level", f"#{memory.number} moved to the top level.", memory.number)


def _check_duplicate(memory: Memory, changed: Mapping[str, Any]) -> None:
    if memory.is_active and {"title", "summary", "body", "visibility", "status"} & set(changed):
        memory.duplicate_key = duplicate_key(memory)
        twin = _ask_twin(memory)()
        if twin is not None:
            raise AlreadyStored(twin.number)


def _plain_changes(memory: Memory, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The named fields whose value differs, in the order of the model."""
    changed = {
        name: fields[name] for name in _PLAIN if name in fields and fields[name] != getattr(memory, name)
    }
    if "tags" in fields and fields["tags"] != memory.tag_names:
        changed["tags"] = fields["tags"]
    if "scope_paths" in fields and fields["scope_paths"] != memory.scope_paths:
        changed["scope_paths"] = fields["scope_paths"]
    return changed


def _check_visibility(writing: Writing, memory: Memory, changed: Mapping[str, Any]) -> None:
    """Only its author makes a memory private. Private memories are moved by nobody else anyway."""
    if changed.get("visibility") != Visibility.PRIVATE:
        return
    if writing.actor.user is None or memory.author_id != writing.actor.user.pk:
        raise OnlyItsAuthor(memory.number)


def _change_parent(writing: Writing, memory: Memory, number: int, changed: dict[str, Any]) -> None:
    """Into a bag, or out of one with 0."""
    parent = writing.load(number) if number else None
    # An active memory that stays where it is: nothing to check but what else changed.
    if (parent and parent.pk) == memory.parent_id and not ({"visibility", "weight"} & set(changed)):
        return
    if parent is not None:
        bags.check_bag(writing, memory, parent)
        bags.release_hidden(writing, memory)
    if (parent and parent.pk) != memory.parent_id:
        memory.parent = parent
        changed["parent"] = parent


def _check_stays(writing: Writing, memory: Memory, parent: Memory) -> None:
    """A child that becomes critical or more visible: whether it may stay in its bag.

    A bag that the actor can't see can't refuse him, but a parent is at least as visible as its
    child, so whoever changes the child sees the bag.
    """
    bags.check_bag(writing, memory, parent)


def _put_back(writing: Writing, memory: Memory, changed: dict[str, Any]) -> None:
    """A restored memory goes back into the bag it left, where the rules still hold; else it says so."""
    # The bag that it left when it went out of use, not one of years before.
    ended = last_revision(memory, "status")
    left = ended.fields.get("left_bag") if ended else None
    if not left:
        return
    bag = writing.seen().numbered(left).first()
    try:
        if bag is None:
            raise BagRule("bag_is_active", "The bag is gone.")
        bags.check_bag(writing, memory, bag)
    except BagRule:
        where = f"its former bag #{left}" if bag is not None else "its former bag"
        writing.say("restored_at_top_level", f"Restored at the top level: {where} can't take it back.")
        return
    bags.release_hidden(writing, memory)
    memory.parent = bag
    changed["parent"] = bag
    writing.say("restored_into_bag", f"Restored into its bag #{left}.", left)


def _check_successors(writing: Writing, memory: Memory, changed: Mapping[str, Any]) -> None:
    """A change of visibility keeps what replaces a memory at least as visible as what it replaced."""
    if "visibility" not in changed:
        return
    for row in memory.links_out.standing().filter(type="supersedes").select_related("target"):
        if writing.can_see(row.target) and not row.target.is_erased:
            links.check_successor(memory, row.target, "visibility")
    for row in memory.links_in.standing().filter(type="supersedes").select_related("source"):
        if writing.can_see(row.source) and not row.source.is_erased:
            links.check_successor(row.source, memory, "visibility")


def archive(writing: Writing, change: Change, memory: Memory, fields: Mapping[str, Any]) -> Memory:
    """Take a memory out of use; it leaves its bag, and its children move to the top level."""
    if memory.status == Status.ARCHIVED:
        return memory
    changed: dict[str, Any] = {"status": Status.ARCHIVED.value, **links.leave_bag(memory)}
    notes = links.note_bag(changed)
    changed.pop("left_bag", None)
    memory.status, memory.archived_at, memory.archive_reason = Status.ARCHIVED, writing.at, writing.reason
    store_change(writing, memory, changed, **notes)
    bags.end_bag(writing, memory)
    return memory


def supersede(writing: Writing, change: Change, memory: Memory, fields: Mapping[str, Any]) -> Memory:
    """Replace a memory by another: the successor keeps its version, the older one leaves recall."""
    assert change.other is not None
    successor = writing.load(change.other)
    links.check_successor(successor, memory, "superseded_by")
    links.check_active(successor, "superseded_by")
    links.link(writing, successor, memory, links.TYPES["supersedes"])
    links.set_superseded(writing, memory, successor, children_follow=change.children_follow)
    return memory
