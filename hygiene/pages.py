"""The hygiene page: the score, what costs how much, and the findings of the rule that is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hygiene.chart import History, Ring, history_of
from hygiene.errors import NoSuchRule
from hygiene.findings import HygieneReport, RuleCount
from hygiene.fixes import FIXES, Fix, Item
from hygiene.forms import SHOW, FixForm
from hygiene.listing import FindingsPage, findings_about, findings_of
from hygiene.offering import Shown, is_sent, may_fix, shown_findings
from hygiene.remedies import Remedy, remedy_of
from hygiene.rules import all_readers, is_narrowed, readers_of_memories
from hygiene.rules.table import BY_NAME, Rule
from hygiene.scoring import POINT
from hygiene.services import at_hand, report_of
from memories.models import Memory
from memories.recall.reading import start_of_day
from memoryhub.kernel.cursors import BadCursor
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

FINDINGS_SHOWN = 25
BAGS_NAMED = 100


@dataclass(frozen=True)
class RuleRow:
    """A rule with findings: what they cost, and how many are the reader's own private ones."""

    rule: Rule
    count: int
    points: int
    private: int
    is_open: bool

    @property
    def is_about_memories(self) -> bool:
        """Whether its findings name memories, which a list can be narrowed to."""
        return any(each.rule.name == self.rule.name for each in readers_of_memories())

    @property
    def is_shown_to_some(self) -> bool:
        """Whether some readers see fewer of its findings than are counted."""
        return is_narrowed(self.rule.name)

    @property
    def title(self) -> str:
        """`3 stale bags`"""
        return self.rule.counted(self.count or self.private)

    @property
    def says(self) -> str:
        remedy = remedy_of(self.rule.name)
        return remedy.says if remedy else self.rule.why

    @property
    def button(self) -> str:
        remedy = remedy_of(self.rule.name)
        return remedy.button if remedy else "See"

    @property
    def adds_up(self) -> bool:
        """Whether mending one alone gives back less than its share of what all cost."""
        return self.count > 1


@dataclass(frozen=True)
class HygienePage:
    """Everything on the page. `open` is the rule whose findings it lists."""

    ring: Ring
    history: History
    report: HygieneReport
    rules: Sequence[RuleRow]
    clean: Sequence[Rule]
    open: str
    findings: Sequence[Shown]
    cursor: str
    next_cursor: str | None
    # A refused form whose finding isn't on this page, with that finding where there still is one.
    stray: Shown | FixForm | None
    several: FixForm | None
    several_fixes: Sequence[Fix]
    chosen: Sequence[str]
    # The rule that was asked for and has no findings any more.
    cleared: Rule | None

    @property
    def opened(self) -> RuleRow | None:
        return next((row for row in self.rules if row.is_open), None)

    @property
    def most(self) -> int:
        """Where the bars of all rules end, in thousandths of a point: what the dearest rule can cost."""
        return POINT * max(rule.cap for rule in BY_NAME.values())

    @property
    def keys(self) -> Sequence[str]:
        """The items of all findings listed, as forms send them."""
        return [finding.item.key for finding in self.findings]

    @property
    def total(self) -> int:
        return sum(row.count for row in self.rules)

    @property
    def own(self) -> int:
        return sum(row.private for row in self.rules)

    @property
    def stray_finding(self) -> Shown | None:
        return self.stray if isinstance(self.stray, Shown) else None

    @property
    def stray_form(self) -> FixForm | None:
        return self.stray if isinstance(self.stray, FixForm) else None


def hygiene_page(
    project: Project, reader: User, *, rule: str = "", cursor: str = "", bound: FixForm | None = None
) -> HygienePage:
    """The page as the address asks for it. A rule without findings opens what costs most instead.

    Raises NoSuchRule. A cursor that isn't of this list opens page one.
    """
    if rule and rule not in BY_NAME:
        raise NoSuchRule(list(BY_NAME))
    with read_snapshot():
        report = report_of(project, reader, brief=True)
        rows = rule_rows(report, rule)
        opened = next((row.rule.name for row in rows if row.is_open), "")
        listed = _listed(project, reader, report, opened, cursor) if opened else None
        page = shown_findings(project, reader, listed.items, bound) if listed else []
        several = _several(project, reader, opened, bound)
        day = start_of_day(None).date()
        having = {row.rule.name for row in rows}
        return HygienePage(
            ring=Ring(report.score, project.hygiene_threshold),
            history=history_of(project, report.score, day),
            report=report,
            rules=rows,
            clean=[each.rule for each in all_readers() if each.rule.name not in having],
            open=opened,
            findings=page,
            cursor=cursor,
            next_cursor=listed.next_cursor if listed else None,
            stray=_stray(project, reader, page, bound),
            several=several,
            several_fixes=[FIXES[name] for name in _several_names(opened)] if several else [],
            chosen=bound.sent_items if bound and bound.is_for_several else [],
            cleared=BY_NAME.get(rule) if rule != opened else None,
        )


def rule_rows(report: HygieneReport, rule: str = "") -> list[RuleRow]:
    """The rules that have findings for this reader, costliest first; one is open."""
    own = {each.rule.name: each for each in report.private}
    shared = list(report.rules)
    shared += [RuleCount(each.rule, 0, 0) for name, each in own.items() if name not in report.counts]
    shared.sort(key=lambda each: -each.points)
    names = [each.rule.name for each in shared]
    opened = rule if rule in names else names[0] if names else ""
    return [
        RuleRow(
            each.rule,
            each.count,
            each.points,
            own[each.rule.name].count if each.rule.name in own else 0,
            each.rule.name == opened,
        )
        for each in shared
    ]


def _listed(project: Project, reader: User, report: HygieneReport, rule: str, cursor: str) -> FindingsPage:
    try:
        return findings_of(project, reader, rule=rule, limit=FINDINGS_SHOWN, cursor=cursor, report=report)
    except BadCursor:
        return findings_of(project, reader, rule=rule, limit=FINDINGS_SHOWN, report=report)


def _several_names(rule: str) -> Sequence[str]:
    remedy: Remedy | None = remedy_of(rule)
    return remedy.several if remedy else ()


def _several(project: Project, reader: User, rule: str, bound: FixForm | None) -> FixForm | None:
    """The form for several at once; None where there is nothing of the kind to do."""
    names = _several_names(rule)
    if not names or not may_fix(project):
        return None
    if bound is not None and bound.is_for_several:
        return bound
    return FixForm(
        initial={"how": SHOW, "rule": rule},
        bags=bags_of(project, reader) if "bag" in names else None,
        auto_id="several-%s",
    )


def bags_of(project: Project, reader: User) -> list[tuple[int, str]]:
    """Number and title of the bags that something can be put into, by title; a hundred at most."""
    bags = Memory.objects.in_project(project).active().visible_to(reader).top_level().bags_for(reader)
    return list(bags.order_by("title", "number").values_list("number", "title")[:BAGS_NAMED])


def _stray(
    project: Project, reader: User, page: Sequence[Shown], bound: FixForm | None
) -> Shown | FixForm | None:
    """What was sent for a finding that this page doesn't list: nothing that was typed is lost."""
    if bound is None or bound.is_for_several:
        return None
    if any(
        offer.form is bound or _is_button(bound, offer.fix, offer.item)
        for row in page
        for offer in row.offers
    ):
        return None
    items: Sequence[Item] = getattr(bound, "cleaned_data", {}).get("items") or ()
    if items:
        report = at_hand(project, reader).report
        found = findings_about(project, reader, items[0].number, report)
        for row in shown_findings(project, reader, found, bound):
            if any(offer.form is bound for offer in row.offers):
                return row
    return bound


def _is_button(bound: FixForm, fix: Fix, item: Item) -> bool:
    """Whether the form was a mere button of this page: there was nothing to type."""
    return not fix.inputs and is_sent(bound, fix.name, item)
