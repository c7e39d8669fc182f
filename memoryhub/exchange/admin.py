"""Conflicts in the admin: shown, never written there."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memoryhub.exchange.models import Conflict
from memoryhub.kernel.admin import ReadOnlyAdmin, choice_filter
from memoryhub.kernel.text import visible_marks


@admin.register(Conflict)
class ConflictAdmin(ReadOnlyAdmin):
    """What two hubs had both changed: what stands, and what lost. Private ones are shown to nobody here."""

    list_display = ("about", "project", "lost_by", "kept_at", "lost_at", "met_at")
    list_filter = (choice_filter("lost_by", Conflict.Side),)
    ordering = ("-met_at", "-pk")
    fields = ("about", "project", "lost_by", "kept_at", "lost_at", "met_at", "both")

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = Conflict.objects.visible_to_staff().select_related("project", "memory", "task", "review")
        heavy = ("memory__body", "memory__details", "task__description", "review__fields")
        return rows.defer(*heavy).order_by(*self.ordering)

    @admin.display(description="about")
    def about(self, conflict: Conflict) -> str:
        return conflict.subject

    @admin.display(description="what stands, and what lost")
    def both(self, conflict: Conflict) -> SafeString:
        rows = ((name, _shown(kept), _shown(lost)) for name, kept, lost in conflict.differing)
        row = "<tr><th>{}</th><td><pre>{}</pre></td><td><pre>{}</pre></td></tr>"
        head = "<thead><tr><th>field</th><th>stands</th><th>lost</th></tr></thead>"
        return format_html(f"<table>{head}<tbody>{{}}</tbody></table>", format_html_join("", row, rows))


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return visible_marks(text)
