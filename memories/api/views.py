"""Each address with the tools that answer there. What a tool takes and refuses is in `memories.tools`."""

from __future__ import annotations

from typing import Any

from memories import tools_suggest  # noqa: F401 - declares the tool that is named here
from memories.api import shapes
from memories.listing import PAGE_DEFAULT, PAGE_MAX
from memories.models import Status
from memories.numbered import memory_in_full
from memories.overview import overview_of_all
from memories.recall import scoped_rules
from memories.revisions import revisions_of
from memories.tools import the_memory
from memoryhub.kernel.arguments import Argument, Arguments, Count, Number
from memoryhub.kernel.rest import endpoint
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.tools import Right, Tool
from projects.callers import Caller
from projects.rest import ApiView

OF_MEMORY = {"number": "ref"}
WHY = ("reason", "write_context")


def _projects(caller: Caller) -> dict[str, Any]:
    with read_snapshot():
        return overview_of_all(caller)


def _memory(caller: Caller, ref: int, cursor: str = "") -> dict[str, Any]:
    with read_snapshot():
        return memory_in_full(the_memory(caller, ref), caller.user, cursor)


def _revisions(caller: Caller, ref: int, limit: int = PAGE_DEFAULT, cursor: str = "") -> dict[str, Any]:
    return revisions_of(the_memory(caller, ref), caller.user, limit=limit, cursor=cursor)


# What this door alone has: agents get the first by leaving out `project`, and people read history on pages.
_PROJECT_LIST = Tool(
    "project_list", "The projects that you reach.", _projects, Right.READ, Arguments({}), False, False
)
# Agents get whatever a number names; an address has what it is named after.
_MEMORY_GET = Tool(
    "memory_get",
    "A memory in full with its version; of a bag also the children, paged.",
    _memory,
    Right.READ,
    Arguments({"ref": Number(required=True), "cursor": Argument()}),
    True,
    False,
)
_REVISION_LIST = Tool(
    "revision_list",
    "What a memory was made and changed to, by whom and why, newest first: the revisions that you may see.",
    _revisions,
    Right.READ,
    Arguments({"ref": Number(required=True), "limit": Count(most=PAGE_MAX), "cursor": Argument()}),
    True,
    False,
)
# Agents ask for the rules of a path; a hook keeps them all, and asks nothing at an edit.
_SCOPED_RULES = Tool(
    "rule_list",
    "Constraints with the paths that they cover, absolute ones first, for hooks to keep beside a session.",
    lambda caller: scoped_rules(caller.project, caller.user),
    Right.READ,
    Arguments({}),
    True,
    False,
)


class ProjectList(ApiView):
    get = endpoint(_PROJECT_LIST, shapes.PROJECTS)


class Overview(ApiView):
    get = endpoint("project_overview", shapes.OVERVIEW, "What the project holds, its settings and its guide.")


class Recall(ApiView):
    get = endpoint("memory_recall", None)


class Rules(ApiView):
    get = endpoint("memory_rules", None)


class ScopedRules(ApiView):
    get = endpoint(_SCOPED_RULES, shapes.SCOPED_RULES)


class Search(ApiView):
    get = endpoint("memory_search", shapes.FOUND)


class MemoryList(ApiView):
    get = endpoint("memory_list", shapes.MEMORY_PAGE)
    post = endpoint("memory_add", shapes.WRITTEN, creates=True, of_version=True, waits=True)


class Suggest(ApiView):
    post = endpoint("memory_suggest", shapes.SUGGESTED)


class OneMemory(ApiView):
    get = endpoint(_MEMORY_GET, shapes.MEMORY, path=OF_MEMORY, of_version=True)
    patch = endpoint(
        "memory_update", shapes.WRITTEN, path=OF_MEMORY, versioned=True, of_version=True, waits=True
    )


class Archive(ApiView):
    post = endpoint(
        "memory_archive", shapes.WRITTEN, path=OF_MEMORY, versioned=True, of_version=True, waits=True
    )


class Restore(ApiView):
    post = endpoint(
        "memory_update",
        shapes.WRITTEN,
        "Make a memory active again, back in its bag where the rules still hold.",
        name="memory_restore",
        path=OF_MEMORY,
        fixed={"status": Status.ACTIVE.value},
        takes=WHY,
        versioned=True,
        of_version=True,
        waits=True,
    )


class Verify(ApiView):
    post = endpoint("memory_verify", shapes.VERIFIED, path=OF_MEMORY, of_version=True)


class Revisions(ApiView):
    get = endpoint(_REVISION_LIST, shapes.REVISIONS, path=OF_MEMORY)
