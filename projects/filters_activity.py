"""What lists of what happened are narrowed to: all of it stands in the address."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import django_filters
from django import forms
from django.utils import timezone

from memoryhub.kernel.actor import OPERATOR, Door, WriteContext
from memoryhub.kernel.facets import Counts
from memoryhub.kernel.filters import AddressFilterSet, AddressForm, OpenChoiceFilter, typed
from memoryhub.kernel.text import visible_marks
from projects.activity import Total, Totals, Wanted, all_kept
from projects.activity.facets import LOOKED_AT
from projects.models import AccessToken, Membership, Project, User

_DOORS = {
    Door.WEB: "browser",
    Door.ADMIN: "administration",
    Door.REST: "REST",
    Door.MCP: "MCP",
    Door.COMMAND: "command line",
}
# More members, or names of tokens, than this are typed.
_LISTED = 200
# "The last 7 days" are today and those before it.
_WEEK = dt.timedelta(days=6)


def as_kept(most: int, label: str, **attrs: str) -> django_filters.Filter:
    """A text that is looked for exactly as it was kept, spaces at its ends, too."""
    widget = typed(placeholder="any", **attrs)
    return django_filters.CharFilter(max_length=most, strip=False, label=label, widget=widget)


def _day(label: str) -> django_filters.Filter:
    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    return django_filters.DateFilter(widget=widget, label=label)


@dataclass(frozen=True)
class Shortcut:
    """A link that chooses days, and whether these are chosen."""

    name: str
    address: str
    is_chosen: bool


class DaysForm(AddressForm):
    """Days are such that they can be, and the last isn't before the first."""

    def clean_since(self) -> dt.date | None:
        return self._day("since")

    def clean_until(self) -> dt.date | None:
        return self._day("until")

    def _day(self, name: str) -> dt.date | None:
        day: dt.date | None = self.cleaned_data[name]
        if day and not 1970 <= day.year <= 9998:
            raise forms.ValidationError("Choose a day between 1970 and 9998.")
        return day

    def clean(self) -> dict[str, Any]:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and since > until:
            self.add_error("until", f"It is before {since}. Choose a day that isn't before the first one.")
        return self.cleaned_data


class HappenedFilters(AddressFilterSet):
    """What any list of what happened is narrowed by, in the order that `ORDER` says.

    `agents` are the names of tokens to choose from: for an owner those of the project, else one's own; each
    with how many there are, once they are counted.
    """

    BESIDE: ClassVar[tuple[str, ...]] = ()
    ORDER: ClassVar[tuple[str, ...]] = ()
    # What the counts are of, where not all was counted.
    COUNTED: ClassVar[str] = ""
    # Who may be chosen beside the members.
    OTHERS: ClassVar[tuple[str, ...]] = ()

    person = OpenChoiceFilter(
        label="Person", empty_label="anybody", choices=[], max_length=User.USERNAME_MAX_LENGTH
    )
    agent = as_kept(AccessToken.NAME_MAX_LENGTH, "Agent", list="agents")
    door = django_filters.ChoiceFilter(
        label="Via", empty_label="any", choices=[(door.value, name) for door, name in _DOORS.items()]
    )
    since = _day("From")
    until = _day("To")

    class Meta(AddressFilterSet.Meta):
        form = DaysForm
        fields = ()

    def __init__(self, data: Any, project: Project, reader: User) -> None:
        # What is listed is of several models: the set reads an address, and narrows no rows by itself.
        super().__init__(data, queryset=Project.objects.none())
        self.filters: dict[str, django_filters.Filter] = {name: self.filters[name] for name in self.ORDER}
        names = [row.user.username for row in Membership.objects.in_project(project).by_name()[:_LISTED]]
        asked = self.sent("person")
        if asked and asked not in (*names, *self.OTHERS):
            names.append(asked)  # somebody who left is still in what happened
        choices = [(name, visible_marks(name)) for name in (*names, *self.OTHERS)]
        self.filters["person"].extra["choices"] = choices
        tokens = AccessToken.objects.visible_to(reader).reaching(project).names(_LISTED)
        self.agents: Sequence[tuple[str, int]] = [(name, 0) for name in tokens]
        self.counts = Counts()

    def show(self, counts: Counts) -> None:
        """Say at each choice how many there are."""
        self.counts = counts
        self.count(counts.by_choice, at_least=counts.at_least)
        by_agent = counts.by_choice.get("agent", {})
        self.agents = [(name, by_agent.get(name, 0)) for name, _ in self.agents]

    def values(self) -> dict[str, str]:
        """What was asked for, by name; days too."""
        return {name: str(value) for name, value in self.form.cleaned_data.items() if value}

    def bounds(self) -> tuple[dt.datetime | None, dt.datetime | None]:
        """From when and before when; days are whole, in the reader's zone."""
        since: dt.date | None = self.form.cleaned_data["since"]
        until: dt.date | None = self.form.cleaned_data["until"]
        return (
            _midnight(since) if since else None,
            _midnight(until + dt.timedelta(days=1)) if until else None,
        )

    @property
    def shortcuts(self) -> list[Shortcut]:
        """Today and the last 7 days where the reader is, with what else is chosen; none where it is bad."""
        if not self.is_valid():
            return []
        today = timezone.localdate()
        spans = {"Today": (today, today), "Last 7 days": (today - _WEEK, today)}
        chosen = (self.form.cleaned_data["since"], self.form.cleaned_data["until"])
        return [
            Shortcut(name, self.address(since=str(since), until=str(until)), chosen == (since, until))
            for name, (since, until) in spans.items()
        ]


@dataclass(frozen=True)
class Told:
    """A person's total, and of it each agent's: name, number and address."""

    person: str
    many: int
    address: str
    agents: list[tuple[str, int, str]]


def _kinds() -> list[tuple[str, str]]:
    return [(kept.name, kept.name) for kept in all_kept()]


class ActivityFilters(HappenedFilters):
    """What the list of activity is narrowed to. What the operator did is chosen like a person's."""

    ORDER = ("person", "agent", "session", "kind", "door", "since", "until")
    COUNTED = f"the newest {LOOKED_AT:,} of each kind"
    OTHERS = (OPERATOR,)

    session = as_kept(WriteContext.MAX_LENGTHS["session"], "Session")
    kind = django_filters.ChoiceFilter(label="What", empty_label="anything", choices=_kinds)

    class Meta(HappenedFilters.Meta):
        pass

    def wanted(self) -> Wanted:
        """The same for the feed."""
        said = self.values()
        since, before = self.bounds()
        texts = {name: said.get(name, "") for name in ("person", "agent", "session", "kind", "door")}
        return Wanted(**texts, since=since, before=before)

    def told(self, totals: Totals) -> list[Told]:
        """Each person's total with the addresses that lead to what is counted."""
        return [self._told(each) for each in totals.rows]

    def _told(self, each: Total) -> Told:
        agents = [(agent, many, self.address(person=each.person, agent=agent)) for agent, many in each.agents]
        return Told(each.person, each.many, self.address(person=each.person), agents)


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), timezone.get_current_timezone())
