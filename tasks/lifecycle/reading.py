"""The moments that only read: whether there is work to go on with, and what is put before a session of it."""

from __future__ import annotations

import datetime as dt

from django.utils import timezone

from memories.recall import rules
from memories.recall.reading import start_of_day
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.text import in_one_line, shortened
from projects.models import Project, User
from tasks.continuity.losses import rows_lost
from tasks.continuity.snapshot import NARROWER, NONE, WIDTH, State, snapshot_of, state_of
from tasks.lifecycle.done import Did, Done
from tasks.models import Checkpoint
from tasks.placeholders import is_placeholder
from tasks.services.checks import check_stream

# Characters. At the least the narrowest snapshot fits.
SNAPSHOT_BUDGET, SNAPSHOT_BUDGET_MIN, SNAPSHOT_BUDGET_MAX = 1200, 400, 4000
SEED_MAX_LENGTH = 2000
_SEED_LINE = 300
_NOT_TO_GO_ON = {
    State.NONE: "There is no checkpoint of this stream.",
    State.IDLE: "Nothing is being worked on.",
    State.STALE: "The checkpoint is stale: it is not put before a session.",
}


def bootstrap(project: Project, reader: User, *, stream: str, at: dt.datetime | None = None) -> Done:
    """Say whether there is something to recover, of when, at which version. Raises Invalid for the stream."""
    there, state = _current(project, reader, stream, at)
    lost = len(rows_lost(there)[0]) if there else 0
    recover = state in (State.ACTIVE, State.STALE) or bool(lost)
    more = {"state": state.value, "recover": recover, **({"lost": lost} if lost else {})}
    message = _NOT_TO_GO_ON.get(state, "There is work to go on with.")
    if lost:
        message += " A compaction lost something: continuity_context tells what."
    return Done(stream, Did.FOUND if recover else Did.NOTHING, message, there, True, more)


def assemble(
    project: Project,
    reader: User,
    *,
    stream: str,
    budget: int = SNAPSHOT_BUDGET,
    at: dt.datetime | None = None,
) -> Done:
    """The snapshot to put before a session, within `budget` characters (400 to 4,000).

    Nothing when the stream is idle or stale. Raises Invalid for the stream.
    """
    there, state = _current(project, reader, stream, at)
    if there is None or state is not State.ACTIVE:
        return Done(stream, Did.NOTHING, _NOT_TO_GO_ON[state], there, True, {"state": state.value})
    texts = (snapshot_of(there, reader, width) for width in (WIDTH, *NARROWER))
    snapshot = next((text for text in texts if len(text) <= budget), "")
    if not snapshot:
        message = f"The snapshot doesn't fit {budget} characters. Give it at least {SNAPSHOT_BUDGET_MIN}."
        return Done(stream, Did.NOTHING, message, there, True, {"state": state.value})
    more = {"state": state.value, "snapshot": snapshot}
    return Done(stream, Did.SNAPSHOT, "Put the snapshot before the session.", there, True, more)


def prepare_subagent(
    project: Project, reader: User, *, stream: str, path: str = "", at: dt.datetime | None = None
) -> Done:
    """What a child needs at least: objective and current step of work that goes on, and the constraints.

    At most 2,000 characters; `path` leaves only constraints that cover it. Raises Invalid for stream or path.
    """
    with read_snapshot():
        there, state = _current(project, reader, stream, at)
        lines = _goal(there) if there and state is State.ACTIVE else []
        room = SEED_MAX_LENGTH - sum(len(line) + 1 for line in lines) - 1
        found = rules(project, reader, path=path, budget=room)
    constraints = [found.text] if found.listed or found.not_shown else []
    seed = "\n\n".join(part for part in ("\n".join(lines), *constraints) if part)
    if not seed:
        message = "There is no work to go on with and no constraint: the child needs no seed."
        return Done(stream, Did.NOTHING, message, there, True, {"state": state.value})
    more = {"state": state.value, "seed": seed, "constraints_not_shown": found.not_shown}
    return Done(stream, Did.SEED, "Put the seed before the child.", there, True, more)


def _current(
    project: Project, reader: User, stream: str, at: dt.datetime | None
) -> tuple[Checkpoint | None, State]:
    problems = Problems()
    check_stream(stream, problems)
    problems.raise_if_any()
    mine = Checkpoint.objects.in_project(project).visible_to(reader)
    there = mine.of_stream(stream).first()
    if there is not None:
        there.project = project
    return there, state_of(there, start_of_day(at or timezone.now()))


def _goal(there: Checkpoint) -> list[str]:
    said = {"Objective": there.objective, "Current Step": there.current_step}
    lines = [
        f"{name}: {NONE if is_placeholder(text) else shortened(in_one_line(text).strip(), _SEED_LINE)}"
        for name, text in said.items()
    ]
    return ["CONTINUITY SEED", *lines]
