"""What a hygiene report costs in a large untidy project: queries inside, milliseconds over HTTP.

`python -m bench.hygiene fill` and `python -m bench.hygiene count` in a hub's environment: the first makes
10,000 memories with 300 bags and 2,000 findings or more, in bulk; the second counts queries.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
import statistics
import sys
from typing import TYPE_CHECKING, Any

from bench.mcp import CONTEXT, Agent
from bench.queries import is_query
from bench.report import Figure
from bench.servers import USER, hub
from bench.stores import BIG, Words

if TYPE_CHECKING:
    from memories.models import Memory
    from projects.models import Project, User

MEMORIES, BAGS, FINDINGS = 10_000, 300, 2_000
# Besides the bags, which are all stale: a fifth each of five other rules.
_EACH = (FINDINGS - BAGS) // 5
_QUICK_SHARE = 10
_CALLS = 15


def measure_hygiene(engine: str, *, quick: bool = False) -> list[Figure]:
    """The figures of one engine; `quick` with a tenth of everything."""
    share = _QUICK_SHARE if quick else 1
    with hub(engine) as store:
        token = store.prepare([BIG])
        store.run("bench.hygiene", "fill", str(share))
        counted = json.loads(store.run("bench.hygiene", "count"))
        with store.serve() as server:
            agent = Agent(server.url, token)
            computed, unchanged = _timed(agent)
            agent.close()
    size = f"{counted['memories']:,}"
    return [
        Figure(f"hygiene at {size}, bags", counted["bags"], ""),
        Figure(f"hygiene at {size}, findings", counted["findings"], "", FINDINGS // share, at_least=True),
        Figure(f"hygiene at {size}, queries computed", counted["computed"], "", 25, must=True),
        Figure(f"hygiene at {size}, queries unchanged", counted["unchanged"], "", 1, must=True),
        Figure(f"hygiene_report at {size}, computed after a write, p50", computed),
        Figure(f"hygiene_report at {size}, unchanged, p50", unchanged),
    ]


def _timed(agent: Agent) -> tuple[float, float]:
    """Medians over HTTP: right after a write, and once more with nothing written between."""
    words = Words()
    computed, unchanged = [], []
    for number in range(_CALLS):
        fields = words.memory(1) | {"title": f"Measured {number}"}
        agent.timed(agent.tool("memory_add", project=BIG, **fields, write_context=CONTEXT))
        report = agent.tool("hygiene_report", project=BIG)
        computed.append(agent.timed(report))
        unchanged.append(agent.timed(report))
    return statistics.median(computed), statistics.median(unchanged)


# --- In the hub's environment --------------------------------------------------------


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    django.setup()
    if sys.argv[1] == "fill":
        _fill(int(sys.argv[2]))
    else:
        json.dump(_count(), sys.stdout)


def _count() -> dict[str, int]:
    """How many queries a computed and an unchanged report take, and what it is about."""
    from django.db import connection

    from hygiene.listing import findings_of
    from memories.models import Memory
    from projects.models import Project, User

    project, reader = Project.objects.get(slug=BIG), User.objects.get(username=USER)

    def queries() -> int:
        seen: list[str] = []

        def note(execute: Any, sql: str, *rest: Any) -> Any:
            seen.append(sql)
            return execute(sql, *rest)

        with connection.execute_wrapper(note):
            findings_of(project, reader)
        return sum(map(is_query, seen))

    computed, unchanged = queries(), queries()
    return {
        "computed": computed,
        "unchanged": unchanged,
        "memories": Memory.objects.in_project(project).count(),
        "bags": Memory.objects.in_project(project).bags_for_staff().count(),
        "findings": findings_of(project, reader).total,
    }


def _fill(share: int) -> None:
    from django.db import connection, transaction

    from projects.models import Project, User

    with transaction.atomic():
        _untidy(Project.objects.get(slug=BIG), User.objects.get(username=USER), share)
    if connection.vendor == "postgresql":
        # What autovacuum does in its own time.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def _untidy(project: Project, author: User, share: int) -> None:
    """Bags first, all stale; then what is wrong alone; then what is held by the bags and right."""
    from hygiene.models import BagContents, SimilarPair
    from memories.models import Link, Memory, Tag

    bags, each, many = BAGS // share, _EACH // share, MEMORIES // share
    now = dt.datetime.now(dt.UTC)
    words = Words()
    made: list[Memory] = []
    for position in range(many):
        fields = {
            "kind": "fact",
            "title": f"{words.text(7)[:100]} {position}",
            "summary": words.text(26)[:280],
            "body": words.text(40),
            "touched_at": now,
            **_wrong(position - bags, each, now),
        }
        memory = Memory(project=project, number=position + 1, author=author, origin="agent", **fields)
        made.append(memory)
    for memory in made[:bags]:
        memory.summary_changed_at = now - dt.timedelta(days=2)
    alone = bags + 2 * each
    Memory.objects.bulk_create(made[:bags], batch_size=500)
    for position, memory in enumerate(made[alone:]):
        memory.parent = made[position % bags]
    Memory.objects.bulk_create(made[bags:], batch_size=500)
    Tag.objects.bulk_create(
        [
            Tag(memory=memory, name=f"topic-{position % 97}", position=0)
            for position, memory in enumerate(made)
        ],
        batch_size=1000,
    )
    changed = now - dt.timedelta(days=1)
    BagContents.objects.bulk_create(BagContents(bag=bag, changed_at=changed) for bag in made[:bags])
    pairs = list(itertools.pairwise(made[-each - 1 :]))
    SimilarPair.objects.bulk_create(SimilarPair(first=one, second=two) for one, two in pairs)
    Link.objects.bulk_create(Link(source=one, target=two, type="contradicts") for one, two in pairs)
    project.last_number = project.change_counter = many
    project.save(update_fields=["last_number", "change_counter"])


def _wrong(place: int, each: int, now: dt.datetime) -> dict[str, Any]:
    """What is wrong with the memory at a place after the bags."""
    if 0 <= place < each:
        return {"kind": "session_summary", "created_at": now - dt.timedelta(days=400)}
    if place < 2 * each:
        return {"touched_at": now - dt.timedelta(days=800)} if place >= 0 else {}
    if place < 3 * each:
        return {"summary": "Longer than a summary may be. " * 12}
    return {"summary": ""} if place < 4 * each else {}


if __name__ == "__main__":
    main()
