"""What the admin's list of memories is filtered by, beside plain choices."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from django.http import HttpRequest

from memories.models import Memory, Tag
from memoryhub.kernel.admin import ExactFilter

# The filter offers the most used tags; any other can stand in the address.
TAGS_OFFERED = 50


class BagFilter(ExactFilter):
    """Whether it holds others, of those that the admin shows."""

    title = "is a bag"
    parameter_name = "bag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return (("yes", "yes"), ("no", "no"))

    def narrowed(self, queryset: Any, value: str) -> Any:
        bags = Memory.objects.bags_for_staff()
        return queryset.filter(pk__in=bags) if value == "yes" else queryset.exclude(pk__in=bags)


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
