"""A small store that shows everything a page can show, written as it would be: by people and agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memories.models import Memory
from memories.services import archive_memory, move_into_bag, revise_memory, verify_memory
from projects.models import Project, Role, User
from tests.factories import MemoryFactory, ProjectFactory, agent, member, person, token_for

MARKDOWN = """\
# How it works

Requests carry *customer tokens*, so **nothing** of a body may reach a log; see `logging/redact.py`.

| Field | Logged |
|---|---|
| `path` | yes |
| `body` | never |

## In code

```python
logger.info("request", extra={"path": request.path})
```

- Structured fields only
- [The incident](https://example.com/incident/12)
- ![A diagram](https://example.com/diagram.png)
"""

# Would run, or break out of its place, in a page that trusted what is stored.
PAYLOADS = (
    "<script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "[x](javascript:window.pwned=1)",
    "{{7*7}}{% load x %}",
    "\u202egnp.exe",
)


@dataclass(frozen=True)
class Store:
    """The project with its people and the memories that journeys name."""

    project: Project
    owner: User
    reader: User
    stranger: User
    bag: Memory
    body: Memory
    public: Memory
    hostile: Memory


def fill() -> Store:
    """Write it all."""
    from tests.factories import UserFactory

    project = ProjectFactory(slug="harbor", name="Harbor API")
    owner, bob = member(project, "alice", Role.OWNER), member(project, "bob")
    reader, stranger = member(project, "rick", Role.READER), UserFactory(username="charlie")
    MemoryFactory(project=ProjectFactory(slug="lighthouse", name="Lighthouse"), title="Elsewhere")
    token_for(owner, project), token_for(bob, project)
    made = _facts(project, bob)
    return Store(
        project,
        owner,
        reader,
        stranger,
        _bag(project, owner),
        _body(project, owner),
        made["public"],
        _hostile(project, bob),
    )


def _facts(project: Project, bob: User) -> dict[str, Memory]:
    def add(title: str, summary: str, **given: Any) -> Memory:
        return MemoryFactory(project=project, title=title, summary=summary, **given)

    add(
        "Migrations are additive",
        "A column is dropped one release after its last reader.",
        kind="constraint",
        weight="critical",
        scope_paths=["db/migrations"],
    )
    older = add("Retries", "Every call retries five times.", kind="decision", tags=["http"])
    newer = add(
        "Retry policy",
        "Idempotent calls retry three times with jitter; others never.",
        kind="decision",
        tags=["http", "resilience"],
        actor=agent(bob, "7f3c-retry"),
        supersedes=[older.number],
        reason="Five retries doubled the load of an outage.",
    )
    add("Old release notes", "What shipped in spring.", kind="note", weight="low")
    gone = add("Staging password reset", "How it was done by hand.", kind="pipeline")
    archive_memory(actor=person(bob), memory=gone, expected_version=1, reason="It is automatic now.")
    add(
        "Release",
        "Tag, build, smoke, promote; the order matters because the smoke test needs the tag.",
        kind="pipeline",
        tags=["release"],
        details={
            "purpose": "Brings a change to production in an order that can be undone.",
            "when_to_invoke": "When `main` is green and somebody can watch for an **hour**.",
            "steps": [
                {"does": "Tag the commit with `make tag`."},
                {"does": "Build and run the smoke tests.", "depends_on": "The tag."},
                {"does": "Promote.", "depends_on": "A green smoke test."},
            ],
        },
    )
    add("My own note", "Only I see this.", kind="note", visibility="private")
    public = add(
        "How we name branches",
        "A kind, a slash, a few words.",
        kind="preference",
        visibility="public",
        tags=["git"],
    )
    add("Relay", "Staging shares the production mail relay.", related_to=[newer.number], author=bob)
    return {"public": public}


def _bag(project: Project, owner: User) -> Memory:
    bag = MemoryFactory(
        project=project, title="Deployment", summary="IIS web deploy and hosting.", tags=["deploy"]
    )
    for title in ("Data Protection keys", "App_Data survives a deploy", "Migrations run before the swap"):
        child = MemoryFactory(project=project, title=title, summary=f"What to know: {title.lower()}.")
        move_into_bag(actor=person(owner), memory=child, bag=bag, expected_version=1)
    return Memory.objects.get(pk=bag.pk)


def _body(project: Project, owner: User) -> Memory:
    memory = MemoryFactory(
        project=project,
        title="Never log request bodies",
        summary="They carry customer tokens; redaction is not enough.",
        body=MARKDOWN,
        kind="constraint",
        weight="critical",
        retrieval_hints=["logging of payloads", "redaction"],
        scope_paths=["api/middleware", "logging"],
        actor=agent(owner, "a81e-session"),
    )
    revise_memory(
        actor=person(owner),
        memory=memory,
        expected_version=1,
        reason="Say what to do instead.",
        summary="They carry customer tokens; redaction is not enough. Log the path.",
        tags=["logging", "privacy"],
        body=MARKDOWN.replace("Structured fields only", "Only structured fields, never whole objects"),
    )
    return verify_memory(actor=person(owner), memory=memory)


def _hostile(project: Project, bob: User) -> Memory:
    script, image, link, template, mark = PAYLOADS
    memory = MemoryFactory(
        project=project,
        author=bob,
        title=f"Hostile {image}{mark}",
        summary=f"It says {script} and {image}{mark}",
        body="\n\n".join([*PAYLOADS, "[y](data:text/html,<script>window.pwned=1</script>)", "x" * 400]),
        kind="decision",
        retrieval_hints=[script, image],
        details={
            "problem": f"Two services wrote the same table and {image} {link}",
            "why_chosen": f"One writer is simpler to reason about than two and a lock. {script} {template}",
        },
        actor=agent(bob, image[:60]),
        reason=f"Because {image}",
    )
    revise_memory(
        actor=person(bob),
        memory=memory,
        expected_version=1,
        summary=f"It says {script} no more",
        reason=script,
    )
    return Memory.objects.get(pk=memory.pk)
