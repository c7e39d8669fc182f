"""Reported commits in the admin: read, never written there."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from memories.models import CommitReport
from memoryhub.kernel.admin import ReadOnlyAdmin
from memoryhub.kernel.text import visible_marks
from projects.admin import ProjectFilter

_FIELDS = ("project", "commit", "branch", "committed_at", "who", "door", "session", "client", "model")


@admin.register(CommitReport)
class CommitReportAdmin(ReadOnlyAdmin):
    """Which commits were reported, by whom, from where, and what they changed."""

    list_display = ("commit", "project", "shown_branch", "committed_at", "who", "session", "created_at")
    list_filter = (ProjectFilter,)
    search_fields = ("commit", "branch")
    ordering = ("-pk",)
    fields = (*_FIELDS, "created_at", "changed", "left_out")

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = CommitReport.objects.visible_to_staff().select_related("project", "reporter")
        is_list = request.resolver_match is None or "object_id" not in request.resolver_match.kwargs
        return (rows.defer("paths") if is_list else rows).order_by(*self.ordering)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if "\x00" in search_term:  # no database takes it
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="branch")
    def shown_branch(self, report: CommitReport) -> str:
        return visible_marks(report.branch)

    @admin.display(description="by")
    def who(self, report: CommitReport) -> str:
        return report.actor_name

    @admin.display(description="paths")
    def changed(self, report: CommitReport) -> str:
        lines = format_html_join("\n", "{}", ((visible_marks(path),) for path in report.paths))
        return format_html("<pre>{}</pre>", lines)
