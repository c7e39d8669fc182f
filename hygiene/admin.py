"""The admin's door to hygiene: what it adds to the lists and pages of memories and projects.

Of what everybody in a project sees: findings on private memories are neither shown nor counted. Nothing is
written here; what is done to several memories at once is in `admin_several`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Case, F, IntegerField, OuterRef, Q, Subquery, When
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from hygiene.admin_several import ACTIONS
from hygiene.models import Score, SimilarPair
from hygiene.rules import readers_of_memories
from hygiene.rules.scope import Scope, named_by, tables_of
from hygiene.rules.stale_bag import stale_among
from hygiene.rules.table import BY_NAME
from hygiene.services import report_of
from memories.admin import MemoryAdmin
from memories.models import Memory
from memories.recall.reading import start_of_day
from memoryhub.kernel.admin import ExactFilter, ReadOnlyAdmin, yes_no_filter
from memoryhub.kernel.admin_extending import Action, Extension, Panel
from projects.admin import ProjectAdmin, ProjectFilter
from projects.models import Project

SCORES_SHOWN = 30


def _chosen(request: HttpRequest) -> Project | None:
    """The project that the list of memories is narrowed to; asked for once a request."""
    slug = request.GET.get(str(ProjectFilter.parameter_name), "")
    if not hasattr(request, "chosen_project"):
        named = Project.objects.filter(slug=slug) if slug.isprintable() else Project.objects.none()
        request.chosen_project = named.first() if slug else None  # type: ignore[attr-defined]
    chosen: Project | None = request.chosen_project  # type: ignore[attr-defined]
    return chosen


def _everybodys(project: Project) -> Scope:
    """What all members see, today: no reader's private findings."""
    return Scope(project, start_of_day(None))


class FindingFilter(ExactFilter):
    """With a finding of one rule. Rules are a project's own, so a project has to be chosen first."""

    title = "finding"
    parameter_name = "finding"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        self.project = _chosen(request)
        rules = [each.rule for each in readers_of_memories()]
        return [(rule.name, rule.plural) for rule in rules] if self.project else []

    def has_output(self) -> bool:
        # Also where there is nothing to choose: what was asked for is then found nowhere.
        return super().has_output() or self.value() is not None

    def narrowed(self, queryset: Any, value: str) -> Any:
        reader = {each.rule.name: each for each in readers_of_memories()}.get(value)
        if self.project is None or reader is None:
            return queryset.none()
        named = Q()
        for rows in tables_of(reader.find(_everybodys(self.project))):
            named |= Q(number__in=rows.values("row_number"))
        return queryset.in_project(self.project).filter(named)


@admin.display(description="findings", empty_value="")
def findings(memory: Any) -> str:
    """What hygiene finds in it, and how it stands in lists."""
    return ", ".join(BY_NAME[name].singular for name in memory.findings)


@admin.display(description="bag's summary", boolean=True, ordering="-is_stale_bag")
def fresh_bag(memory: Any) -> bool | None:
    """Whether a bag's summary is younger than what it holds; nothing for what is no bag."""
    if memory.is_stale_bag:
        return False
    return True if memory.child_count else None


class MemoriesHygiene(Extension):
    """In the list of memories: stale bags first, findings by column and filter, changes of several."""

    filters = (FindingFilter,)
    first = ("-is_stale_bag",)

    def columns(self, request: HttpRequest) -> Sequence[Any]:
        return (fresh_bag, findings) if _chosen(request) else (fresh_bag,)

    def rows(self, request: HttpRequest, rows: Any) -> Any:
        everywhere = Memory.objects.active().visible_to_staff()
        stale = stale_among(everywhere, Q(status="active", erased_at=None)).order_by().values("pk")
        is_stale = Case(When(pk__in=stale, then=1), default=0, output_field=IntegerField())
        return rows.annotate(is_stale_bag=is_stale)

    def shown(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        project = _chosen(request)
        if project is None:
            return
        found = {each.rule.name: each.find(_everybodys(project)) for each in readers_of_memories()}
        named = named_by(found, [memory.number for memory in rows])
        for memory in rows:
            memory.findings = named.get(memory.number, [])

    def actions(self, request: HttpRequest) -> Sequence[Action]:
        return ACTIONS


# --- Projects ------------------------------------------------------------------------


@admin.display(description="score", ordering="last_score", empty_value="")
def score(project: Any) -> str | None:
    """The last one that was computed: a list computes none."""
    if project.last_score is None:
        return None
    asks = " (clean up)" if project.last_score < project.hygiene_threshold else ""
    return f"{project.last_score}/100{asks}"


class ProjectsHygiene(Extension):
    """In the list of projects the last score; on the page of a project what the score is made of."""

    filters = (yes_no_filter("below its threshold", "untidy", Q(last_score__lt=F("hygiene_threshold"))),)

    def columns(self, request: HttpRequest) -> Sequence[Any]:
        return (score,)

    def rows(self, request: HttpRequest, rows: Any) -> Any:
        newest = Score.objects.filter(project=OuterRef("pk")).order_by("-day", "-change_counter")
        return rows.annotate(last_score=Subquery(newest.values("score")[:1]))

    def panels(self, request: HttpRequest, obj: Project) -> Sequence[Panel]:
        report = report_of(obj, brief=True)
        memories = reverse("admin:memories_memory_changelist")
        rules = [
            {
                "name": each.rule.counted(each.count),
                "points": each.points,
                "list": f"{memories}?{urlencode({'project': obj.slug, 'finding': each.rule.name})}",
            }
            for each in report.costliest(len(report.rules))
        ]
        user: Any = request.user
        values = {
            "report": report,
            "project": obj,
            "rules": rules,
            # The lists of findings are lists of memories.
            "sees": user.has_perm("memories.view_memory") or user.has_perm("memories.change_memory"),
            "history": Score.objects.of(obj)[:SCORES_SHOWN],
        }
        return [Panel("admin/hygiene/_panel.html", values)]


# --- What hygiene keeps --------------------------------------------------------------


@admin.register(Score)
class ScoreAdmin(ReadOnlyAdmin):
    """The history of the scores: one entry a day, and one for each change."""

    list_display = ("project", "day", "score", "penalty", "at")
    list_filter = (ProjectFilter,)
    list_select_related = ("project",)
    ordering = ("-day", "-change_counter", "-pk")


@admin.register(SimilarPair)
class SimilarPairAdmin(ReadOnlyAdmin):
    """Pairs of memories that say the same; `second` is the extra one."""

    list_display = ("pair", "first", "second")
    list_display_links = ("pair",)
    list_select_related = ("first__project", "second")
    search_fields = ("first__title", "second__title")
    fields = ("pair", "first", "second")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> Any:
        return SimilarPair.objects.visible_to_staff().order_by(*self.ordering)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if "\x00" in search_term:  # no database takes it
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="pair")
    def pair(self, pair: SimilarPair) -> str:
        return format_html("{}: #{} like #{}", pair.first.project.slug, pair.second.number, pair.first.number)


MemoryAdmin.extend(MemoriesHygiene())
ProjectAdmin.extend(ProjectsHygiene())
