"""The test settings for a process that a test starts: on the test's own database."""

from __future__ import annotations

import os

if "TEST_STDIO_SQLITE" in os.environ:
    os.environ["TEST_ENGINE"] = "sqlite"

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES

DATABASES["default"]["NAME"] = os.environ.get("TEST_STDIO_SQLITE") or os.environ["TEST_STDIO_POSTGRES"]
