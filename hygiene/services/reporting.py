"""The report of a project: read from the cache in one query, or computed in at most 25.

All rules are counted in one query, and the first findings of each are read in one more where somebody asks
for them: recall needs the numbers alone. Cached by the project's change counter and the day; the cache is
written after the reading, best effort.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hygiene.findings import HygieneReport, RuleCount, counts_of, finding, worth_of
from hygiene.models import Report
from hygiene.rules import RuleReader, all_readers
from hygiene.rules.scope import Scope, after, first_of_each, tables_of
from hygiene.rules.tally import tallied
from hygiene.scoring import score
from hygiene.services.history import note_score
from memories.listing import PAGE_MAX
from memories.recall.reading import start_of_day
from memoryhub.kernel.bookkeeping import best_effort
from memoryhub.kernel.snapshots import after_reading, read_snapshot
from projects.models import Project, User

# By the key of the reader: 0 for everybody's, else the private part of that user.
Rows = dict[int, Report]


def report_of(
    project: Project,
    reader: User | None = None,
    *,
    day: dt.datetime | None = None,
    brief: bool = False,
    fresh: bool = False,
) -> HygieneReport:
    """The report as it is on `day` (today unless given), with the reader's own private findings.

    One query when nothing was written since it was last asked for. `brief` is without the findings; `fresh`
    says that the project was read in the snapshot that this is asked in.
    """
    day = start_of_day(day)
    kept = Report.objects.current(project, day.date()).for_reader(reader)
    rows = {row.reader_key: row for row in (kept.defer("findings") if brief else kept)}
    missing = {Report.EVERYBODY, *([reader.pk] if reader else [])} - set(rows)
    if missing or not (brief or all(row.findings is not None for row in rows.values())):
        with read_snapshot():
            project = project if fresh else Project.objects.get(pk=project.pk)
            rows |= _numbers(Scope(project, day, reader), missing)
            if not brief:
                _add_findings(Scope(project, day, reader), rows)
            _keep_later([rows[key] for key in missing] if brief else list(rows.values()), brief)
    return _report(rows[Report.EVERYBODY], rows.get(reader.pk) if reader else None, brief)


@dataclass(frozen=True)
class AtHand:
    """What is known of a project's hygiene without counting: the last score, and the report that holds."""

    last_score: int | None
    report: HygieneReport | None


def at_hand(project: Project, reader: User) -> AtHand:
    """Today's report without its findings where nothing was written since; else the last score alone.

    One query, always: for pages that are about something else. `project` is as it is in this snapshot.
    """
    kept = Report.objects.filter(project=project).for_reader(reader).defer("findings")
    rows = {row.reader_key: row for row in kept}
    shared, own = rows.get(Report.EVERYBODY), rows.get(reader.pk)
    now = (start_of_day(None).date(), project.change_counter)
    if shared is None or (shared.day, shared.change_counter) != now:
        return AtHand(shared.score if shared else None, None)
    if own and (own.day, own.change_counter) != now:
        own = None
    return AtHand(shared.score, _report(shared, own, True))


def numbers_now(project: Project, day: dt.datetime) -> Report:
    """Everybody's report without its findings, computed now and not stored."""
    project = Project.objects.get(pk=project.pk)
    return _numbers(Scope(project, day), {Report.EVERYBODY})[Report.EVERYBODY]


def tried_report(project: Project, day: dt.datetime) -> HygieneReport:
    """Everybody's report without its findings, by the settings that `project` has in memory; not stored."""
    return _report(_numbers(Scope(project, day), {Report.EVERYBODY})[Report.EVERYBODY], None, True)


def _numbers(scope: Scope, keys: set[int]) -> Rows:
    """The counts and points of what isn't known, in two queries."""
    if not keys:
        return {}
    memories = scope.shared.count()
    tally = tallied(scope, {each.rule.name: each.find for each in all_readers()})
    rows = {}
    for key in keys:
        counts = counts_of(tally, memories, hidden=int(key != Report.EVERYBODY))
        penalty = sum(each.points for each in counts)
        rows[key] = Report(
            project=scope.project,
            reader_key=key,
            change_counter=scope.project.change_counter,
            day=scope.day.date(),
            memories=memories,
            penalty=penalty,
            score=score(penalty),
            rules=[each.as_dict() for each in counts]
            + ([] if key == Report.EVERYBODY else _seen(scope, tally)),
        )
    return rows


def _seen(scope: Scope, tally: Mapping[tuple[str, int], int]) -> list[dict[str, Any]]:
    """Of what is counted for everybody and not shown to everybody, how many the scope's reader sees."""
    return [
        {
            "rule": each.rule.name,
            "count": sum(rows.count() for rows in tables_of(each.shown(scope, scope.reader))),
            "seen": True,
        }
        for each in all_readers()
        if each.seen_by is not None and scope.reader is not None and tally.get((each.rule.name, 0))
    ]


def _add_findings(scope: Scope, rows: Rows) -> None:
    """The first findings of both sorts, one query for each rule that has some."""
    counts = {key: {each.rule.name: each.count for each in _counts(row.rules)} for key, row in rows.items()}
    found: dict[int, list[dict[str, Any]]] = {key: [] for key in rows}
    for each in all_readers():
        name = each.rule.name
        if not any(name in having for having in counts.values()):
            continue
        if each.seen_by is not None:
            _add_seen(each, scope, rows, counts[Report.EVERYBODY].get(name, 0), found)
            continue
        first = first_of_each(each.find(scope), PAGE_MAX)
        for key, row in rows.items():
            hidden = int(key != Report.EVERYBODY)
            worth = worth_of(each.rule, counts[key].get(name, 0), row.memories, hidden=bool(hidden))
            mine = [finding(each, one, worth) for one in first if one.hidden == hidden]
            found[key] += mine[: PAGE_MAX - len(found[key])]
    for key, row in rows.items():
        row.findings = found[key]


def _add_seen(
    each: RuleReader, scope: Scope, rows: Rows, many: int, found: dict[int, list[dict[str, Any]]]
) -> None:
    """What not everybody sees is kept for those who do, each for himself."""
    if each.seen_by is None or scope.reader is None or scope.reader.pk not in rows:
        return
    worth = worth_of(each.rule, many, rows[Report.EVERYBODY].memories, hidden=False)
    seen = after(each.shown(scope, scope.reader), 0, None, PAGE_MAX)
    mine = found[scope.reader.pk]
    mine += [finding(each, one, worth) for one in seen[: PAGE_MAX - len(mine)]]


def _keep_later(rows: list[Report], brief: bool) -> None:
    after_reading(partial(best_effort, partial(keep, rows, brief=brief)))


def keep(rows: list[Report], *, brief: bool = False) -> None:
    """Write the cache, and the history where the score changed."""
    columns = ["change_counter", "day", "memories", "penalty", "score", "rules", "findings"]
    for row in rows:
        row.pk = None
        if brief:
            row.findings = None
    Report.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["project", "reader_key"], update_fields=columns
    )
    for row in rows:
        if row.reader_key == Report.EVERYBODY:
            note_score(row)


def _report(shared: Report, own: Report | None, brief: bool) -> HygieneReport:
    mine = (own.findings or ()) if own and not brief else ()
    return HygieneReport(
        score=shared.score,
        penalty=shared.penalty,
        memories=shared.memories,
        rules=_counts(shared.rules),
        findings=() if brief else shared.findings or (),
        private=_counts(own.rules) if own else (),
        private_findings=[each for each in mine if each.get("private")],
        seen={each["rule"]: each["count"] for each in own.rules if each.get("seen")} if own else {},
        seen_findings=[each for each in mine if not each.get("private")],
    )


def _counts(stored: list[dict[str, Any]]) -> tuple[RuleCount, ...]:
    return tuple(RuleCount.read(each) for each in stored if not each.get("seen"))
