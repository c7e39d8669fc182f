"""A moment as a date in UTC, the same text on both engines."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db.models import CharField
from django.db.models.functions import Cast, TruncDate


def as_date(field: str) -> Any:
    """`2026-03-12`"""
    return Cast(TruncDate(field, tzinfo=dt.UTC), CharField())
