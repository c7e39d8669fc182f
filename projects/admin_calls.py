"""The admin's view of the record of calls of the whole hub; nothing in it is changed."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q

from memoryhub.kernel.actor import Door
from memoryhub.kernel.admin import ExactFilter, ReadOnlyAdmin, yes_no_filter
from projects.models import Call

_DOORS = (Door.MCP, Door.REST, Door.WEB, Door.ADMIN)


class DoorFilter(ExactFilter):
    """By where it came in."""

    title = "door"
    parameter_name = "door"

    def lookups(self, request: Any, model_admin: Any) -> Any:
        return [(door.value, door.value) for door in _DOORS]

    def narrowed(self, queryset: Any, value: str) -> Any:
        return queryset.filter(door=value)


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    """Calls, sign-ins and writes at pages, refused ones too."""

    list_display = ("at", "door", "name", "user", "token_name", "project", "outcome", "milliseconds")
    list_filter = (
        DoorFilter,
        yes_no_filter("well ended", "ok", Q(outcome="ok")),
        yes_no_filter("sign-in", "sign_in", Q(name="sign in")),
        yes_no_filter("of nobody known", "nobody", Q(user=None)),
    )
    list_select_related = ("user", "project")
    search_fields = ("user__username", "project__slug")
    ordering = ("-id",)
    fields = (*list_display, "token")
