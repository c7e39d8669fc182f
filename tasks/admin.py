"""The admin's door to work in flight: it curates, through the services.

Staff see tasks, receipts and checkpoints of all projects. A receipt never changes; it is acknowledged.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.admin import choice_filter, yes_no_filter
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import web_actor
from memoryhub.kernel.text import visible_marks
from projects.admin import ProjectFilter
from tasks import admin_histories  # noqa: F401 - registers them
from tasks.admin_erasing import Erasable
from tasks.admin_forms import AddTaskForm, ChangeTaskForm, CheckpointForm
from tasks.models import (
    Checkpoint,
    CheckpointFields,
    Priority,
    Receipt,
    Task,
    TaskStatus,
)
from tasks.services import (
    acknowledge_receipt,
    create_task,
    erase_checkpoint,
    erase_receipt,
    erase_task,
    release_task,
    revise_checkpoint,
    revise_task,
)


class _Searched(Erasable):
    """Lists that are searched by words, and what has a number by that; what was erased is in none."""

    def get_queryset(self, request: HttpRequest) -> Any:
        rows: Any = super().get_queryset(request)
        return rows.standing() if hasattr(rows, "standing") else rows

    def logged_as(self, obj: Any) -> Any:
        """Without what it says: the log outlives it, also when it is erased."""
        return self.model(pk=obj.pk, number=obj.number, title=f"in {obj.project.slug}")

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if "\x00" in search_term:  # no database takes it
            return queryset.none(), False
        found, duplicates = super().get_search_results(request, queryset, search_term)
        number = read_number(search_term) if hasattr(self.model, "number") else None
        return (found | queryset.filter(number=number) if number else found), duplicates

    @admin.display(description="number", ordering="number")
    def shown_number(self, row: Any) -> str:
        return f"#{row.number}"

    @admin.display(description="title", ordering="title")
    def shown_title(self, row: Any) -> str:
        return visible_marks(row.title)


@admin.register(Task)
class TaskAdmin(_Searched):
    """Tasks: added, changed, their claims released, erased; never deleted."""

    erase_says = (
        "Its history and its place in the index go with it; it is cancelled, its sub-tasks move to the top "
        "level, and nothing waits for it any more. Its number stays taken."
    )

    list_display = (
        "shown_number",
        "shown_title",
        "project",
        "status",
        "priority",
        "assignee",
        "claimed",
        "version",
        "updated_at",
    )
    list_display_links = ("shown_number", "shown_title")
    list_filter = (
        ProjectFilter,
        choice_filter("status", TaskStatus),
        choice_filter("priority", Priority),
    )
    list_select_related = ("project", "assignee", "claim_user")
    search_fields = ("title", "summary")
    search_help_text = "A number, or words of the title or the summary."
    ordering = ("-updated_at", "-pk")
    actions = ("release",)
    _KEPT = (
        "project",
        "shown_number",
        "author",
        "version",
        "claimed",
        "created_at",
        "updated_at",
        "finished_at",
        "erase_link",
    )

    @admin.display(description="claimed by")
    def claimed(self, task: Task) -> str:
        if task.claim_until is None:
            return ""
        until = task.claim_until.strftime("%Y-%m-%d %H:%M UTC")
        return f"{task.claimant} {'until' if task.is_claimed(timezone.now()) else 'lapsed'} {until}"

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        kwargs |= {"form": ChangeTaskForm if obj else AddTaskForm, "fields": ()}
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = (*AddTaskForm.FIELDS, "reason")
        if obj is None:
            return [(None, {"fields": ("project", *fields)})]
        first = ("shown_number", "project", "status", "expected_version")
        kept = tuple(name for name in self._KEPT if name not in first)
        return [(None, {"fields": (*first, *fields)}), ("Kept by the hub", {"fields": kept})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self._KEPT if obj else ()

    def add_with_service(self, request: HttpRequest, form: Any) -> Task:
        actor, project = web_actor(request, Door.ADMIN), form.cleaned_data["project"]
        return create_task(actor=actor, project=project, **form.given()).task

    def change_with_service(self, request: HttpRequest, obj: Task, form: Any) -> Task:
        actor, version = web_actor(request, Door.ADMIN), form.cleaned_data["expected_version"]
        done = revise_task(actor=actor, task=obj, expected_version=version, **form.given())
        for hint in done.hints:
            self.message_user(request, hint.message)
        return done.task

    def erase_with_service(self, actor: Actor, obj: Task) -> None:
        erase_task(actor=actor, task=obj)

    @admin.action(description="Release the claim", permissions=["change"])
    def release(self, request: HttpRequest, queryset: QuerySet[Task]) -> None:
        actor = web_actor(request, Door.ADMIN)
        rows = queryset.select_related("project")
        self.for_each(request, rows, lambda task: release_task(actor=actor, task=task), "released")


@admin.register(Receipt)
class ReceiptAdmin(_Searched):
    """Receipts as they were handed over; they are acknowledged, erased and never changed."""

    erase_says = "Its place in the index goes with it. Its number stays taken, and who acknowledged it stays."

    list_display = (
        "shown_number",
        "shown_title",
        "project",
        "who",
        "created_at",
        "unsurfaced_results_left",
        "acknowledged_at",
    )
    list_display_links = ("shown_number", "shown_title")
    list_filter = (
        ProjectFilter,
        yes_no_filter("acknowledged", "acknowledged", Q(acknowledged_at__isnull=False)),
        yes_no_filter("unsurfaced results", "unsurfaced", Q(is_unsurfaced=True)),
    )
    list_select_related = ("project", "author")
    search_fields = ("title", "summary")
    search_help_text = "A number, or words of the title or the summary."
    ordering = ("-created_at", "-pk")
    actions = ("acknowledge",)
    fields = readonly_fields = (
        "project",
        "shown_number",
        "shown_title",
        "summary",
        *Receipt.TEXTS,
        "tags",
        "branch_and_commit",
        "who",
        "door",
        "session",
        "client",
        "model",
        "created_at",
        "acknowledged_at",
        "acknowledger",
        "erase_link",
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @admin.display(description="by")
    def who(self, receipt: Receipt) -> str:
        return receipt.actor_name

    @admin.display(description="unsurfaced results", boolean=True)
    def unsurfaced_results_left(self, receipt: Receipt) -> bool:
        return receipt.is_unsurfaced

    @admin.display(description="branch and commit")
    def branch_and_commit(self, receipt: Receipt) -> str:
        """Without the numbers that it names: some may be of memories that the admin hides."""
        named = (receipt.references.get(name, "") for name in ("branch", "commit"))
        return " ".join(text for text in named if text)

    def change_with_service(self, request: HttpRequest, obj: Receipt, form: Any) -> Receipt:
        """Nothing on the page can be typed into: saving it changes nothing."""
        return obj

    def erase_with_service(self, actor: Actor, obj: Receipt) -> None:
        erase_receipt(actor=actor, receipt=obj)

    @admin.action(description="Acknowledge", permissions=["change"])
    def acknowledge(self, request: HttpRequest, queryset: QuerySet[Receipt]) -> None:
        actor = web_actor(request, Door.ADMIN)
        rows = queryset.select_related("project")
        self.for_each(
            request, rows, lambda receipt: acknowledge_receipt(actor=actor, receipt=receipt), "acknowledged"
        )


@admin.register(Checkpoint)
class CheckpointAdmin(_Searched):
    """Where somebody's work stands: changed by owners with what it replaced kept, erased with all of it."""

    erase_says = "All that it replaced goes with it, and the stream is as if it had never been."

    list_display = ("stream", "user", "project", "objective_line", "version", "updated_at")
    list_filter = (ProjectFilter,)
    list_select_related = ("project", "user")
    search_fields = ("stream", "objective", "user__username")
    ordering = ("-updated_at", "-pk")
    form = CheckpointForm
    _KEPT = ("project", "user", "stream", "version", "updated_at", "saved_by", "session", "erase_link")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def erased_name(self, obj: Checkpoint) -> str:
        return f"a checkpoint of {obj.user} in {obj.project.slug}"

    def erased_title(self, obj: Checkpoint) -> str:
        return f"the stream {obj.stream}"

    def logged_as(self, obj: Checkpoint) -> Checkpoint:
        return Checkpoint(pk=obj.pk, stream="a stream", user_id=obj.user_id)

    def erase_with_service(self, actor: Actor, obj: Checkpoint) -> None:
        erase_checkpoint(actor=actor, checkpoint=obj)

    @admin.display(description="objective")
    def objective_line(self, checkpoint: Checkpoint) -> str:
        return visible_marks(checkpoint.objective)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        kwargs |= {"fields": ()}
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return [
            (None, {"fields": ("expected_version", *CheckpointFields.ALL)}),
            ("Kept by the hub", {"fields": self._KEPT}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self._KEPT

    def change_with_service(self, request: HttpRequest, obj: Checkpoint, form: Any) -> Checkpoint:
        given, version = form.given(), form.cleaned_data["expected_version"]
        if not given:
            return obj
        actor = web_actor(request, Door.ADMIN)
        return revise_checkpoint(actor=actor, checkpoint=obj, expected_version=version, **given).checkpoint
