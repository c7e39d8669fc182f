"""Commits, as a hook reports them after it saw one made."""

from __future__ import annotations

import datetime as dt
from typing import Any

from memories.api import shapes
from memories.models import CommitReport
from memories.services import check_commit, report_commit
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import Argument, Arguments, Moment, Text, Words
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.rest import endpoint
from memoryhub.kernel.tools import Right, Tool
from projects.callers import Caller
from projects.rest import ApiView

_WHERE = ("session", "client", "model")
_LEAST, _MOST = CommitReport.HASH_LENGTHS


def _context(values: dict[str, Any], problems: Problems) -> WriteContext:
    """What says where the report comes from."""
    wrong = Problems()
    context = WriteContext.read({name: values[name] for name in _WHERE if name in values}, wrong)
    for name, sentence in wrong.fields.items():
        problems.add(name.removeprefix("write_context."), sentence)
    return context


def _check(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    _context(values, problems)
    if "hash" in values:
        check_commit(values["hash"], values.get("branch", ""), values.get("paths", []), problems)


def _report(
    caller: Caller,
    hash: str,
    paths: list[str],
    branch: str = "",
    committed_at: dt.datetime | None = None,
    **where: Any,
) -> dict[str, Any]:
    problems = Problems()
    actor = caller.actor(_context(where, problems))
    check_commit(hash, branch, paths, problems)
    problems.raise_if_any()
    done = report_commit(
        actor=actor,
        project=caller.project,
        commit=hash,
        branch=branch,
        paths=paths,
        committed_at=committed_at,
    )
    report = done.report
    return {
        "result": "applied",
        "hash": report.commit,
        "paths": len(report.paths),
        "left_out": report.left_out,
        "committed_at": report.committed_at.isoformat(),
        **({"unchanged": True} if done.unchanged else {}),
    }


_COMMIT_REPORT = Tool(
    "commit_report",
    "Report a commit and the paths that it changed: memories whose scope covers one are found as drifted "
    "until somebody looks at them. A commit that was reported before stays as it is.",
    _report,
    Right.WRITE,
    Arguments(
        {
            "hash": Text(f"{_LEAST} to {_MOST} characters of 0-9 and a-f", True, least=_LEAST, most=_MOST),
            "branch": Argument(),
            "paths": Words(
                f"From the top of the repository; the first {CommitReport.MAX_PATHS:,} are kept, the others "
                f"and those that no scope can cover are counted in `left_out`",
                required=True,
            ),
            "committed_at": Moment("Now unless given; date, or date-time with zone"),
            "session": Argument("Any id that stays the same through the session", required=True),
            "client": Argument(),
            "model": Argument(),
        }
    ),
    True,
    False,
    _check,
)


class CommitList(ApiView):
    post = endpoint(_COMMIT_REPORT, shapes.COMMIT)
