"""What hangs on memories, shown in the admin and never written there: revisions, links, tags, scopes."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html

from memories.admin_filters import AddressFilter
from memories.models import Link, Memory, Revision, ScopePath, Tag
from memories.wording import LINK_SENTENCES
from memoryhub.kernel.admin import ReadOnlyAdmin, choice_filter
from memoryhub.kernel.text import in_one_line

# What no list shows of a row's memory.
_HEAVY = ("memory__body", "memory__details")


class MemoryFilter(AddressFilter):
    """Of one memory: what the page of a memory links to."""

    title = "memory"
    parameter_name = "memory"

    def narrowed(self, queryset: Any, number: int) -> Any:
        return queryset.filter(memory=number)


class _RecordAdmin(ReadOnlyAdmin):
    """Rows of memories that the admin shows."""

    def get_queryset(self, request: HttpRequest) -> Any:
        rows: Any = self.model._default_manager
        return rows.visible_to_staff()

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if "\x00" in search_term:  # no database takes it
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)


@admin.register(Revision)
class RevisionAdmin(_RecordAdmin):
    """Who changed what, from where, and why. What was written in private is not shown."""

    list_display = (
        "memory",
        "version",
        "who",
        "door",
        "session",
        "client",
        "model",
        "branch",
        "commit",
        "approved_by",
        "visibility",
        "shown_reason",
        "created_at",
    )
    list_filter = (MemoryFilter,)
    search_fields = ("reason",)
    ordering = ("-pk",)
    fields = (
        "memory",
        "version",
        "who",
        "door",
        "session",
        "client",
        "model",
        "branch",
        "commit",
        "approved_by",
        "visibility",
        "reason",
        "created_at",
        "changed",
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request).with_names().select_related("memory")
        return rows.defer(*_HEAVY).order_by(*self.ordering)

    @admin.display(description="by")
    def who(self, revision: Revision) -> str:
        return revision.actor_name

    @admin.display(description="approved by", empty_value="")
    def approved_by(self, revision: Revision) -> str:
        return revision.approver_name

    @admin.display(description="reason")
    def shown_reason(self, revision: Revision) -> str:
        return in_one_line(revision.reason)

    @admin.display(description="what changed")
    def changed(self, revision: Revision) -> str:
        text = json.dumps(shown_fields(revision), ensure_ascii=False, indent=2)
        return format_html("<pre>{}</pre>", text)


def shown_fields(revision: Revision) -> dict[str, Any]:
    """What changed, without the numbers of memories that the admin doesn't show."""
    named = {number for name in LINK_SENTENCES for number in _numbers(revision.fields.get(name))}
    here = Memory.objects.in_project(revision.memory.project).visible_to_staff()
    seen = set(here.with_numbers(named).values_list("number", flat=True)) if named else set()
    shown: dict[str, Any] = {}
    for name, value in revision.fields.items():
        if name not in LINK_SENTENCES:
            shown[name] = value
        elif isinstance(value, list):
            if kept := [number for number in value if number in seen]:
                shown[name] = kept
        elif not value or value in seen:
            shown[name] = value
    return shown


def _numbers(value: Any) -> list[int]:
    return value if isinstance(value, list) else [value] if value else []


@admin.register(Link)
class LinkAdmin(_RecordAdmin):
    """What memories say about each other."""

    list_display = ("source", "type", "target", "reason", "created_by", "created_at", "resolved_at")
    list_filter = (choice_filter("type", Link.Type),)
    list_select_related = ("source", "target", "created_by")
    search_fields = ("reason", "resolved_reason", "source__title", "target__title")


@admin.register(Tag)
class TagAdmin(_RecordAdmin):
    """Tags as they stand on memories."""

    list_display = ("name", "memory")
    list_select_related = ("memory",)
    search_fields = ("name",)
    ordering = ("name", "-pk")


@admin.register(ScopePath)
class ScopePathAdmin(_RecordAdmin):
    """The paths that constraints cover."""

    list_display = ("path", "memory")
    list_select_related = ("memory",)
    search_fields = ("path",)
    ordering = ("path", "-pk")
