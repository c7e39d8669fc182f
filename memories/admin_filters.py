"""The filters of the admin's list of memories. Each finds among what the admin shows, and nothing else."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib import admin
from django.db.models import Count, Q
from django.http import HttpRequest

from memories.models import Memory, Tag
from memories.recall.reading import start_of_day
from memoryhub.kernel.admin import ExactFilter
from memoryhub.kernel.refs import read_number
from projects.models import Project

# The filter offers the most used tags; any other can stand in the address.
TAGS_OFFERED = 50


class AddressFilter(admin.SimpleListFilter):
    """By an id in the address, where a page links to it. It offers no list of its own."""

    says = "this one"

    def narrowed(self, queryset: Any, number: int) -> Any:
        """The rows of `queryset` that belong to what has this id."""
        raise NotImplementedError

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        value = self.used_parameters.get(str(self.parameter_name))
        return ((value, self.says),) if value else ()

    def has_output(self) -> bool:
        return bool(self.used_parameters)

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        value = self.value()
        if value is None:
            return queryset
        number = read_number(value)
        return self.narrowed(queryset, number) if number else queryset.none()


class BagFilter(ExactFilter):
    """Whether it holds others, of those that the admin shows."""

    title = "bag"
    parameter_name = "bag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return (("yes", "is a bag"), ("no", "is none"), ("in", "is in a bag"), ("top", "is neither"))

    def narrowed(self, queryset: Any, value: str) -> Any:
        if value == "in":
            return queryset.exclude(parent=None)
        bags = Memory.objects.bags_for_staff()
        if value == "yes":
            return queryset.filter(pk__in=bags)
        return (queryset.top_level() if value == "top" else queryset).exclude(pk__in=bags)


class InsideFilter(AddressFilter):
    """Of one bag, by its id: what the column and the page of a bag link to."""

    title = "inside"
    parameter_name = "inside"
    says = "this bag"

    def narrowed(self, queryset: Any, number: int) -> Any:
        return queryset.filter(parent__in=Memory.objects.visible_to_staff().filter(pk=number))


class AgeFilter(ExactFilter):
    """Whether somebody changed or verified it within the age that its project has set."""

    title = "changed or verified"
    parameter_name = "age"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return (("fresh", "within its project's age"), ("stale", "longer ago"))

    def narrowed(self, queryset: Any, value: str) -> Any:
        today = start_of_day(None)
        stale = Q(pk__in=())
        # A date that moves with the row is written otherwise on each engine; ages are few.
        for days in Project.objects.order_by().values_list("stale_after_days", flat=True).distinct():
            stale |= Q(project__stale_after_days=days, touched_at__lt=today - dt.timedelta(days=days))
        return queryset.filter(stale if value == "stale" else ~stale)


class TagFilter(ExactFilter):
    """With one tag, exactly."""

    title = "tag"
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        counted = Tag.objects.visible_to_staff().order_by().values_list("name").annotate(many=Count("pk"))
        used = [name for name, _ in counted.order_by("-many", "name")[:TAGS_OFFERED]]
        chosen = request.GET.get(self.parameter_name, "")
        if chosen and chosen not in used and chosen.isprintable():
            used.append(chosen)
        return [(name, name) for name in used]

    def narrowed(self, queryset: Any, value: str) -> Any:
        return queryset.tagged([value])
