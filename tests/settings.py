"""The real settings, on a store of the tests' own, whatever the developer's environment says.

TEST_ENGINE chooses the engine: sqlite (the default) or postgres.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from memoryhub.env import env_str
from tests.postgres import postgres_url

ENGINE = env_str("TEST_ENGINE", default="sqlite", choices=("sqlite", "postgres"))

_NAMES = {
    "WEB_THREADS",
    "LOG_FORMAT",
    "DEBUG",
    "SECRET_KEY",
    "ALLOWED_HOSTS",
    "CSRF_TRUSTED_ORIGINS",
    "PORT",
    "DATABASE_URL",
    "DB_POOL_MAX",
    "DB_PREPARE",
}
for _name in list(os.environ):
    if _name in _NAMES or _name.startswith("MEMORYHUB_"):
        del os.environ[_name]

# In memory where there is room: every commit of a test that isn't undone waits for the disk otherwise.
_MEMORY, _ROOM = "/dev/shm", 2 * 1024**3
_roomy = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
_data = tempfile.mkdtemp(prefix="memoryhub-tests-", dir=_MEMORY if _roomy else None)
atexit.register(shutil.rmtree, _data, ignore_errors=True)
os.environ["MEMORYHUB_DATA"] = _data
os.environ["SECRET_KEY"] = "for-the-tests-alone-" + "0123456789" * 4
if ENGINE == "postgres":
    os.environ["DATABASE_URL"] = postgres_url()

from memoryhub.settings import *  # noqa: E402, F403
from memoryhub.settings import DATA_DIR, DATABASES, STATIC_ROOT, STORAGES  # noqa: E402

if ENGINE == "sqlite":
    # A file, not memory: the threads of a test share it, as those of the server do.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}

IMPORTS_IN_BACKGROUND = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
# WhiteNoise warns about a folder that isn't there.
STATIC_ROOT.mkdir()
# A thread would write past the transaction that a test is undone by.
CALLS_KEPT_IN_BACKGROUND = False
# Counts of calls are then each process's own, and no test counts their queries; those of shared ones say so.
LIMITS_SHARED = False
