"""What lists of what happened are narrowed to: all of it stands in the address."""

from __future__ import annotations

import datetime as dt
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.utils import timezone

from memoryhub.kernel.actor import Door, WriteContext
from memoryhub.kernel.text import visible_marks
from projects.activity import Wanted
from projects.models import AccessToken, Membership, Project, User

_DOORS = {
    Door.WEB: "the browser",
    Door.ADMIN: "the administration",
    Door.REST: "REST",
    Door.MCP: "MCP",
    Door.COMMAND: "a command",
}
# More members than this are typed into the address.
_PEOPLE_LISTED = 200


def one_line(most: int, placeholder: str) -> forms.CharField:
    widget = forms.TextInput(
        attrs={"placeholder": placeholder, "autocapitalize": "none", "autocomplete": "off"}
    )
    return forms.CharField(required=False, max_length=most, widget=widget)


class HappenedForm(forms.Form):
    """What any list of what happened is narrowed by. An address with a value that can't be one is refused,
    never ignored.
    """

    person = forms.CharField(required=False, max_length=User.USERNAME_MAX_LENGTH, widget=forms.Select)
    agent = one_line(AccessToken.NAME_MAX_LENGTH, "name of a token")
    door = forms.ChoiceField(
        required=False,
        choices=[("", "any door"), *((door.value, name) for door, name in _DOORS.items())],
        label="Came by",
    )
    day = forms.DateField(
        required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), label="On"
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.CharField, self.fields["agent"]).strip = False
        names = [
            row.user.username for row in Membership.objects.in_project(project).by_name()[:_PEOPLE_LISTED]
        ]
        asked = self.data.get("person", "")
        if asked and asked not in names:
            names.append(asked)  # somebody who left is still in what happened
        select = cast(forms.Select, self.fields["person"].widget)
        select.choices = [("", "anybody"), *((name, visible_marks(name)) for name in names)]

    def clean_day(self) -> dt.date | None:
        day: dt.date | None = self.cleaned_data["day"]
        if day and not 1970 <= day.year <= 9998:
            raise forms.ValidationError("Choose a day between 1970 and 9998.")
        return day

    def _values(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.cleaned_data.items() if value}

    @property
    def is_narrowed(self) -> bool:
        return bool(self._values())

    def day_bounds(self) -> tuple[dt.datetime | None, dt.datetime | None]:
        """From when and until when, of a day of the reader's zone."""
        day: dt.date | None = self.cleaned_data["day"]
        return (_midnight(day), _midnight(day + dt.timedelta(days=1))) if day else (None, None)

    def address(self, **more: str | None) -> str:
        """The query string of this page, without what is empty."""
        said = {**self._values(), **more}
        return "?" + urlencode({name: value for name, value in said.items() if value})


class ActivityForm(HappenedForm):
    """What the list of activity is narrowed to."""

    session = one_line(WriteContext.MAX_LENGTHS["session"], "id of a session")
    field_order = ("person", "agent", "session", "door", "day")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.CharField, self.fields["session"]).strip = False

    def wanted(self) -> Wanted:
        """The same for the feed."""
        said = self._values()
        since, before = self.day_bounds()
        return Wanted(
            person=said.get("person", ""),
            agent=said.get("agent", ""),
            session=said.get("session", ""),
            door=said.get("door", ""),
            since=since,
            before=before,
        )


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), timezone.get_current_timezone())
