"""What the list of calls is narrowed to."""

from __future__ import annotations

from typing import Any

import django_filters

from memoryhub.kernel.calls import FAILED, OK
from memoryhub.kernel.errors import ALL_ERRORS
from memoryhub.kernel.filters import typed
from memoryhub.kernel.text import storable
from projects.calls.facets import LOOKED_AT
from projects.calls.pages import REFUSED, Wanted
from projects.filters_activity import HappenedFilters
from projects.models import Call, Project, Role, User

_OUTCOMES = [
    (OK, "ok"),
    (REFUSED, "not ok"),
    *((error.code, error.code.replace("_", " ")) for error in ALL_ERRORS),
    (FAILED, "failed: a bug of the hub"),
]
# The most frequent ones are offered.
_NAMES_OFFERED = 50


class CallsFilters(HappenedFilters):
    """Somebody who sees their own alone chooses no person."""

    ORDER = ("person", "agent", "name", "outcome", "door", "since", "until")
    COUNTED = f"the newest {LOOKED_AT:,}"

    name = django_filters.CharFilter(
        max_length=Call.NAME_MAX_LENGTH, label="Called", widget=typed(placeholder="any", list="names")
    )
    outcome = django_filters.ChoiceFilter(choices=_OUTCOMES, label="Ended", empty_label="any")

    class Meta(HappenedFilters.Meta):
        pass

    def __init__(self, data: Any, project: Project, reader: User) -> None:
        super().__init__(data, project, reader)
        if project.role != Role.OWNER:  # type: ignore[attr-defined]
            del self.filters["person"]

    @property
    def names(self) -> list[tuple[str, int]]:
        """What was called most, with how often."""
        return self.counts.most("name", _NAMES_OFFERED)

    def wanted(self) -> Wanted | None:
        """What is to be found; None where no row can be it."""
        said = self.values()
        texts = {name: said.get(name, "") for name in ("person", "agent", "name", "outcome", "door")}
        since, before = self.bounds()
        return Wanted(**texts, since=since, before=before) if all(map(storable, texts.values())) else None
