"""Everything a reader can find out: for asking before and after something that must not show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from memories.models import Memory
from memoryhub.mcp.dispatch import call_tool
from projects.callers import Caller
from projects.models import Project, User
from projects.signing_in import token_of
from tests.access.looking import plain
from tests.admin_client import signed_in, url
from tests.factories import DETAILS
from tests.mcp_client import CONTEXT, Agent
from tests.rest.script import Script

SECRET: dict[str, Any] = {
    "title": "The pelican secret plans",
    "summary": "The pelican plans are kept here, coordinates and ports.",
    "body": "pelican pelican ports 8080",
    "kind": "constraint",
    "hardness": "absolute",
    "details": {"reason": f"pelican: {DETAILS['constraint']['reason']}"},
    "tags": ["pelican-tag", "net"],
    "retrieval_hints": ["pelican coordinates"],
    "scope_paths": ["src/pelican"],
    "visibility": "private",
    "reason": "pelican",
}
# Those that a private memory, its links and its bag could move.
RULES_ASKED = ("stale_bag", "similar_memories", "contradiction", "quality")
QUERIES = ("pelican", "pelican secret plans", "ports", "what listens on 8080?", "coordinates pelican-tag")
FILTERS: list[dict[str, Any]] = [
    {},
    {"status": "any"},
    {"status": "archived"},
    {"status": "superseded"},
    {"kind": "constraint"},
    {"kind": "fact"},
    {"weight": "low"},
    {"visibility": "private"},
    {"visibility": "shared"},
    {"tags": ["pelican-tag"]},
    {"tags": ["pelican-tag", "net"], "tags_match": "any"},
    {"origin": "user"},
    {"author": "author"},
    {"scope": "src/pelican/plans.py"},
    {"hardness": "absolute"},
    {"parent": 0},
    {"since": "2020-01-01"},
    {"before": "2020-01-01"},
    {"limit": 1},
]


def drafts() -> Iterator[dict[str, Any]]:
    """What somebody might be about to write: the very words of what is hidden, the like, and other ones."""
    said = ("title", "summary", "body", "kind", "hardness", "details", "tags")
    hidden = {name: SECRET[name] for name in said}
    yield {**hidden, "visibility": "shared"}
    yield {**hidden, "visibility": "private"}
    yield {**hidden, "title": "Other plans", "summary": "The pelican plans are not kept here."}
    yield {"title": "Ports", "summary": "What listens where.", "kind": "fact", "tags": ["net"]}


def reads(known: list[int], unknown: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of reading tools, with every number and filter there is."""
    yield "project_overview", {}
    for more in ({}, {"budget": 500}, {"focus": "pelican secret plans"}):
        yield "memory_recall", more
    for query in QUERIES:
        for more in ({}, {"tags": ["pelican-tag"]}, {"kinds": ["constraint"]}, {"limit": 1}):
            yield "memory_search", {"query": query, **more}
        yield "memory_search", {"query": query, "detail": "full"}
    for draft in drafts():
        for mode in ("exact", "bounded"):
            yield "memory_suggest", {"draft": draft, "relationship_mode": mode}
    for wanted in FILTERS:
        yield "memory_list", wanted
    for path in ({}, {"path": "src/pelican/plans.py"}, {"budget": 500}):
        yield "memory_rules", path
    for more in ({}, {"limit": 1}, {"rule": "quality"}, {"rule": "similar_memories"}):
        yield "hygiene_report", more
    for more in ({}, {"detail": "full", "memories": 50, "budget": 100_000}, {"budget": 1500}):
        yield "continuity_context", more
    yield "task_list", {"status": "any"}
    for number in (*known, unknown):
        yield "memory_get", {"ref": number}
        yield "task_get", {"ref": number}
        for name in ("parent", "supersedes", "superseded_by"):
            yield "memory_list", {name: number, "status": "any"}


def refused(shared: Memory, unknown: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of writing tools that name a number which isn't there for this reader: all are refused."""
    mine = {"ref": shared.number, "expected_version": shared.version}
    theirs = {"ref": unknown, "expected_version": 1}
    new = {"title": "New", "summary": "What is new.", "kind": "fact"}
    yield "memory_update", {**theirs, "title": "Other"}
    yield "memory_update", {**theirs, "expected_version": 7, "title": "Other"}
    yield "memory_update", {**theirs, "status": "active"}
    yield "memory_archive", theirs
    yield "memory_archive", {**theirs, "superseded_by": shared.number}
    yield "memory_archive", {**theirs, "merge_into": shared.number}
    yield "memory_verify", {"ref": unknown}
    yield "memory_archive", {**mine, "superseded_by": unknown}
    yield "memory_archive", {**mine, "merge_into": unknown}
    yield "memory_update", {**mine, "parent": unknown}
    yield "memory_add", {**new, "parent": unknown}
    for name in ("supersedes", "related_to", "contradicts"):
        yield "memory_update", {**mine, name: [unknown]}
        yield "memory_add", {**new, name: [unknown]}
    yield "memory_update", {**mine, "unlink": [unknown], "reason": "No longer."}
    yield "handoff_write", {"summary": "Over.", "references": {"numbers": [unknown]}}
    yield "handoff_write", {"summary": "Over.", "acknowledges": [unknown]}
    yield "task_create", {"title": "New", "summary": "What is new.", "parent": unknown}
    yield "task_create", {"title": "New", "summary": "What is new.", "blocked_by": [unknown]}
    yield "task_claim", {"ref": unknown}
    yield "task_update", {"ref": unknown, "expected_version": 1, "title": "Other"}


def over_mcp(
    text: str, project: Project, known: list[Memory], unknown: int, path: str = ""
) -> dict[str, str]:
    """What an agent with this token learns: over HTTP at an address, or by the tools themselves."""
    agent, caller = Agent(text, path), _caller(text)
    numbers = [memory.number for memory in known]

    def call(name: str, arguments: dict[str, Any]) -> str:
        if path:
            return agent.call(name, **arguments).text
        return call_tool(caller, name, arguments).text

    learnt: dict[str, str] = {}
    for name, arguments in reads(numbers, unknown):
        learnt[f"{name} {arguments}"] = call(name, arguments)
    for name, arguments in refused(known[0], unknown):
        said = learnt[f"{name} {arguments}"] = call(name, {**arguments, "write_context": CONTEXT})
        assert said.startswith('{"code":"'), (name, arguments, said)
    for uri in ("recall", *(f"memories/{number}" for number in (*numbers, unknown))):
        asked = {"uri": f"memoryhub://projects/{project.slug}/{uri}"}
        learnt[uri] = Agent(text).post("resources/read", asked).content.decode()
    return learnt


def _caller(text: str) -> Caller:
    token = token_of(text)
    return Caller(token.user, token, frozenset(token.rights))


# Where a reading tool answers over REST; what it is asked stands in the query string.
ADDRESSES = {
    "project_overview": "",
    "memory_recall": "/recall",
    "memory_search": "/search",
    "memory_list": "/memories",
    "memory_rules": "/rules",
    "hygiene_report": "/hygiene",
    "continuity_context": "/context",
    "task_list": "/tasks",
}


def over_rest(text: str, project: Project, known: list[Memory], unknown: int) -> dict[str, str]:
    """What a script with this token learns, of what it reads and of what it may not change."""
    script = Script(text, project.slug)
    numbers = [memory.number for memory in known]
    learnt: dict[str, str] = {}
    for name, arguments in reads(numbers, unknown):
        if name in ADDRESSES:
            path = f"{ADDRESSES[name]}?{urlencode(arguments, doseq=True)}"
            learnt[path] = script.get(path).content.decode()
        elif name == "memory_suggest":
            said = script.ask("POST", "/memories/suggest", arguments)
            learnt[f"suggest {arguments}"] = said.content.decode()
    for number in (*numbers, unknown):
        one = (f"/memories/{number}", f"/reviews/R{number}", f"/tasks/{number}", f"/receipts/{number}")
        for path in (*one, f"/memories/{number}/revisions"):
            learnt[path] = script.get(path).content.decode()
    for path in ("/reviews", "/reviews?status=any", "/receipts", "/checkpoints", "/checkpoint"):
        learnt[path] = script.get(path).content.decode()
    moments: tuple[tuple[str, dict[str, Any]], ...] = (
        ("bootstrap", {}),
        ("assemble", {}),
        ("prepare-subagent", {}),
        ("prepare-subagent", {"path": "src/pelican/plans.py"}),
    )
    for name, body in moments:
        said = script.ask("POST", f"/lifecycle/{name}", {**CONTEXT, **body})
        learnt[f"{name} {body}"] = said.content.decode()
    for verb in ("archive", "restore", "verify"):
        said = script.post(f"/memories/{unknown}/{verb}", version=1)
        assert said.status_code in (403, 404), said.content
        learnt[verb] = said.content.decode()
    for body in ({"parent": unknown}, {"related_to": [unknown]}):
        said = script.patch(f"/memories/{known[0].number}", version=known[0].version, **body)
        assert said.status_code in (403, 404, 422), said.content
        learnt[f"patch {body}"] = said.content.decode()
    return learnt


def on_the_web(reader: User, project: Project, known: list[Memory], unknown: int) -> dict[str, str]:
    """What somebody learns from every page about the project."""
    client = signed_in(reader)
    # Home and the side bar show the score as it was last counted: whoever looks at the project counts it.
    client.get(reverse("memories:overview", args=(project.slug,)))
    here = reverse("memories:list", args=(project.slug,))
    pages = ["/", reverse("memories:overview", args=(project.slug,)), here]
    asked: list[dict[str, Any]] = [{"q": query} for query in QUERIES]
    asked += [{name: value} for wanted in FILTERS for name, value in wanted.items()]
    pages += [f"{here}?{urlencode(query, doseq=True)}" for query in asked]
    pages += [f"{here}?{query}" for query in ("place=bags&sort=weight", "place=loose&sort=unverified")]
    hygiene = reverse("hygiene:page", args=(project.slug,))
    pages += [hygiene, *(f"{hygiene}?rule={rule}" for rule in RULES_ASKED)]
    pages += [f"{here}?finding={rule}" for rule in RULES_ASKED]
    pages += [
        reverse(f"projects:{name}", args=(project.slug,)) for name in ("activity", "members", "settings")
    ]
    pages.append(f"{reverse('projects:session', args=(project.slug,))}?id=session-1")
    queue = reverse("memories:reviews", args=(project.slug,))
    pages += [queue, f"{queue}?status=any", f"{queue}?session=session-1&status=any"]
    pages += ["/reviews/", "/reviews/?status=any", "/reviews/?stale=no", f"{queue}?stale=yes"]
    searches = ("/search/", reverse("memories:search", args=(project.slug,)))
    pages += [f"{search}?{urlencode({'q': query})}" for search in searches for query in QUERIES[-2:]]
    for number in (*(memory.number for memory in known), unknown):
        for name in ("memories:memory", "memories:children", "hygiene:bag", "memories:review"):
            pages.append(reverse(name, args=(project.slug, number)))
    new = reverse("memories:new", args=(project.slug,))
    for number in (known[0].number, unknown):
        for name in ("edit", "history"):
            pages.append(reverse(f"memories:{name}", args=(project.slug, number)))
        pages.append(reverse("memories:version", args=(project.slug, number, 1)))
        pages.append(reverse("memories:act", args=(project.slug, number)) + "?do=archive")
        pages.append(f"{new}?parent={number}")
    learnt = {}
    for page in pages:
        response = client.get(page)
        learnt[page] = f"{response.status_code} {plain(response)}"
        if "children" in page or "search/" in page:
            # What htmx fetches has parts that the page hasn't.
            headers = {"HX-Request": "true", "HX-Target": "found-list"}
            response = client.get(page, headers=headers)
            learnt[f"{page} as a fragment"] = f"{response.status_code} {plain(response)}"
    similar = reverse("memories:similar", args=(project.slug,))
    for title in QUERIES[:2]:
        response = client.post(similar, {"title": title, "summary": title, "visibility": "shared"})
        learnt[f"{similar} {title}"] = f"{response.status_code} {plain(response)}"
    response = client.get(
        reverse("memories:finding_choices", args=(project.slug,)), headers={"HX-Request": "true"}
    )
    learnt["counts of findings"] = f"{response.status_code} {plain(response)}"
    chosen = {"numbers": " ".join(str(number) for number in (*(memory.number for memory in known), unknown))}
    several = reverse("memories:several", args=(project.slug,))
    for do, given in (("verify", {}), ("into_bag", {}), ("into_bag", {"how": "show", "bag": QUERIES[0]})):
        response = client.post(several, {"do": do, **chosen, **given})
        learnt[f"several: {do} {given}"] = f"{response.status_code} {plain(response)}"
    return learnt


def in_the_admin(reader: User, known: list[Memory], unknown: int) -> dict[str, str]:
    """What staff learn from the admin, about known rows and one (by id) that isn't there for them."""
    from memories.models import Link, Review, Revision, ScopePath, Tag

    client = signed_in(reader)
    here = url(Memory, "changelist")
    pages = [reverse("admin:index"), here]
    asked = ("q=pelican", "tag=net", "bag=yes", "bag=no", "visibility=shared", "origin=user", f"q={unknown}")
    pages += [f"{here}?{query}" for query in asked]
    for model in (Revision, Review, Link, Tag, ScopePath):
        pages += [url(model, "changelist"), f"{url(model, 'changelist')}?q=pelican"]
        pages.append(url(model, "change", unknown))
    for pk in (*(memory.pk for memory in known), unknown):
        pages += [url(Memory, name, pk) for name in ("change", "history", "delete", "erase")]
        pages.append(f"{url(Revision, 'changelist')}?memory={pk}")
    for model_name, field in (
        ("memory", "parent"),
        ("tag", "memory"),
        ("link", "source"),
        ("revision", "memory"),
    ):
        query = {"app_label": "memories", "model_name": model_name, "field_name": field, "term": ""}
        pages.append(f"{reverse('admin:autocomplete')}?{urlencode(query)}")
    learnt = {}
    for page in pages:
        response = client.get(page)
        # Once read, a message is gone.
        learnt[page] = f"{response.status_code} {plain(response)}"
    return learnt
