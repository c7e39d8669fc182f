"""A finding as pages show it: the memories it names, what it says to people, and the fixes as forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.urls import reverse

from hygiene.fixes import FIXES, Fix, Item
from hygiene.forms import NOW, FixForm
from hygiene.placeholders import MARK
from hygiene.remedies import FLAW_FIXES, edit_anchor, remedy_of
from hygiene.rules.quality import flaws_in, said_in
from memories.models import Memory
from projects.loading import may_write
from projects.models import Project, User

# Of what a stale bag holds, so much is shown beside the form for its summary.
CHILDREN_SHOWN = 8
_HEAVY = ("body", "details", "retrieval_hints")


@dataclass(frozen=True)
class Offer:
    """A fix of one finding: a button, or a form where something has to be typed."""

    fix: Fix
    item: Item
    seen: Sequence[str]
    form: FixForm | None = None

    @property
    def label(self) -> str:
        return self.fix.label.format(number=self.item.number, other=self.item.other)

    @property
    def key(self) -> str:
        return f"{self.fix.name}-{self.item.key}"

    @property
    def is_open(self) -> bool:
        """Whether its form was sent and refused: then it is shown with what was typed."""
        return self.form is not None and self.form.is_bound


@dataclass(frozen=True)
class Shown:
    """A finding with the memories it names and its offers."""

    rule: str
    item: Item
    memories: Sequence[Memory]
    says: str
    points: int
    is_private: bool
    can_fix: bool
    offers: Sequence[Offer] = ()
    held: Sequence[Memory] = ()
    flaws: Sequence[str] = field(default=())
    # Where it is about no memory: what it is called, and where its page is.
    ref: str = ""
    title: str = ""
    path: str = ""

    @property
    def is_short(self) -> bool:
        """Whether all its fixes are buttons, which stand beside it."""
        return all(offer.form is None for offer in self.offers)

    @property
    def edit_at(self) -> str:
        """Where in the edit form of the memory it is mended; empty where an edit isn't what mends it."""
        return edit_anchor(self.rule, self.flaws) if self.memories else ""

    @property
    def edit_label(self) -> str:
        return "Choose a bag for it" if self.rule == "crowded_top_level" else "Edit"

    @property
    def is_chosen_from_a_bag(self) -> bool:
        """Whether its fix is done to what the bag holds, on a page of its own."""
        return "oversized_bag" in self.flaws


def may_fix(project: Project) -> bool:
    """Whether the reader that the project was loaded for may change anything in it."""
    return may_write(project)


def shown_findings(
    project: Project,
    reader: User,
    findings: Sequence[Mapping[str, Any]],
    bound: FixForm | None = None,
    at_hand: Memory | None = None,
) -> list[Shown]:
    """The findings with their memories, in two queries at most. `bound` is a form that was refused.

    On the page of a memory, which is `at_hand`, nothing is read that stands there already.
    """
    memories = {at_hand.number: at_hand} if at_hand else {}
    numbers = {memory["number"] for finding in findings for memory in finding["memories"]} - set(memories)
    if numbers:
        seen = Memory.objects.in_project(project).visible_to(reader).with_numbers(numbers).defer(*_HEAVY)
        memories |= {memory.number: memory for memory in seen}
    bags = [f["memories"][0]["number"] for f in findings if f["rule"] == "stale_bag" and not at_hand]
    held = _held([memories[number] for number in bags if number in memories], reader)
    writes = may_fix(project)
    rows = []
    for finding in findings:
        named = [memories.get(memory["number"]) for memory in finding["memories"]]
        if None in named:
            continue  # it was made somebody's own while this was read
        rows.append(_shown(project, finding, [one for one in named if one], held, writes, bound))
    return rows


def _held(bags: Sequence[Memory], reader: User) -> Mapping[int, list[Memory]]:
    """By bag, the first things that it holds, lately changed ones first."""
    if not bags:
        return {}
    place = Window(RowNumber(), partition_by="parent", order_by=[F("touched_at").desc(), F("number")])
    inside = Memory.objects.active().visible_to(reader).filter(parent__in=bags).annotate(place=place)
    found: dict[int, list[Memory]] = {}
    for child in inside.filter(place__lte=CHILDREN_SHOWN).defer(*_HEAVY).order_by("parent", "place"):
        found.setdefault(child.parent_id or 0, []).append(child)
    return found


def _shown(
    project: Project,
    finding: Mapping[str, Any],
    memories: Sequence[Memory],
    held: Mapping[int, list[Memory]],
    writes: bool,
    bound: FixForm | None,
) -> Shown:
    rule, note = finding["rule"], finding.get("note", "")
    if not memories:
        return _of_something_else(project, finding, note)
    first, other = memories[0], memories[1] if len(memories) > 1 else None
    item = Item(first.number, other.number if other else 0)
    remedy = remedy_of(rule)
    flaws = flaws_in(note) if rule == "quality" and note else []
    if rule == "quality" and note:
        says = said_in(note)
    else:
        says = remedy.one.format(other=item.other, note=note) if remedy else finding["do"]
    offers = list(_offers(rule, item, memories, flaws, bound)) if writes else []
    return Shown(
        rule,
        item,
        memories,
        says,
        finding["points"],
        "private" in finding,
        writes,
        offers,
        held.get(first.pk, []),
        flaws,
    )


def _of_something_else(project: Project, finding: Mapping[str, Any], note: str) -> Shown:
    """One about a proposal, which is decided on its own page, or about work in flight."""
    remedy = remedy_of(finding["rule"])
    says = remedy.one.format(note=note) if remedy else finding["do"]
    return Shown(
        finding["rule"],
        Item(0),
        (),
        says,
        finding["points"],
        is_private=False,
        can_fix=False,
        ref=finding.get("review") or f"#{finding['number']}",
        title=finding["title"],
        path=_path_of(project, finding),
    )


def _path_of(project: Project, finding: Mapping[str, Any]) -> str:
    """The page of a proposal, a task or a receipt."""
    if "review" in finding:
        return reverse("memories:review", args=(project.slug, int(finding["review"].removeprefix("R"))))
    return reverse(f"tasks:{finding['type']}", args=(project.slug, finding["number"]))


def _offers(
    rule: str, item: Item, memories: Sequence[Memory], flaws: Sequence[str], bound: FixForm | None
) -> Iterable[Offer]:
    seen = [f"{memory.number}:{memory.version}" for memory in memories]
    remedy = remedy_of(rule)
    names = [*(remedy.fixes if remedy else ())]
    names += dict.fromkeys(FLAW_FIXES[flaw] for flaw in flaws if flaw in FLAW_FIXES)
    for name in names:
        fix = FIXES[name]
        yield _offer(fix, item, seen, memories[0], bound)
        if name == "supersede" and rule == "contradiction":
            # Which of the two holds is for the reader to say.
            yield _offer(fix, Item(item.other, item.number), seen, memories[-1], bound)


def _offer(fix: Fix, item: Item, seen: Sequence[str], memory: Memory, bound: FixForm | None) -> Offer:
    if not fix.inputs:
        return Offer(fix, item, seen)
    if is_sent(bound, fix.name, item):
        return Offer(fix, item, seen, bound)
    initial = {"fix": fix.name, "how": NOW}
    if fix.name == "summary" and not memory.summary.startswith(MARK):
        initial["summary"] = memory.summary
    return Offer(fix, item, seen, FixForm(initial=initial, auto_id=f"{fix.name}-{item.key}-%s"))


def is_sent(form: FixForm | None, fix: str, item: Item) -> bool:
    """Whether a form that was sent is this fix of this one item."""
    if form is None or form.is_for_several:
        return False
    return str(form["fix"].value()) == fix and form.sent_items == [item.key]
