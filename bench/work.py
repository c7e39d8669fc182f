"""Work in flight: what the context of a fresh session costs, and a search over all types.

In a hub's environment `python -m bench.work beside SIZE` adds tasks, receipts and a checkpoint to a store of
so many memories, and `python -m bench.work small` makes the project that the context is read of.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bench import queries
from bench.mcp import Agent, read_result
from bench.report import Figure
from bench.servers import USER, hub
from bench.stores import BIG, Words
from bench.timing import Work, interleaved

if TYPE_CHECKING:
    from memoryhub.kernel.actor import Actor
    from projects.models import Project, User
    from tasks.models import Receipt, Task

SIZE, QUICK_SIZE = 10_000, 1_000
# Beside so many memories a tenth of tasks, and a tenth of receipts.
_SHARE = 10
# The project that the context is read of, with texts of 20 KB.
SMALL = "pier"
HELD = {"memories": 50, "tasks": 50, "receipts": 100}
_TEXT = 20_000
_BUDGETS = {"at the defaults": (15_000, {}), "at its largest": (100_000, {"budget": 100_000, **HELD})}
_BATCH = 500


def measure_work(engine: str, *, quick: bool = False) -> list[Figure]:
    """The figures of one engine; `quick` with a tenth of the search's store."""
    size = QUICK_SIZE if quick else SIZE
    with hub(engine) as store:
        token = store.prepare([BIG, SMALL])
        store.run("bench.stores", str(size))
        store.run("bench.work", "beside", str(size))
        store.run("bench.work", "small")
        with store.serve() as server:
            agent = Agent(server.url, token)
            figures = [*_contexts(agent, quick), *_searches(agent, size, quick)]
            agent.close()
    return figures


def _rounds(quick: bool) -> dict[str, int]:
    return {"rounds": 3, "calls": 10} if quick else {"rounds": 9, "calls": 20}


def _contexts(agent: Agent, quick: bool) -> list[Figure]:
    called = {
        name: agent.tool("continuity_context", project=SMALL, **given)
        for name, (_, given) in _BUDGETS.items()
    }
    works: dict[str, Work] = {
        name: lambda message=message: agent.timed(message)  # type: ignore[misc]
        for name, message in called.items()
    }
    taken = interleaved(works, **_rounds(quick))
    figures = []
    for name, message in called.items():
        what = f"continuity_context {name}"
        answer = agent.answer(message)
        shown = json.loads(answer.text)
        wrong = sum(HELD[each] != len(shown[each]) + shown["not_shown"][each] for each in HELD)
        figures += [
            Figure(f"{what}, queries of the call", _asked(agent, message), "", 14, must=True),
            Figure(f"{what}, characters", len(answer.text), "", _BUDGETS[name][0], must=True),
            Figure(f"{what}, lists that aren't accounted for", wrong, "", 0, must=True),
            Figure(f"{what}, p50", taken[name].p50),
            Figure(f"{what}, p95", taken[name].p95),
        ]
    return figures


def _asked(agent: Agent, message: Any) -> int:
    response = agent.send(message, **{queries.ASKED: "1"})
    read_result(response)
    return int(response.headers[queries.SAID.lower()])


def _searches(agent: Agent, size: int, quick: bool) -> list[Figure]:
    words = Words()
    types = {"memories, tasks and receipts": {}, "memories alone": {"types": ["memory"]}}

    def search(given: dict[str, Any]) -> Work:
        ask = lambda: agent.tool("memory_search", project=BIG, query=words.question(), **given)  # noqa: E731
        return lambda: agent.timed(ask())

    taken = interleaved({name: search(given) for name, given in types.items()}, **_rounds(quick))
    p50, p95 = (12, 60) if size >= SIZE else (None, None)
    figures = []
    for name in types:
        what = f"memory_search over {name} beside {size:,}"
        figures += [
            Figure(f"{what}, p50", taken[name].p50, "ms", p50),
            Figure(f"{what}, p95", taken[name].p95, "ms", p95),
        ]
    message = agent.tool("memory_search", project=BIG, query=words.question())
    return [*figures, Figure("memory_search over all types, queries of the call", _asked(agent, message), "")]


# --- In the hub's environment --------------------------------------------------------


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    django.setup()
    from django.db import connection

    from projects.models import Project, User

    author = User.objects.get(username=USER)
    words = Words()
    if sys.argv[1] == "beside":
        project = Project.objects.get(slug=BIG)
        _add_work(project, author, words, int(sys.argv[2]) // _SHARE)
        _save_checkpoint(project, author, words)
    else:
        _fill_small(Project.objects.get(slug=SMALL), author, words)
    if connection.vendor == "postgresql":
        # What autovacuum does in its own time.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def _add_work(project: Project, author: User, words: Words, many: int) -> None:
    """Tasks and receipts in bulk, after the project's last number; texts of a paragraph or two."""
    from django.db import transaction

    for start in range(0, many, _BATCH):
        with transaction.atomic():
            _store(project, author, words, min(_BATCH, many - start))


def _store(project: Project, author: User, words: Words, many: int) -> None:
    from memories.search import index_row
    from tasks.models import Receipt, Task, TaskRevision
    from tasks.search import RECEIPTS, TASKS

    at, first = dt.datetime.now(dt.UTC), project.last_number + 1
    tasks = [
        Task(
            project=project,
            author=author,
            number=first + n,
            description=words.body(n),
            created_at=at,
            updated_at=at,
            **_named(words, n),
        )
        for n in range(many)
    ]
    receipts = [
        Receipt(
            project=project,
            author=author,
            number=first + many + n,
            done=words.text(250),
            next_steps=words.text(40),
            actor_kind="agent",
            door="mcp",
            session="bench",
            **_named(words, n),
        )
        for n in range(many)
    ]
    Task.objects.bulk_create(tasks)
    Receipt.objects.bulk_create(receipts)
    TaskRevision.objects.bulk_create(
        TaskRevision(task=task, version=1, actor=author, actor_kind="agent", door="mcp") for task in tasks
    )
    rows: Sequence[tuple[Any, Sequence[Task | Receipt]]] = ((TASKS, tasks), (RECEIPTS, receipts))
    for searched, made in rows:
        for row in made:
            index_row(searched, row, is_new=True)
    project.last_number += 2 * many
    project.change_counter += 1
    project.save(update_fields=["last_number", "change_counter"])


def _named(words: Words, number: int) -> dict[str, str]:
    return {"title": f"{words.text(7)[:100]} {number}", "summary": words.text(26)[:280]}


def _fill_small(project: Project, author: User, words: Words) -> None:
    """Through the services: the store that the design names."""
    from memories.services import add_memory
    from tasks.services import create_task, write_handoff

    actor = _actor(author)
    text = words.text(_TEXT)[:_TEXT].strip()
    for n in range(HELD["memories"]):
        add_memory(actor=actor, project=project, kind="fact", body=text, **_named(words, n))
    for n in range(HELD["tasks"]):
        create_task(actor=actor, project=project, description=text, **_named(words, n))
    for n in range(HELD["receipts"]):
        write_handoff(actor=actor, project=project, done=text, **_named(words, n))
    _save_checkpoint(project, author, words)


def _save_checkpoint(project: Project, author: User, words: Words) -> None:
    from tasks.services import save_checkpoint

    given = {"objective": words.text(20), "current_step": words.text(20), "next_action": words.text(20)}
    save_checkpoint(actor=_actor(author), project=project, **given)


def _actor(author: User) -> Actor:
    from memoryhub.kernel.actor import Actor, Door, WriteContext

    return Actor(user=author, door=Door.MCP, context=WriteContext(session="bench"))


if __name__ == "__main__":
    main()
