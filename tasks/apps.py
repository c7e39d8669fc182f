from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from projects.models import Project, User


class TasksConfig(AppConfig):
    """Tasks with claims, receipts, checkpoints: work in flight, and how a fresh session finds it."""

    name = "tasks"
    verbose_name = "Tasks"

    def ready(self) -> None:
        from memories.numbered import register_numbered, register_place
        from memories.overview import register_overview
        from memories.parts import register_overview_part
        from memories.reviews.telling import register_hand_off
        from memories.search import register_searched
        from memoryhub.kernel.doctor import register_check
        from projects.activity import register_activity
        from tasks import activity, doctor, tools, tools_continuity  # noqa: F401 - declare the tools
        from tasks.checkup import check_checkpoints
        from tasks.numbers import last_hand_off
        from tasks.overview import in_flight_columns, overview_entry, overview_part
        from tasks.places import place_of_work
        from tasks.search import RECEIPTS, TASKS

        register_numbered(_numbered)
        register_place(place_of_work)
        register_hand_off(last_hand_off)
        for kept in activity.KINDS:
            register_activity(kept)
        register_overview("tasks", overview_entry)
        register_overview_part("work", overview_part, place=1, columns=in_flight_columns)
        register_searched(TASKS)
        register_searched(RECEIPTS)
        register_check("numbers", doctor.check_numbers)
        register_check("tasks", doctor.check_tasks)
        register_check("checkpoints", check_checkpoints)


def _numbered(project: Project, reader: User, number: int) -> dict[str, Any] | None:
    """For whoever reads any number: a task or a receipt in full."""
    from django.utils import timezone

    from tasks.numbers import find_receipt, find_task
    from tasks.presenting import receipt_whole, task_whole

    if task := find_task(project, reader, number):
        return task_whole(task, reader, timezone.now())
    receipt = find_receipt(project, reader, number)
    return receipt_whole(receipt, reader) if receipt else None
