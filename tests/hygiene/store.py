"""An untidy project with something for every rule, made the same on every engine and day."""

from __future__ import annotations

import datetime as dt

from memories.models import Memory, Review
from memories.services import report_commit, revise_memory
from projects.models import Project, User
from tests.factories import DETAILS, MemoryFactory, agent, person, receipt_in

# The day that reports are asked for; everything is written on the day before, or long ago.
DAY = dt.datetime(2026, 3, 12, tzinfo=dt.UTC)
WRITTEN = DAY - dt.timedelta(hours=12)
LONG_AGO = DAY - dt.timedelta(days=200)


def untidy(project: Project, owner: User) -> list[Memory]:
    """Memories by number from 1 on. Written through the services, with times set afterwards."""
    project.critical_target, project.grouping_threshold = 2, 6
    project.save()

    def add(title: str, **given: object) -> Memory:
        return MemoryFactory(project=project, author=owner, title=title, tags=["net"], **given)

    text = {
        "summary": "The API listens on 8080 behind the proxy.",
        "body": "Health checks use it as well, and the old host answers no longer.",
    }
    bag = add("Ports")
    made = [bag, add("Naïve \U0001f600 port", parent=bag, **text), add("Another port", **text)]
    made += [
        add(f"Session {n}", kind="session_summary", summary=f"Session {n}, what was done.") for n in "ab"
    ]
    made += [add("Without a summary"), add("With a long one"), add("Looked at long ago")]
    made += [add(f"Critical thing {n}", weight="critical", summary=f"Critical {n}.") for n in "abcd"]
    made += [add(f"Loose thing {n}", summary=f"Loose, number {n}.") for n in "abc"]
    made += [add("Speaks against", contradicts=[made[-1].number], summary="Something else.")]
    made += [add("The old way", summary="As it was."), add("A decision", kind="decision", summary="Decided.")]
    made += [add("The new way", supersedes=[made[-2].number], summary="As it is.")]
    made += [MemoryFactory(project=project, author=owner, title="Untagged", summary="Nobody finds it.")]
    rule = {"kind": "constraint", "summary": "Only the proxy listens outside.", "scope_paths": ["net"]}
    made += [add("Ports are closed", **rule)]
    made += [add("Garbled", body="Das GerÃ¤t", summary="Wrongly decoded.")]
    _propose(owner, made[0])
    receipt_in(project, owner, summary="Half is done.", unsurfaced_results="Two ports are open.")
    _age(made)
    _commit(project, owner)
    return made


def _propose(owner: User, memory: Memory) -> None:
    """What the owner's agent proposed long ago and nobody decided."""
    Project.objects.filter(pk=memory.project_id).update(review_policy="agents")
    revise_memory(actor=agent(owner), memory=memory, expected_version=1, summary="What listens, and where.")
    Project.objects.filter(pk=memory.project_id).update(review_policy="none")
    memory.project.refresh_from_db()
    Review.objects.update(created_at=LONG_AGO)


def _commit(project: Project, owner: User) -> None:
    """One that came after all was written, as a hook reports it."""
    report_commit(
        actor=agent(owner),
        project=project,
        commit="c0ffee" * 6 + "c0de",
        branch="main",
        paths=["net/proxy.conf", "README.md"],
        committed_at=WRITTEN + dt.timedelta(hours=2),
    )


def _age(made: list[Memory]) -> None:
    from hygiene.models import BagContents
    from hygiene.services.flaws import note_flaws
    from memories.services import Written

    Memory.objects.all().update(
        created_at=WRITTEN, updated_at=WRITTEN, touched_at=WRITTEN, summary_changed_at=WRITTEN
    )
    BagContents.objects.all().update(changed_at=WRITTEN + dt.timedelta(hours=1))
    by_title = {memory.title: memory.pk for memory in made}
    for title, columns in {
        "Session a": {"created_at": LONG_AGO},
        "Session b": {"created_at": LONG_AGO},
        "Without a summary": {"summary": ""},
        "With a long one": {"summary": "Long. " * 60},
        "Looked at long ago": {"touched_at": LONG_AGO},
        "The old way": {"status": "active"},
        "A decision": {"details": {**DETAILS["decision"], "why_chosen": "Because."}},
    }.items():
        Memory.objects.filter(pk=by_title[title]).update(**columns)
    thin = Memory.objects.get(pk=by_title["A decision"])
    note_flaws(Written(None, thin, frozenset({"details"})))  # type: ignore[arg-type]
    project = made[0].project
    project.change_counter += 1000
    Project.objects.filter(pk=project.pk).update(change_counter=project.change_counter)


def reword(memory: Memory, by: User, **given: object) -> Memory:
    """A change by a service, whatever the version."""
    revise_memory(actor=person(by), memory=memory, expected_version=None, **given)
    return Memory.objects.get(pk=memory.pk)
