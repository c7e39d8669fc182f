"""Erasing: for a leaked secret or a request to be forgotten. The number stays as a tombstone."""

from __future__ import annotations

from django.db import transaction

from memories.models import Link, Memory, Revision, Status, Weight
from memories.recall.keeping import kept
from memories.search import forget, unindex
from memories.services.bags import end_bag
from memories.services.reviews.erasing import ERASED_TITLE, erase_proposals_of
from memories.services.watching import Was, Written, forget_kept, tell
from memories.services.writing import begin, duplicate_key, finish
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Forbidden
from memoryhub.kernel.traces import wipe_traces
from projects.models import Role


@transaction.atomic
def erase_memory(*, actor: Actor, memory: Memory) -> None:
    """Take a memory's text out of the memory, its revisions, proposals and the index, for good.

    For owners of the project and superusers, in person; an owner erases also a private memory that
    he can't read, by its number. Raises RoleTooLow, Forbidden.
    """
    if actor.is_agent:
        raise Forbidden("An agent can't erase. Ask an owner of the project to do it.")
    writing = begin(actor, memory.project, need=Role.OWNER, memory=memory)
    memory = Memory.objects.select_for_update(of=("self",)).get(pk=memory.pk)
    if memory.is_erased:
        return
    end_bag(writing, memory)
    was = Was(memory.parent_id, memory.visibility, memory.status)
    memory.title, memory.summary, memory.body, memory.archive_reason = ERASED_TITLE, "", "", ""
    memory.details, memory.retrieval_hints, memory.parent = {}, [], None
    memory.status, memory.weight = Status.ARCHIVED, Weight.NORMAL
    memory.erased_at = memory.archived_at = memory.updated_at = memory.touched_at = writing.at
    memory.version += 1
    memory.duplicate_key = duplicate_key(memory)
    memory.save()
    memory.tags.all().delete()
    memory.scopes.all().delete()
    Link.objects.of(memory).delete()
    _forget_reasons(memory)
    erase_proposals_of(writing, memory)
    Revision.objects.filter(memory=memory).update(
        fields={}, reason="", session="", client="", model="", branch="", commit="", request_digest=""
    )
    Revision.objects.create(
        memory=memory,
        version=memory.version,
        fields={"erased": True},
        visibility=memory.visibility,
        actor=actor.user,
        actor_kind=actor.kind,
        door=actor.door,
        created_at=writing.at,
    )
    unindex(memory)
    forget()
    tell(Written(writing, memory, frozenset({"title", "summary", "body", "status", "parent"}), was))
    forget_kept(writing.project)
    finish(writing)
    kept.clear()
    transaction.on_commit(wipe_traces)


def _forget_reasons(memory: Memory) -> None:
    """The reasons of its writes, which stand also in what the same writes changed elsewhere."""
    moments = list(Revision.objects.filter(memory=memory).values_list("created_at", flat=True))
    beside = Revision.objects.filter(memory__project=memory.project_id, created_at__in=moments)
    elsewhere = beside.exclude(memory=memory)
    ended = Memory.objects.filter(pk__in=elsewhere.values("memory"), archived_at__in=moments)
    ended.update(archive_reason="")
    elsewhere.update(reason="")
