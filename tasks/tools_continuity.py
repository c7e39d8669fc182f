"""The agent's door to work in flight: where it stands, and handing it over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memories.wording import START
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import (
    Argument,
    Choice,
    Context,
    Count,
    Details,
    Numbers,
    Text,
    Unreadable,
    Version,
    Words,
)
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.tools import Right, tool
from projects.callers import Caller
from tasks.continuity import (
    BUDGET,
    BUDGET_MAX,
    BUDGET_MIN,
    MEMORIES,
    MEMORIES_MAX,
    RECEIPTS,
    RECEIPTS_MAX,
    TASKS,
    TASKS_MAX,
    continuity_context,
)
from tasks.models import Checkpoint, CheckpointFields, Receipt
from tasks.presenting import handed_over, saved
from tasks.services import save_checkpoint, write_handoff
from tasks.services.checkpoints import check_checkpoint
from tasks.services.receipts import check_receipt


@tool(
    "continuity_context",
    f"Where work stands: your checkpoint, review outcomes, recent memories, tasks, receipts. {START}",
    {
        "stream": Argument(),
        "detail": Choice("full: whole checkpoint, other streams", options=("full",)),
        "budget": Count(least=BUDGET_MIN, most=BUDGET_MAX),
        "memories": Count(least=0, most=MEMORIES_MAX),
        "tasks": Count(least=0, most=TASKS_MAX),
        "receipts": Count(least=0, most=RECEIPTS_MAX),
    },
    after="project_overview",
)
def context(
    caller: Caller,
    stream: str = Checkpoint.MAIN,
    detail: str = "",
    budget: int = BUDGET,
    memories: int = MEMORIES,
    tasks: int = TASKS,
    receipts: int = RECEIPTS,
) -> dict[str, Any]:
    return continuity_context(
        caller.project,
        caller.user,
        stream=stream,
        full=bool(detail),
        budget=budget,
        memories=memories,
        tasks=tasks,
        receipts=receipts,
    )


def _check_checkpoint(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    given = {name: values[name] for name in CheckpointFields.ALL if name in values}
    context = values.get("write_context") or WriteContext()
    check_checkpoint(
        context=context, problems=problems, stream=values.get("stream", Checkpoint.MAIN), **given
    )


@tool(
    "checkpoint_save",
    "Keep where your work stands, before a compaction and after each step. Fields not named stay.",
    {
        "objective": Argument(),
        "current_step": Argument(),
        "key_decisions": Words(),
        "next_action": Argument(),
        "blockers": Argument(),
        "unsurfaced_results": Argument("Not told to a person yet"),
        "stream": Argument(),
        "expected_version": Version("Unless your session saved last"),
        "write_context": Context(),
    },
    right=Right.WRITE,
    check=_check_checkpoint,
)
def checkpoint_save(
    caller: Caller,
    write_context: WriteContext,
    stream: str = Checkpoint.MAIN,
    expected_version: int | None = None,
    **given: Any,
) -> dict[str, Any]:
    actor = caller.actor(write_context)
    return saved(
        save_checkpoint(
            actor=actor, project=caller.project, stream=stream, expected_version=expected_version, **given
        )
    )


@dataclass(frozen=True)
class _References(Details):
    """An object whose `numbers` are read as leniently as anywhere; what can't be read the service names."""

    def read(self, value: Any) -> dict[str, Any]:
        read = super().read(value)
        try:
            return {**read, "numbers": Numbers().read(read["numbers"])} if read.get("numbers") else read
        except Unreadable:
            return read


def _check_receipt(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    given = {name: value for name, value in values.items() if name != "write_context"}
    check_receipt(context=values.get("write_context") or WriteContext(), problems=problems, **given)


@tool(
    "handoff_write",
    "Hand over at the end of a session: what the next one finds. acknowledges: receipts you took over.",
    {
        "summary": Text(
            "What was reached and what is left",
            required=True,
            least=1,
            most=Receipt.SUMMARY_MAX_LENGTH,
        ),
        "title": Argument(),
        "tags": Words(),
        "done": Argument(),
        "decisions": Argument(),
        "next_steps": Argument(),
        "blockers": Argument(),
        "unsurfaced_results": Argument(),
        "references": _References("branch, commit, numbers"),
        "acknowledges": Numbers(),
        "write_context": Context(),
    },
    right=Right.WRITE,
    check=_check_receipt,
)
def handoff_write(caller: Caller, write_context: WriteContext, **given: Any) -> dict[str, Any]:
    return handed_over(write_handoff(actor=caller.actor(write_context), project=caller.project, **given))
