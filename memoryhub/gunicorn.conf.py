"""How gunicorn serves the hub: threads over WSGI, background work beside it.

Used by `make run` and in production alike:
    gunicorn -c memoryhub/gunicorn.conf.py memoryhub.wsgi:application
"""

from __future__ import annotations

import gc
import os
import resource
import sys
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from memoryhub.beside import Beside
from memoryhub.env import env_bool, env_int, env_str
from memoryhub.logs import FORMATTERS

ROOT = Path(__file__).resolve().parent.parent

_address = env_str("MEMORYHUB_BIND", default="127.0.0.1")
_port = env_int("PORT", default=8000, least=1, most=65535)
bind = f"{_address}:{_port}"
wsgi_app = "memoryhub.wsgi:application"
chdir = str(ROOT)

# Loaded once: workers share it, and a new one answers at once. New code needs a restart, no reload.
preload_app = True
worker_class = "memoryhub.serving.Worker"
# Threads wait for the database more than they compute.
threads = env_int("WEB_THREADS", default=16, least=1, most=256)
if env_str("DATABASE_URL"):
    _cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = env_int("WEB_WORKERS", default=max(2, min(4, _cores)), least=1, most=64)
    # A new worker now and then, against what libraries leak; the others answer meanwhile.
    max_requests = env_int("WEB_MAX_REQUESTS", default=50_000, least=0, most=100_000_000)
    max_requests_jitter = max_requests // 10
else:
    # Writers to the SQLite file wait their turn behind a lock of the process, so there is one. It is never
    # replaced while it serves: callers would wait for the new one.
    workers = env_int("WEB_WORKERS", default=1, least=1, most=64)
    if workers > 1:
        raise ImproperlyConfigured(
            f"WEB_WORKERS={workers}: SQLite is served by one process. "
            "Leave WEB_WORKERS out, or set DATABASE_URL."
        )

# Connections that wait beside the threads cost a file each. The limit of files that systems begin with is for
# programs that open few; each may raise its own.
_FILES_FOR_ELSE = 256
_, _most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
_files = 8192 if _most_files == resource.RLIM_INFINITY else min(8192, _most_files)
resource.setrlimit(resource.RLIMIT_NOFILE, (_files, _most_files))
worker_connections = max(threads + 1, _files - _FILES_FOR_ELSE)

# Without a sign of life from a worker, not from a request: a long one isn't cut off.
timeout = env_int("WEB_TIMEOUT", default=60, least=5, most=3600)
# What is being answered when the server is asked to stop gets so many seconds to end.
graceful_timeout = env_int("WEB_GRACEFUL_TIMEOUT", default=30, least=1, most=3600)
# Agents call again and again: let them keep their connection.
keepalive = 30
# A worker's heartbeat is a file that it touches; in memory it can't wait for a slow disk.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - gunicorn makes its own file

# Each request's line is the application's, which knows who asked and leaves out what was asked.
accesslog = None
if env_str("LOG_FORMAT", default="text", choices=("text", "json")) == "json":
    logconfig_dict = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": FORMATTERS,
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            "gunicorn.error": {"handlers": [], "propagate": True, "level": "INFO"},
            "gunicorn.access": {"handlers": [], "propagate": False},
        },
    }
control_socket_disable = True
# Only Django decides whether a proxy is believed (MEMORYHUB_BEHIND_PROXY), never gunicorn.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}


# New objects that may hold others, before Python looks for what nobody holds any more. A page of a search or
# one write makes some thousands, and looking after every 700 of them took a twelfth of a write.
_NEW_OBJECTS = 20_000


def when_ready(server: Any) -> None:
    """Start `manage.py work` once this checkout has it. It is harmless to start twice."""
    # What is loaded before workers are made stays: nobody looks through it again, nor copies its pages.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20, 20)
    has_work = any(ROOT.glob("*/management/commands/work.py"))
    if has_work and env_bool("MEMORYHUB_WORK", default=True):
        # Kept by the server: a reload (SIGHUP) runs this file anew, and what is here would be forgotten.
        addresses = [listener.sock.fileno() for listener in server.LISTENERS]
        server.background_work = Beside([sys.executable, str(ROOT / "manage.py"), "work"], closed=addresses)
        server.background_work.start()


def on_exit(server: Any) -> None:
    """Background work ends with the server that started it."""
    work: Beside | None = getattr(server, "background_work", None)
    if work is not None:
        work.stop()
