"""The agent's door to memories. Each tool checks its input, calls one service, and answers."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memories.errors import NoSuchMemory
from memories.in_full import FULL_BUDGET, FULL_BUDGET_MAX, FULL_BUDGET_MIN, packed
from memories.listing import ANY, PAGE_DEFAULT, PAGE_MAX, MemoryFilter, list_memories
from memories.models import Hardness, Kind, Memory, Origin, Review, Status, Visibility, Weight
from memories.numbered import find_memory, numbered
from memories.overview import overview_of, overview_of_all
from memories.presenting import row, when, written
from memories.recall import BUDGET_MAX, BUDGET_MIN, RULES_BUDGET, recall, rules
from memories.reviews.presenting import waiting
from memories.reviews.waiting import Fits, ask_creates, fitting, in_list, in_search
from memories.search import QUERY_MAX_LENGTH, SEARCHED_TYPES, SearchFilter, search_memories
from memories.services import (
    add_memory,
    archive_memory,
    check_fields,
    merge_memories,
    revise_memory,
    supersede_memory,
    verify_memory,
)
from memories.wording import START
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import (
    Argument,
    Choice,
    Context,
    Count,
    Details,
    Flag,
    Moment,
    Number,
    Numbers,
    Text,
    Version,
    Words,
)
from memoryhub.kernel.compiled import Asked
from memoryhub.kernel.errors import Invalid, Problems
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.tools import Right, tool
from projects.callers import Caller

_KINDS = tuple(Kind.values)
_WEIGHTS = tuple(Weight.values)
_VISIBILITIES = tuple(Visibility.values)
_HARDNESSES = tuple(Hardness.values)
_SUMMARY = "Plain text: what happened and why it matters"
_CURSOR = Argument()


def the_memory(caller: Caller, number: int) -> Memory:
    """The memory of the call's project with this number. Raises NoSuchMemory."""
    memory = find_memory(caller.project, caller.user, number)
    if memory is None:
        raise NoSuchMemory(number)
    return memory


@tool(
    "project_overview",
    "What a project holds: counts, settings and how to work with it. Without a project: all you reach.",
    needs_project=False,
)
def project_overview(caller: Caller) -> dict[str, Any]:
    with read_snapshot():
        if caller.has_project:
            return overview_of(caller.project, caller.user)
        return overview_of_all(caller)


@tool(
    "memory_recall",
    f"What the project knows, one line a memory, within a budget of characters. {START}",
    {
        "budget": Count(least=BUDGET_MIN, most=BUDGET_MAX),
        "focus": Text("What you will work on: moves fitting memories ahead"),
    },
)
def memory_recall(caller: Caller, budget: int | None = None, focus: str = "") -> str:
    _check_length("focus", focus)
    return recall(caller.project, caller.user, budget=budget, focus=focus).text


@tool(
    "memory_search",
    "Ranked search of memories, tasks and receipts, by words or a whole question. Call it before you decide "
    "or investigate. no_confident_match: probably nothing relevant is known.",
    {
        "query": Text(required=True),
        "types": Words(options=SEARCHED_TYPES),
        "kinds": Words("Memories of these alone", options=_KINDS),
        "tags": Words(),
        "tags_match": Choice(options=("all", ANY)),
        "path": Argument("Only constraints covering it"),
        "since": Moment("Date, or date-time with zone"),
        "before": Moment(),
        "include_superseded": Flag(),
        "detail": Choice("full: whole entries, then linked ones", options=("full",)),
        "related": Flag("false: no linked ones"),
        "budget": Count(least=FULL_BUDGET_MIN, most=FULL_BUDGET_MAX),
        "limit": Count(most=PAGE_MAX),
        "cursor": _CURSOR,
    },
)
def memory_search(
    caller: Caller,
    query: str,
    detail: str = "",
    related: bool = True,
    budget: int = FULL_BUDGET,
    limit: int = PAGE_DEFAULT,
    cursor: str = "",
    **wanted: Any,
) -> dict[str, Any]:
    _check_length("query", query)
    narrowed = SearchFilter(**wanted)
    with read_snapshot(ahead=True):
        mine = None if cursor else ask_creates(caller.project, caller.user)
        found = search_memories(caller.project, caller.user, query, narrowed, limit=limit, cursor=cursor)
        pending = _pending(mine, in_search(query, narrowed)) if mine else {}
        if detail:
            return (
                found.answer([]) | packed(found.items, caller.user, budget=budget, related=related) | pending
            )
    return found.answer(found.rows) | pending


@tool(
    "memory_list",
    "Exact list of memories, newest first, all filters ANDed. Pages through everything.",
    {
        "kind": Choice(options=_KINDS, listed=False),
        "status": Choice("active unless given", options=(*Status.values, ANY)),
        "weight": Choice(options=_WEIGHTS),
        "visibility": Choice(options=_VISIBILITIES, listed=False),
        "tags": Words(),
        "tags_match": Choice(options=("all", ANY)),
        "origin": Choice(options=tuple(Origin.values)),
        "author": Argument(),
        "scope": Argument("Path that it covers"),
        "hardness": Choice(options=_HARDNESSES, listed=False),
        "parent": Number("Bag; 0: top level", or_zero=True),
        "supersedes": Number(),
        "superseded_by": Number(),
        "since": Moment(),
        "before": Moment(),
        "limit": Count(most=PAGE_MAX),
        "cursor": _CURSOR,
    },
)
def memory_list(caller: Caller, limit: int = PAGE_DEFAULT, cursor: str = "", **wanted: Any) -> dict[str, Any]:
    wanted.setdefault("status", Status.ACTIVE.value)
    narrowed = MemoryFilter(**wanted)
    with read_snapshot():
        mine = None if cursor else ask_creates(caller.project, caller.user)
        page = list_memories(caller.project, caller.user, narrowed, limit=limit, cursor=cursor)
        pending = _pending(mine, in_list(narrowed)) if mine else {}
    return page.answer([row(memory) for memory in page.items]) | pending


def _pending(mine: Asked[Review], fits: Fits) -> dict[str, Any]:
    """The caller's own new memories that wait for a reviewer: beside the items, not among them."""
    reviews = fitting(mine, fits)
    return {"pending": [waiting(review) for review in reviews]} if reviews else {}


@tool(
    "memory_get",
    "Whatever a number names, in full with its version; of a bag also the children, paged.",
    {
        "ref": Number(required=True),
        "cursor": _CURSOR,
    },
)
def memory_get(caller: Caller, ref: int, cursor: str = "") -> dict[str, Any]:
    return numbered(caller.project, caller.user, ref, cursor=cursor)


_DETAILS = (
    "decision: problem (40+ characters), why_chosen (60+), alternatives, what_we_tried, tradeoffs. "
    "constraint: reason (40+), triggering_incident. "
    "pipeline: purpose, when_to_invoke, steps (list of {does, depends_on})"
)
_FIELDS: dict[str, Argument] = {
    "title": Text(required=True, most=Memory.TITLE_MAX_LENGTH),
    "summary": Text(_SUMMARY, required=True, least=1, most=Memory.SUMMARY_MAX_LENGTH),
    "body": Text("Markdown"),
    "kind": Choice(required=True, options=_KINDS),
    "details": Details(_DETAILS),
    "tags": Words("a-z, 0-9, hyphens; at most 5"),
    "retrieval_hints": Words("Other words to be found by"),
    "scope_paths": Words("Paths that a constraint covers"),
    "hardness": Choice("Of a constraint", options=_HARDNESSES),
    "weight": Choice("critical: read by every session; low: found by search", options=_WEIGHTS),
    "visibility": Choice(options=_VISIBILITIES),
    "parent": Number("Number of its bag", or_zero=True),
    "supersedes": Numbers("Numbers that this replaces"),
    "related_to": Numbers(),
    "contradicts": Numbers(),
}
# Said once, by memory_add: every schema costs an agent before it has done any work.
_CHANGES: dict[str, Argument] = {
    **{name: argument.bare() for name, argument in _FIELDS.items()},
    "details": Details("Merged by key"),
    "parent": Number("0: out of its bag", or_zero=True),
}
_REASON = Text("Why")


def _check_new(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    given = {name: value for name, value in values.items() if name != "write_context"}
    check_fields(context=values.get("write_context") or WriteContext(), problems=problems, **given)


def _check_update(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    if values.get("ref"):
        own = ("ref", "expected_version", "write_context")
        given = {name: value for name, value in values.items() if name not in own}
        context = values.get("write_context") or WriteContext()
        check_fields(context=context, problems=problems, memory=the_memory(caller, values["ref"]), **given)


@tool(
    "memory_add",
    "Store what the project should know after this session. Search first: update what is there already.",
    {
        **_FIELDS,
        "reason": _REASON,
        "write_context": Context("session: one id of yours for the whole session"),
    },
    right=Right.WRITE,
    check=_check_new,
)
def memory_add(caller: Caller, write_context: WriteContext, **given: Any) -> dict[str, Any]:
    return written(add_memory(actor=caller.actor(write_context), project=caller.project, **given))


@tool(
    "memory_update",
    "Change the named fields, the rest stays. Takes memory_add's fields; status active restores.",
    {
        "ref": Number(required=True),
        "expected_version": Version("The version you read", required=True),
        **_CHANGES,
        "status": Choice(options=(Status.ACTIVE.value,)),
        "unlink": Numbers("Ends links, also a contradiction; needs a reason"),
        "reason": _REASON.bare(),
        "write_context": Context(),
    },
    right=Right.WRITE,
    check=_check_update,
)
def memory_update(
    caller: Caller, ref: int, expected_version: int, write_context: WriteContext, **given: Any
) -> dict[str, Any]:
    memory = the_memory(caller, ref)
    actor = caller.actor(write_context)
    return written(revise_memory(actor=actor, memory=memory, expected_version=expected_version, **given))


@tool(
    "memory_archive",
    "Take a memory out of use, keeping its text: alone, replaced by another, or merged into one of its kind.",
    {
        "ref": Number(required=True),
        "expected_version": Version(required=True),
        "reason": _REASON.bare(),
        "superseded_by": Number(),
        "merge_into": Number(),
        "write_context": Context(),
    },
    right=Right.WRITE,
    destructive=True,
)
def memory_archive(
    caller: Caller,
    ref: int,
    expected_version: int,
    write_context: WriteContext,
    reason: str = "",
    superseded_by: int | None = None,
    merge_into: int | None = None,
) -> dict[str, Any]:
    if superseded_by and merge_into:
        raise Invalid(fields={"merge_into": "Name either a successor or a survivor, not both."})
    memory, actor = the_memory(caller, ref), caller.actor(write_context)
    same: dict[str, Any] = {
        "actor": actor,
        "memory": memory,
        "expected_version": expected_version,
        "reason": reason,
    }
    if superseded_by:
        return written(supersede_memory(successor=superseded_by, **same))
    if merge_into:
        return written(merge_memories(survivor=merge_into, **same))
    return written(archive_memory(**same))


@tool(
    "memory_verify",
    "Say that a memory is still true, when you saw that it is.",
    {
        "ref": Number(required=True),
        "write_context": Context(session_alone=True),
    },
    right=Right.WRITE,
)
def memory_verify(caller: Caller, ref: int, write_context: WriteContext) -> dict[str, Any]:
    memory = verify_memory(actor=caller.actor(write_context), memory=the_memory(caller, ref))
    verified: dt.datetime | None = memory.verified_at
    return {
        "result": "applied",
        "number": memory.number,
        "version": memory.version,
        "verified_at": when(verified),
    }


@tool(
    "memory_rules",
    "Constraints, absolute ones first: all, or those covering the path you will change.",
    {
        "path": Argument(),
        "budget": Count(least=BUDGET_MIN, most=RULES_BUDGET),
    },
)
def memory_rules(caller: Caller, path: str = "", budget: int = RULES_BUDGET) -> str:
    return rules(caller.project, caller.user, path=path, budget=budget).text


def _check_length(argument: str, text: str) -> None:
    if len(text) > QUERY_MAX_LENGTH:
        sentence = f"Has {len(text)} characters; at most {QUERY_MAX_LENGTH} are allowed. Shorten it."
        raise Invalid(fields={argument: sentence})
