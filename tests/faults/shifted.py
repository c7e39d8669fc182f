"""The product's settings on a clock that a test sets: off by as many seconds as the file `clock` says.

Everything that the hub asks for the time is patched before its first line is loaded.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from pathlib import Path

from django.utils import timezone

_FILE = Path(os.environ["MEMORYHUB_DATA"]) / "clock"
_real = time.time


def _shift() -> float:
    return float(_FILE.read_text()) if _FILE.exists() else 0.0


def _time() -> float:
    return _real() + _shift()


def _now() -> dt.datetime:
    return dt.datetime.fromtimestamp(_time(), dt.UTC)


time.time = _time
timezone.now = _now

from memoryhub.settings import *  # noqa: E402, F403
