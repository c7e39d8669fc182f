"""What the list of calls is narrowed to."""

from __future__ import annotations

from typing import Any

from django import forms

from memoryhub.kernel.calls import FAILED, OK
from memoryhub.kernel.errors import ALL_ERRORS
from memoryhub.kernel.text import storable
from projects.calls.pages import REFUSED, Wanted
from projects.forms_activity import HappenedForm, one_line
from projects.models import Call, Project, Role, User

_OUTCOMES = [
    ("", "any"),
    (OK, "ok"),
    (REFUSED, "not ok"),
    *((error.code, error.code.replace("_", " ")) for error in ALL_ERRORS),
    (FAILED, "failed: a bug of the hub"),
]


class CallsForm(HappenedForm):
    """Somebody who sees their own alone chooses no person."""

    name = one_line(Call.NAME_MAX_LENGTH)
    name.label = "Called"
    outcome = forms.ChoiceField(required=False, choices=_OUTCOMES, label="Ended")
    field_order = ("person", "agent", "name", "outcome", "door", "since", "until")

    def __init__(self, *args: Any, project: Project, reader: User, **kwargs: Any) -> None:
        super().__init__(*args, project=project, reader=reader, **kwargs)
        if project.role != Role.OWNER:  # type: ignore[attr-defined]
            del self.fields["person"]

    def wanted(self) -> Wanted | None:
        """What is to be found; None where no row can be it."""
        said = self._values()
        texts = {name: said.get(name, "") for name in ("person", "agent", "name", "outcome", "door")}
        since, before = self.bounds()
        return Wanted(**texts, since=since, before=before) if all(map(storable, texts.values())) else None
