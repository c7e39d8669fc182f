"""The admin's door to memories and what hangs on them: it curates, through the services.

Staff see shared and public memories of all projects, private ones of nobody: not in lists, counts,
pickers, histories or log lines.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.timesince import timesince

from memories import admin_commits, admin_records, admin_reviews  # noqa: F401 - register what hangs on memories
from memories.admin_filters import AgeFilter, BagFilter, InsideFilter, TagFilter
from memories.admin_forms import AddMemoryForm, ChangeMemoryForm
from memories.models import Kind, Link, Memory, Origin, Revision, Status, Visibility, Weight
from memories.services import (
    Applied,
    Pending,
    add_memory,
    erase_memory,
    revise_memory,
)
from memories.wording import waits_sentence
from memoryhub.kernel.actor import Door
from memoryhub.kernel.admin import ServiceAdmin, choice_filter
from memoryhub.kernel.admin_extending import Extendable
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import web_actor
from memoryhub.kernel.text import visible_marks
from projects.admin import ProjectFilter
from projects.models import Role
from projects.services import role_of

CHILDREN_SHOWN = 100


@admin.register(Memory)
class MemoryAdmin(Extendable, ServiceAdmin):
    """Memories: added, changed, erased; never deleted. What is done to several at once, hygiene adds."""

    list_display = (
        "shown_number",
        "shown_title",
        "project",
        "kind",
        "weight",
        "visibility",
        "status",
        "in_bag",
        "children",
        "version",
        "age",
        "writer",
        "writing_session",
        "verified_at",
    )
    list_display_links = ("shown_number", "shown_title")
    list_filter = (
        ProjectFilter,
        choice_filter("kind", Kind),
        choice_filter("weight", Weight),
        choice_filter("visibility", Visibility),
        choice_filter("status", Status),
        choice_filter("origin", Origin),
        BagFilter,
        InsideFilter,
        AgeFilter,
        TagFilter,
    )
    list_select_related = ("project", "parent")
    search_fields = ("title", "summary")
    search_help_text = "A number, or words of the title or the summary."
    ordering = ("-updated_at", "-pk")
    _KEPT = (
        "project",
        "shown_number",
        "status",
        "origin",
        "author",
        "version",
        "created_at",
        "updated_at",
        "verified_at",
        "verified_by",
        "archived_at",
        "archive_reason",
        "writer",
        "written_from",
        "held",
        "links",
        "more",
    )

    # --- reading ---------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> Any:
        current = Revision.objects.visible_to_staff().current().with_names().without_values()
        rows = Memory.objects.for_staff().prefetch_related(Prefetch("revisions", current, to_attr="latest"))
        return self.extended(request, rows).order_by(*self.ordering)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if "\x00" in search_term:  # no database takes it
            return queryset.none(), False
        found, duplicates = super().get_search_results(request, queryset, search_term)
        number = read_number(search_term)
        return (found | queryset.filter(number=number) if number else found), duplicates

    @admin.display(description="number", ordering="number")
    def shown_number(self, memory: Memory) -> str:
        return f"#{memory.number}"

    @admin.display(description="title", ordering="title")
    def shown_title(self, memory: Memory) -> str:
        return visible_marks(memory.title)

    @admin.display(description="bag", empty_value="")
    def in_bag(self, memory: Memory) -> str | None:
        if memory.parent is None:
            return None
        inside = (
            f"{reverse('admin:memories_memory_changelist')}?{InsideFilter.parameter_name}={memory.parent.pk}"
        )
        return format_html('<a href="{}">#{}</a>', inside, memory.parent.number)

    @admin.display(ordering="child_count")
    def children(self, memory: Any) -> int:
        return int(memory.child_count)

    @admin.display(description="age", ordering="-touched_at")
    def age(self, memory: Memory) -> str:
        return timesince(memory.touched_at, depth=1)

    @admin.display(description="written by", empty_value="")
    def writer(self, memory: Any) -> str:
        return memory.latest[0].actor_name if memory.latest else ""

    @admin.display(description="session", empty_value="")
    def writing_session(self, memory: Any) -> str:
        return memory.latest[0].session if memory.latest else ""

    @admin.display(description="written from", empty_value="")
    def written_from(self, memory: Any) -> str:
        """Door, session, client, model, branch and commit of what stands here, and who approved it."""
        said = memory.latest[0].provenance() if memory.latest else {}
        return ", ".join(f"{name.replace('_', ' ')} {said[name]}" for name in said if name != "actor")

    @admin.display(description="holds")
    def held(self, memory: Memory) -> str:
        inside = Memory.objects.visible_to_staff().inside(memory).order_by("-number")
        rows = [(_change_url(child), child) for child in inside.defer("body", "details")[:CHILDREN_SHOWN]]
        return format_html_join("\n", '<a href="{}">{}</a><br>', rows) or "nothing"

    @admin.display(description="links")
    def links(self, memory: Memory) -> str:
        standing = Link.objects.visible_to_staff().standing().of(memory).select_related("source", "target")
        rows = [
            (f"#{link.source.number} {link.get_type_display()} #{link.target.number}", link.reason)
            for link in standing
        ]
        return format_html_join("\n", "{} {}<br>", rows) or "none"

    @admin.display(description="more")
    def more(self, memory: Memory) -> str:
        history = f"{reverse('admin:memories_revision_changelist')}?memory={memory.pk}"
        erase = reverse("admin:memories_memory_erase", args=(memory.pk,))
        return format_html('<a href="{}">Revisions</a> · <a href="{}">Erase…</a>', history, erase)

    # --- the form --------------------------------------------------------------------

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        # All fields are declared: none is Django's reading of the model.
        kwargs |= {"form": ChangeMemoryForm if obj else AddMemoryForm, "fields": ()}
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        form = ChangeMemoryForm if obj else AddMemoryForm
        says = ("kind", "title", "summary", "body", "details", "hardness", "scope_paths")
        counts = ("weight", "visibility", "parent", "tags", "retrieval_hints")
        first = ("shown_number", "project", "status", "expected_version") if obj else ("project",)
        sets = [
            (None, {"fields": (*first, *says)}),
            ("How it is found", {"fields": counts}),
            ("Links", {"fields": (*(("links",) if obj else ()), *form.LINKS)}),
            ("Why", {"fields": ("reason",)}),
        ]
        if obj:
            shown = [name for name in self._KEPT if name not in (*first, "links")]
            sets.append(("Kept by the hub", {"fields": tuple(shown)}))
        return sets

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self._KEPT if obj else ()

    def add_with_service(self, request: HttpRequest, form: Any) -> Memory | None:
        actor = web_actor(request, Door.ADMIN)
        project = form.cleaned_data["project"]
        return self._applied(request, add_memory(actor=actor, project=project, **form.given()))

    def change_with_service(self, request: HttpRequest, obj: Memory, form: Any) -> Memory | None:
        version = form.cleaned_data["expected_version"]
        actor = web_actor(request, Door.ADMIN)
        return self._applied(
            request, revise_memory(actor=actor, memory=obj, expected_version=version, **form.given())
        )

    def _applied(self, request: HttpRequest, result: Applied | Pending, about: str = "") -> Memory | None:
        """The memory as it is stored now; None for a change that waits, which is said."""
        for hint in result.hints:
            self.message_user(request, hint.message)
        if isinstance(result, Pending):
            sentence = waits_sentence(result.ref)
            self.message_user(request, f"{about}: {sentence}" if about else sentence, messages.WARNING)
            return None
        return result.memory

    # --- erasing ---------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        erase = self.admin_site.admin_view(self.erase_view)
        return [path("<path:object_id>/erase/", erase, name="memories_memory_erase"), *super().get_urls()]

    def erase_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Asks, and with the answer erases: for superusers, and owners who may change memories here."""
        memory = self.get_object(request, unquote(object_id))
        if memory is None:
            if not self.has_view_or_change_permission(request):
                raise PermissionDenied
            raise Http404("There is no such memory that the admin shows.")
        if not self.has_erase_permission(request, memory):
            raise PermissionDenied
        if request.method == "POST":
            return self._erase(request, memory)
        title = f"Erase {self._name(memory)}?"
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "memory": memory,
            "title": title,
        }
        return TemplateResponse(request, "admin/memories/memory/erase.html", context)

    def has_erase_permission(self, request: HttpRequest, memory: Memory) -> bool:
        user: Any = request.user
        if not self.has_change_permission(request, memory):
            return False
        return user.is_superuser or role_of(user, memory.project) is Role.OWNER

    def _erase(self, request: HttpRequest, memory: Memory) -> HttpResponse:
        try:
            erase_memory(actor=web_actor(request, Door.ADMIN), memory=memory)
        except DomainError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return HttpResponseRedirect(_change_url(memory))
        self.log_change(request, memory, "Erased.")
        self.message_user(
            request, f"{self._name(memory)} is erased. Its number stays taken.", messages.SUCCESS
        )
        return HttpResponseRedirect(reverse("admin:memories_memory_changelist"))

    # --- Django's log ----------------------------------------------------------------

    def logged_as(self, obj: Any) -> Memory:
        """The memory without its title: the log outlives it, also when it is erased or made private."""
        return Memory(pk=obj.pk, number=obj.number, title=f"in {obj.project.slug}")

    def _name(self, memory: Memory) -> str:
        return f"#{memory.number} in {memory.project.slug}"


def _change_url(memory: Memory) -> str:
    return reverse("admin:memories_memory_change", args=(memory.pk,))
