"""The filters of the list of tasks, as they stand in its address."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters

from memories.filters import TaggedFilterSet, tags_filter
from memories.listing import ANY
from memoryhub.kernel.filters import typed
from tasks.facets import NO, YES, Facets
from tasks.listing import TaskFilter
from tasks.models import Task, TaskStatus


class TaskFilterSet(TaggedFilterSet):
    """What the list is narrowed to. Without any filter it is what is unfinished."""

    BESIDE: ClassVar[tuple[str, ...]] = ()
    NARROWED = ("status",)

    status = django_filters.ChoiceFilter(
        choices=[*TaskStatus.choices, (ANY, "any status")], label="Status", empty_label="unfinished"
    )
    ready = django_filters.ChoiceFilter(
        choices=[(YES, "ready"), (NO, "not ready")], label="Ready", empty_label="any"
    )
    mine = django_filters.ChoiceFilter(
        choices=[(YES, "mine: assigned or claimed")], label="Whose", empty_label="anybody's"
    )
    assignee = django_filters.CharFilter(
        max_length=150,
        label="Assignee",
        widget=typed(placeholder="anybody", list="assignees-there"),
    )
    tag = tags_filter()

    class Meta(TaggedFilterSet.Meta):
        model = Task
        fields = ()

    def __init__(self, data: Any) -> None:
        super().__init__(data, queryset=Task.objects.none())
        self.facets = Facets()

    def show(self, facets: Facets) -> None:
        """Say at each choice how many there are."""
        self.facets = facets
        self.count(facets.counts.by_choice)

    @property
    def is_mine(self) -> bool:
        return bool(self.form.cleaned_data.get("mine"))

    def task_filter(self) -> TaskFilter:
        """The same as every list takes it. Only where the address can be read."""
        said = {name: value for name, value in self.form.cleaned_data.items() if value}
        return TaskFilter(
            status=said.get("status"),
            ready={YES: True, NO: False}.get(said.get("ready", "")),
            tags=self.tags,
            assignee=said.get("assignee"),
        )
