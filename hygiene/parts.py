"""What other pages show of hygiene: the overview, a memory's page, Home, the list's filter, the side bar."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hygiene.chart import History, Ring, history_of
from hygiene.line import kept_report
from hygiene.listing import findings_about, named_by, named_counts
from hygiene.models import Report
from hygiene.offering import Shown, shown_findings
from hygiene.pages import RuleRow, rule_rows
from hygiene.rules import readers_of_memories
from hygiene.rules.table import BY_NAME, Rule
from hygiene.services import at_hand
from hygiene.services.reporting import numbers_now
from memories.models import Memory
from memories.parts import FindingFilter, Gauge, Part
from memories.recall.reading import start_of_day
from projects.models import Project, User

# On the overview: where most is to be won.
BEST = 3
# On a memory's page: each brings its forms.
ABOUT_SHOWN = 10


@dataclass(frozen=True)
class Outline:
    """The score on a project's overview, and the rules that would give back most."""

    ring: Ring
    history: History
    best: Sequence[RuleRow]
    total: int


def overview_part(project: Project, reader: User) -> Part:
    """The ring, its history, the three best fixes: one query once the report is kept."""
    day = start_of_day(None)
    report = kept_report(project, day)
    rows = rule_rows(report)
    history = history_of(project, report.score, day.date())
    ring = Ring(report.score, project.hygiene_threshold)
    note_ring(project, report.score)
    return Part("hygiene/_outline.html", Outline(ring, history, rows[:BEST], report.total()))


@dataclass(frozen=True)
class About:
    """What is found about a memory, as its page shows it: the first of `total`, and the rest by rule."""

    findings: Sequence[Shown]
    total: int
    rest: Sequence[MoreOf]


@dataclass(frozen=True)
class MoreOf:
    """So many more findings of a rule about a memory than its page shows."""

    rule: Rule
    many: int

    @property
    def says(self) -> str:
        """`3 stale bags`"""
        return self.rule.counted(self.many)


def memory_part(project: Project, reader: User, memory: Memory) -> Part | None:
    """What is found about a memory, with its fixes; nothing where nothing is."""
    if not memory.is_active:
        return None
    known = at_hand(project, reader)
    note_ring(project, known.last_score)
    findings = findings_about(project, reader, memory.number, known.report)
    found = shown_findings(project, reader, findings[:ABOUT_SHOWN], at_hand=memory)
    rest = Counter(finding["rule"] for finding in findings[ABOUT_SHOWN:])
    more = [MoreOf(BY_NAME[rule], many) for rule, many in rest.items()]
    return Part("hygiene/_about.html", About(found, len(findings), more)) if found else None


@dataclass(frozen=True)
class LastScore:
    """The score as it was last counted, which may be before the latest changes.

    Whether it is isn't told: the change counter moves with what somebody writes in private, too.
    """

    ring: Ring
    day: dt.date
    is_of_today: bool


def last_scores(projects: Sequence[Project], user: User) -> Mapping[int, LastScore]:
    """For Home, by the id of each project that was ever counted: one query, and nothing is counted."""
    today = start_of_day(None).date()
    by_id = {project.pk: project for project in projects}
    rows = Report.objects.everybodys(projects).defer("findings", "rules")
    return {
        row.project_id: LastScore(
            Ring(row.score, by_id[row.project_id].hygiene_threshold),
            row.day,
            row.day == today,
        )
        for row in rows
    }


def note_ring(project: Project, score: int | None) -> None:
    """Keep the score on a project that a page was loaded for, so that its side bar needn't ask."""
    ring = None if score is None else Ring(score, project.hygiene_threshold)
    project.noted_ring = ring  # type: ignore[attr-defined]


def side_ring(project: Project, user: User) -> Ring | None:
    """The score for the side bar: what the page counted, else as it was last counted, in one query."""
    if hasattr(project, "noted_ring"):
        noted: Ring | None = project.noted_ring
        return noted
    last = last_scores([project], user).get(project.pk)
    return last.ring if last else None


def finding_filter() -> FindingFilter:
    """For lists of memories: any of the rules about them."""
    return FindingFilter(
        choices=lambda: [(each.rule.name, each.rule.plural) for each in readers_of_memories()],
        within=named_by,
        counts=named_counts,
    )


@dataclass(frozen=True)
class Turn:
    """The score as it is and as it would be. `saves` is by how much the penalty falls, in thousandths."""

    before: Ring
    after: Ring
    saves: int

    @property
    def costs(self) -> int:
        """The same where it costs more than it saves."""
        return -self.saves


def gauge() -> Gauge:
    """For previews of several changes: the score, counted and not stored."""
    return Gauge(
        measure=lambda project: numbers_now(project, start_of_day(None)),
        shown=lambda project, before, after: Part(
            "hygiene/_gauge.html",
            Turn(
                Ring(before.score, project.hygiene_threshold),
                Ring(after.score, project.hygiene_threshold),
                before.penalty - after.penalty,
            ),
        ),
    )
