"""What is asked by whoever keeps this process running: is it alive, and may it be sent work?"""

from __future__ import annotations

import logging

from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

logger = logging.getLogger(__name__)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 and `ok` while this process answers: nothing else is asked, and a restart mends nothing else."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 and `ready`, or 503 and the reason: the database is away, or not brought up to date."""
    try:
        reason = _why_not()
    except Error:
        logger.exception("The database does not answer.")
        reason = "The database doesn't answer."
    if reason:
        return JsonResponse({"status": "not ready", "reason": reason}, status=503)
    return JsonResponse({"status": "ready"})


class _Migrated:
    """Once this process found the database up to date it stays so: what is applied later is of newer code."""

    known = False


def _why_not() -> str:
    if _Migrated.known:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return ""
    executor = MigrationExecutor(connection)
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    _Migrated.known = not missing
    return f"Migrations are missing in the database: {missing}. Run manage.py migrate." if missing else ""
