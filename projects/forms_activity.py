"""What lists of what happened are narrowed to: all of it stands in the address."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.utils import timezone

from memoryhub.kernel.actor import OPERATOR, Door, WriteContext
from memoryhub.kernel.text import visible_marks
from projects.activity import Total, Totals, Wanted
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


def one_line(most: int, placeholder: str = "any", **attrs: str) -> forms.CharField:
    attrs |= {"placeholder": placeholder, "autocapitalize": "none", "autocomplete": "off"}
    return forms.CharField(required=False, max_length=most, widget=forms.TextInput(attrs=attrs))


def _day(label: str) -> forms.DateField:
    return forms.DateField(
        required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), label=label
    )


@dataclass(frozen=True)
class Shortcut:
    """A link that chooses days, and whether these are chosen."""

    name: str
    address: str
    is_chosen: bool


class HappenedForm(forms.Form):
    """What any list of what happened is narrowed by. An address with a value that can't be one is refused,
    never ignored.

    `agents` are the names of tokens to choose from: for an owner those of the project, else one's own.
    """

    person = forms.CharField(required=False, max_length=User.USERNAME_MAX_LENGTH, widget=forms.Select)
    agent = one_line(AccessToken.NAME_MAX_LENGTH, list="agents")
    door = forms.ChoiceField(
        required=False,
        choices=[("", "any"), *((door.value, name) for door, name in _DOORS.items())],
        label="Via",
    )
    since = _day("From")
    until = _day("To")
    # Who may be chosen beside the members.
    BESIDES: tuple[str, ...] = ()

    def __init__(self, *args: Any, project: Project, reader: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.CharField, self.fields["agent"]).strip = False
        names = [row.user.username for row in Membership.objects.in_project(project).by_name()[:_LISTED]]
        asked = self.data.get("person", "")
        if asked and asked not in (*names, *self.BESIDES):
            names.append(asked)  # somebody who left is still in what happened
        select = cast(forms.Select, self.fields["person"].widget)
        select.choices = [("", "anybody"), *((name, visible_marks(name)) for name in (*names, *self.BESIDES))]
        self.agents = AccessToken.objects.visible_to(reader).reaching(project).names(_LISTED)

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

    def _values(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.cleaned_data.items() if value}

    @property
    def is_narrowed(self) -> bool:
        return bool(self._values())

    def bounds(self) -> tuple[dt.datetime | None, dt.datetime | None]:
        """From when and before when; days are whole, in the reader's zone."""
        since: dt.date | None = self.cleaned_data["since"]
        until: dt.date | None = self.cleaned_data["until"]
        return (
            _midnight(since) if since else None,
            _midnight(until + dt.timedelta(days=1)) if until else None,
        )

    def address(self, **more: str | None) -> str:
        """The query string of this page, without what is empty."""
        said = {**self._values(), **more}
        return "?" + urlencode({name: value for name, value in said.items() if value})

    @property
    def shortcuts(self) -> list[Shortcut]:
        """Today and the last 7 days where the reader is, with what else is chosen; none where it is bad."""
        if not self.is_valid():
            return []
        today = timezone.localdate()
        spans = {"Today": (today, today), "Last 7 days": (today - _WEEK, today)}
        chosen = (self.cleaned_data["since"], self.cleaned_data["until"])
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


class ActivityForm(HappenedForm):
    """What the list of activity is narrowed to. What the operator did is chosen like a person's."""

    session = one_line(WriteContext.MAX_LENGTHS["session"])
    field_order = ("person", "agent", "session", "door", "since", "until")
    BESIDES = (OPERATOR,)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.CharField, self.fields["session"]).strip = False

    def wanted(self) -> Wanted:
        """The same for the feed."""
        said = self._values()
        since, before = self.bounds()
        return Wanted(
            person=said.get("person", ""),
            agent=said.get("agent", ""),
            session=said.get("session", ""),
            door=said.get("door", ""),
            since=since,
            before=before,
        )

    def told(self, totals: Totals) -> list[Told]:
        """Each person's total with the addresses that lead to what is counted."""
        return [self._told(each) for each in totals.rows]

    def _told(self, each: Total) -> Told:
        agents = [(agent, many, self.address(person=each.person, agent=agent)) for agent, many in each.agents]
        return Told(each.person, each.many, self.address(person=each.person), agents)


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), timezone.get_current_timezone())
