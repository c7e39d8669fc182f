"""The filters of the queue, as they stand in its address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import django_filters
from django_filters.fields import ChoiceField

from memories.listing import ANY
from memories.models import ChangeKind, Review
from memories.reviews.facets import APPLIES, MINE, OF_USER, OTHERS, STALE, Facets
from memories.reviews.listing import ReviewFilter
from memories.wording import change_name
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import Number
from memoryhub.kernel.filters import AddressFilterSet, ReadFilter, typed
from projects.models import Project

_KINDS = [(kind.value, change_name(kind).lower()) for kind in ChangeKind]
_STATUSES = [("approved", "approved"), ("rejected", "rejected"), ("withdrawn", "withdrawn"), (ANY, "any")]


class ProposerField(ChoiceField):
    """Me, others, or anybody by name: who proposed nothing leaves an empty list, and no error."""

    def valid_value(self, value: Any) -> bool:
        return str(value).startswith(OF_USER) or super().valid_value(value)


class ProposerFilter(django_filters.Filter):
    """A filter with a `ProposerField`."""

    field_class = ProposerField


class QueueFilters(AddressFilterSet):
    """What the queue of some projects is narrowed to; the project itself where there are several."""

    BESIDE: ClassVar[tuple[str, ...]] = ()
    NARROWED = ("status",)

    project = django_filters.ChoiceFilter(label="Project", empty_label="all of mine", choices=[])
    status = django_filters.ChoiceFilter(label="Status", empty_label="waiting", choices=_STATUSES)
    kind = django_filters.ChoiceFilter(label="Change", empty_label="any", choices=_KINDS)
    proposer = ProposerFilter(label="Proposer", empty_label="anybody")
    session = django_filters.CharFilter(
        label="Session",
        max_length=WriteContext.MAX_LENGTHS["session"],
        widget=typed(placeholder="any"),
    )
    memory = ReadFilter(read=Number().read, label="Memory", widget=typed(placeholder="#48"))
    stale = django_filters.ChoiceFilter(
        label="Can be applied", empty_label="any", choices=[(APPLIES, "yes"), (STALE, "no: moved on")]
    )

    class Meta(AddressFilterSet.Meta):
        model = Review
        fields = ()

    def __init__(self, data: Any, projects: Sequence[Project], *, several: bool) -> None:
        super().__init__(data, queryset=Review.objects.none())
        if several:
            self.filters["project"].extra["choices"] = [(one.slug, one.name) for one in projects]
            # In each project a number is another memory's.
            del self.filters["memory"]
        else:
            del self.filters["project"]
        self.filters["proposer"].extra["choices"] = self._proposers(())

    def _proposers(self, names: Sequence[str]) -> list[tuple[str, str]]:
        sent = self.sent("proposer")
        asked = [sent.removeprefix(OF_USER)] if sent.startswith(OF_USER) else []
        named = dict.fromkeys([*names, *(name for name in asked if name not in names)])
        return [
            (MINE, "me and my agents"),
            (OTHERS, "others"),
            *((OF_USER + name, name) for name in named),
        ]

    def show(self, facets: Facets) -> None:
        """Say at each choice how many there are, and offer the proposers by name."""
        field: Any = self.form.fields["proposer"]
        field.choices = self._proposers(facets.proposers)
        self.count(facets.counts)

    def review_filter(self) -> ReviewFilter:
        """The same as the services take it. Only where the address can be read."""
        said = {name: value for name, value in self.form.cleaned_data.items() if value}
        proposer = said.get("proposer", "")
        return ReviewFilter(
            status=said.get("status") or Review.Status.PENDING.value,
            mine={MINE: True, OTHERS: False}.get(proposer),
            session=said.get("session"),
            kind=said.get("kind"),
            proposer=proposer.removeprefix(OF_USER) if proposer.startswith(OF_USER) else None,
            project=said.get("project"),
            memory=said.get("memory"),
            stale={STALE: True, APPLIES: False}.get(said.get("stale", "")),
        )
