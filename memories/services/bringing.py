"""Memories that another store held before: they keep their day, and whatever summary they had.

What is written now is held to the rules of writers; what was written then is kept as it came, and
hygiene says what is wrong with it.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import transaction

from memories.keys import duplicate_key
from memories.models import Memory, Origin, Revision
from memories.search import index
from memories.services.changes import Applied
from memories.services.commits import note_scopes
from memories.services.verbs import add_memory
from memories.services.watching import Written, place_before, tell
from memories.services.writing import begin, finish
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import Forbidden, Invalid
from memoryhub.kernel.text import SUMMARY_MAX_LENGTH, summary_problem, text_problem
from projects.models import Project

_STAND_IN = "Kept as it came."


@transaction.atomic
def bring_memory(
    *, actor: Actor, project: Project, at: dt.datetime, summary: str = "", reason: str = "", **given: Any
) -> Memory:
    """Store a memory as it was written at `at`, of origin import; only the operator does that.

    Its summary may be missing or over the limit; all else is as `add_memory` takes it. Raises Forbidden
    at another door than the command line, and what `add_memory` raises.
    """
    if actor.door is not Door.COMMAND:
        raise Forbidden("Only the operator's commands bring memories with a past. Add a new one instead.")
    as_it_came = not summary or len(summary) > SUMMARY_MAX_LENGTH
    if as_it_came and (problem := text_problem(summary, most=Memory.BODY_MAX_LENGTH, one_line=True)):
        raise Invalid(fields={"summary": problem})
    written = _STAND_IN if as_it_came and summary_problem(summary) else summary
    result = add_memory(actor=actor, project=project, reason=reason, summary=written, **given)
    assert isinstance(result, Applied), "What the operator writes is applied at once."
    memory = Memory.objects.get(pk=result.memory.pk)
    first = Revision.objects.get(memory=memory, version=1)
    memory.origin = Origin.IMPORT
    memory.created_at = memory.updated_at = memory.touched_at = memory.summary_changed_at = at
    first.created_at = at
    if written != summary:
        memory.summary, first.fields = summary, {**first.fields, "summary": summary}
    memory.duplicate_key = duplicate_key(memory)
    memory.save()
    first.save(update_fields=["created_at", "fields"])
    if written != summary:
        writing = begin(actor, project, reason)
        index(memory)
        tell(Written(writing, memory, frozenset({"summary"}), place_before(memory, {})))
        finish(writing)
    note_scopes(memory)
    return memory
