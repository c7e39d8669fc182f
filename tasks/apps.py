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
        from memories.numbered import register_numbered
        from memories.overview import register_overview
        from memories.reviews.telling import register_hand_off
        from memories.search import register_searched
        from memoryhub.kernel.doctor import register_check
        from tasks import doctor, tools, tools_continuity  # noqa: F401 - declare the tools
        from tasks.numbers import last_hand_off
        from tasks.overview import overview_entry
        from tasks.search import RECEIPTS, TASKS

        register_numbered(_numbered)
        register_hand_off(last_hand_off)
        register_overview("tasks", overview_entry)
        register_searched(TASKS)
        register_searched(RECEIPTS)
        register_check("numbers", doctor.check_numbers)
        register_check("tasks", doctor.check_tasks)


def _numbered(project: Project, reader: User, number: int) -> dict[str, Any] | None:
    """For whoever reads any number: a task or a receipt in full."""
    from django.utils import timezone

    from tasks.numbers import find_receipt, find_task
    from tasks.presenting import receipt_whole, task_whole

    if task := find_task(project, reader, number):
        return task_whole(task, reader, timezone.now())
    receipt = find_receipt(project, reader, number)
    return receipt_whole(receipt, reader) if receipt else None
