"""The six moments of a session's life, as hosts and hooks call them; each for a session and a stream."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from memoryhub.kernel.actor import Actor, WriteContext
from memoryhub.kernel.arguments import Argument, Arguments, Count, Moment, Text, Version, Whole, Words
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.refs import MAX_NUMBER
from memoryhub.kernel.rest import endpoint
from memoryhub.kernel.tools import Right, Tool
from projects.callers import Caller
from projects.rest import ApiView
from tasks import lifecycle
from tasks.api import shapes
from tasks.current_state import parse
from tasks.lifecycle import RESULTS_MAX_LENGTH, SNAPSHOT_BUDGET, SNAPSHOT_BUDGET_MAX, SNAPSHOT_BUDGET_MIN
from tasks.models import Checkpoint, CheckpointFields
from tasks.services.checkpoints import check_checkpoint
from tasks.services.checks import check_stream

_WHERE = ("session", "client", "model", "branch", "commit")
_OF_ALL: dict[str, Argument] = {
    "session": Argument("Any id that stays the same through the session", required=True),
    "stream": Argument(f"{Checkpoint.MAIN} unless named"),
    **{name: Argument() for name in _WHERE[1:]},
}
_FIELDS: dict[str, Argument] = {
    name: Words() if name == "key_decisions" else Argument() for name in CheckpointFields.ALL
}
_DELIVERED: dict[str, Argument] = {
    "based_on": Version("The version that was read"),
    "at": Moment("From a spool: when it was made. Date, or date-time with zone"),
}


def _context(values: dict[str, Any], problems: Problems) -> WriteContext:
    """Takes what says where a call comes from out of `values`."""
    said, wrong = {name: values.pop(name) for name in _WHERE if name in values}, Problems()
    context = WriteContext.read(said, wrong)
    for name, sentence in wrong.fields.items():
        problems.add(name.removeprefix("write_context."), sentence)
    return context


def _from_file(values: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """The fields that a file says, in place of the file; those that are named beside it come first."""
    values = dict(values)
    text = values.pop("text", "")
    if not text:
        return values
    read = parse(text)
    for name, sentence in read.problems.items():
        problems.add(name, sentence)
    return {**read.fields, **values}


def _check(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    values = _from_file(values, problems)
    context = _context(values, problems)
    check_stream(values.get("stream", Checkpoint.MAIN), problems)
    given = {name: values[name] for name in CheckpointFields.ALL if name in values}
    if given:
        stream = values.get("stream", Checkpoint.MAIN)
        check_checkpoint(context=context, problems=problems, stream=stream, **given)


def _acting(caller: Caller, values: dict[str, Any]) -> Actor:
    """The actor of a moment. Raises Invalid for what is wrong with the call."""
    problems = Problems()
    _check(caller, dict(values), problems)
    problems.raise_if_any()
    return caller.actor(_context(values, Problems()))


def _reads(moment: Callable[..., lifecycle.Done]) -> Callable[..., dict[str, Any]]:
    def handler(caller: Caller, stream: str = Checkpoint.MAIN, **values: Any) -> dict[str, Any]:
        _acting(caller, values | {"stream": stream})
        given = {name: value for name, value in values.items() if name not in _WHERE}
        return moment(caller.project, caller.user, stream=stream, **given).answer()

    return handler


def _writes(moment: Callable[..., lifecycle.Done]) -> Callable[..., dict[str, Any]]:
    def handler(
        caller: Caller, stream: str = Checkpoint.MAIN, at: dt.datetime | None = None, **values: Any
    ) -> dict[str, Any]:
        said = values | {"stream": stream}
        actor = _acting(caller, said)
        said = _from_file(said, Problems())
        made = {"made_at": at} if at is not None else {}
        return moment(actor=actor, project=caller.project, **said, **made).answer()

    return handler


def _moment(name: str, says: str, handler: Any, right: Right, **arguments: Argument) -> Any:
    """The method of a view for a moment."""
    tool = Tool(name, says, handler, right, Arguments({**_OF_ALL, **arguments}), True, False, _check)
    return endpoint(tool, shapes.MOMENT)


class Bootstrap(ApiView):
    post = _moment(
        "lifecycle_bootstrap",
        "Whether there is something to recover, its date and version. Injects nothing.",
        _reads(lifecycle.bootstrap),
        Right.READ,
    )


class Assemble(ApiView):
    post = _moment(
        "lifecycle_assemble",
        "The snapshot to inject, or nothing when idle, stale or a placeholder.",
        _reads(lifecycle.assemble),
        Right.READ,
        budget=Count(
            f"Characters, {SNAPSHOT_BUDGET} unless given", least=SNAPSHOT_BUDGET_MIN, most=SNAPSHOT_BUDGET_MAX
        ),
    )


class AfterTurn(ApiView):
    post = _moment(
        "lifecycle_after_turn",
        "Save the fields that differ from what stands by more than white space.",
        _writes(lifecycle.after_turn),
        Right.WRITE,
        **_FIELDS,
        text=Argument("The fields as a CURRENT_STATE.md, instead of each"),
        turn=Whole("The number of this turn", most=MAX_NUMBER),
        every=Whole("Only each so manieth turn is looked at", most=1000),
        **_DELIVERED,
    )


class Compact(ApiView):
    post = _moment(
        "lifecycle_compact",
        "Save what is given; without fields keep the checkpoint in its history. Never refused for a version.",
        _writes(lifecycle.compact),
        Right.WRITE,
        **_FIELDS,
        text=Argument("The fields as a CURRENT_STATE.md, instead of each"),
        **_DELIVERED,
    )


class PrepareSubagent(ApiView):
    post = _moment(
        "lifecycle_prepare_subagent",
        "The least that a child needs: objective, current step, the constraints.",
        _reads(lifecycle.prepare_subagent),
        Right.READ,
        path=Argument("Only constraints that cover it"),
    )


class SubagentEnded(ApiView):
    post = _moment(
        "lifecycle_subagent_ended",
        "Append a child's results to the unsurfaced results, once a child. What has no room is kept whole.",
        _writes(lifecycle.subagent_ended),
        Right.WRITE,
        child=Argument("Its id in the session", required=True),
        results=Text(f"At most {RESULTS_MAX_LENGTH:,} characters", required=True),
    )
