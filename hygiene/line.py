"""The one line of recall and overview: `Hygiene 58/100 • 3 stale bags • 14 old session summaries`."""

from __future__ import annotations

import datetime as dt
import threading
from collections import OrderedDict
from typing import Any

from hygiene.findings import HygieneReport
from hygiene.services.reporting import report_of, tried_report
from projects.models import Project, User

NAMED_RULES = 2
# Of the 160 characters that all closing lines share.
LINE_LENGTH = 120
CLEAN_UP = "clean up before you end (hygiene_report)"


# Reports of this process: a recall of what didn't change asks the database for none.
_KEPT_MAX = 500
_kept: OrderedDict[tuple[Any, ...], HygieneReport] = OrderedDict()
_guard = threading.Lock()


def closing_line(project: Project, reader: User, day: dt.datetime) -> str:
    """For recall: the score, what costs most and, below the project's threshold, that it asks for work.

    The same for every member while the project's change counter and the day stand. Recall gives the project
    as it is in the snapshot that it reads.
    """
    return line(kept_report(project, day, fresh=True), project.hygiene_threshold)


def tried_line(project: Project, reader: User, day: dt.datetime) -> str:
    """The same for settings that are being tried out: counted now, and kept nowhere."""
    return line(tried_report(project, day), project.hygiene_threshold)


def kept_report(project: Project, day: dt.datetime, *, fresh: bool = False) -> HygieneReport:
    """Everybody's report without its findings, as of the project's change counter; kept in this process.

    `fresh` says that the project was read in the snapshot that this is asked in.
    """
    key = (project.uid, project.change_counter, day)
    with _guard:
        report = _kept.get(key)
    if report is None:
        report = report_of(project, day=day, brief=True, fresh=fresh)
        with _guard:
            _kept[key] = report
            if len(_kept) > _KEPT_MAX:
                _kept.popitem(last=False)
    return report


def line(report: HygieneReport, threshold: int) -> str:
    """As many of the costliest rules as fit, never cut in the middle."""
    said = f"Hygiene {report.score}/100"
    ask = f" • {CLEAN_UP}" if report.score < threshold else ""
    for each in report.costliest(NAMED_RULES):
        more = f" • {each.rule.counted(each.count)}"
        if len(said) + len(more) + len(ask) <= LINE_LENGTH:
            said += more
    return said + ask


def overview_entry(project: Project, reader: User) -> dict[str, Any]:
    """For overviews: the same line with its number, and whether the project asks for a clean-up."""
    report = report_of(project, brief=True)
    return {
        "score": report.score,
        "line": line(report, project.hygiene_threshold),
        "clean_up": report.score < project.hygiene_threshold,
    }
