"""Serving in production: health, headers at every answer, static files, and stopping without losing one."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import settings as chosen
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoryhub import health
from memoryhub.wsgi import application  # noqa: F401 - as it is served
from projects.models import Project, User
from tests.factories import token_for
from tests.mcp_client import Agent
from tests.test_reference import ROOT

ENGINE_IS_SQLITE = "sqlite" in chosen.DATABASES["default"]["ENGINE"]

# --- health ------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _not_known_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health._Migrated, "known", False)


def test_alive_asks_nothing_and_is_told_to_anybody(client: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    with patch.object(connection, "cursor", side_effect=OperationalError("gone")):
        response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert "no-store" in response["Cache-Control"]
    assert client.post("/healthz").status_code == 405


@pytest.mark.django_db
def test_ready_once_the_database_answers_and_is_up_to_date(client: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/readyz").json() == {"status": "ready"}
    with CaptureQueriesContext(connection) as queries:
        response = client.get("/readyz")
    assert (response.status_code, len(queries)) == (200, 1)
    assert "no-store" in response["Cache-Control"]
    assert client.post("/readyz").status_code == 405


@pytest.mark.django_db
def test_not_ready_says_why(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'projects' AND name = '0003_tallies'")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "Run manage.py migrate" in response.json()["reason"]
    with patch.object(connection, "cursor", side_effect=OperationalError("password of the database")):
        response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {"status": "not ready", "reason": "The database doesn't answer."}


# --- headers -----------------------------------------------------------------------

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def is_guarded(response: Any) -> None:
    for name, value in ALWAYS.items():
        assert response[name] == value, name
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "camera=()" in response["Permissions-Policy"]


@pytest.mark.django_db
def test_every_answer_is_guarded(
    client: Client, project: Project, alice: User, root: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = token_for(alice, project)[1]
    sent = {"Authorization": f"Bearer {text}"}
    too_much = "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    client.force_login(root)
    anybody = Client(enforce_csrf_checks=True, raise_request_exception=False)
    answers = {
        "sign-in": (anybody.get("/sign-in/"), 200),
        "to sign in": (anybody.get("/"), 302),
        "health": (anybody.get("/healthz"), 200),
        "not there": (anybody.get("/nowhere/"), 404),
        "bad host": (anybody.get("/", headers={"Host": "x y"}), 400),
        "no csrf token": (anybody.post("/sign-in/", {}), 403),
        "too much": (anybody.post("/sign-in/", {"a": too_much}), 413),
        "admin": (client.get("/admin/"), 200),
        "admin, not there": (client.get("/admin/nowhere/"), 404),
        "rest": (anybody.get("/api/v1/projects", headers=sent), 200),
        "rest, refused": (anybody.get("/api/v1/projects"), 401),
        "rest, not there": (anybody.get("/api/v1/nowhere"), 404),
        "mcp": (Agent(text).post("tools/list"), 200),
        "mcp, refused": (Agent("").post("tools/list"), 401),
        "mcp, read": (anybody.get("/mcp"), 405),
    }
    monkeypatch.setattr("projects.views.home_page", lambda *_: 1 / 0)
    anybody.force_login(alice)
    answers["crash"] = (anybody.get("/"), 500)
    for what, (response, status) in answers.items():
        assert response.status_code == status, what
        is_guarded(response)
    settings.SECURE_SSL_REDIRECT = True
    response = Client().get("/sign-in/")
    assert response.status_code == 301
    is_guarded(response)


@pytest.mark.django_db
def test_what_a_proxy_says_is_believed_only_where_there_is_one(client: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 3600
    said = {"X-Forwarded-Proto": "https"}
    assert client.get("/sign-in/", headers=said).status_code == 301
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    response = Client().get("/sign-in/", headers=said)
    assert response.status_code == 200
    assert response["Strict-Transport-Security"] == "max-age=3600"


# --- static files ------------------------------------------------------------------


def test_static_files_are_hashed_compressed_and_kept_for_ever(tmp_path: Path, settings: Any) -> None:
    style = "body { color: black; }\n" * 100
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "page.css").write_text(style)
    settings.STATICFILES_DIRS, settings.STATIC_ROOT = [tmp_path / "from"], tmp_path / "to"
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    (hashed,) = (path.name for path in (tmp_path / "to").glob("page.*.css"))
    client = Client()
    response = client.get(f"/static/{hashed}", headers={"Accept-Encoding": "gzip, br"})
    assert response["Cache-Control"] == "max-age=315360000, public, immutable"
    assert response["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in response["Vary"]
    assert gzip.decompress(response.getvalue()).decode() == style
    assert "Access-Control-Allow-Origin" not in response
    is_guarded(response)
    plain = client.get("/static/page.css")
    assert plain["Cache-Control"] == "max-age=60, public"
    assert "Content-Encoding" not in plain


# --- stopping ----------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.skipif(not ENGINE_IS_SQLITE, reason="it is about a statement of SQLite's")
def test_what_is_being_answered_is_answered_before_the_server_stops(tmp_path: Path) -> None:
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "MEMORYHUB_DATA": str(tmp_path),
        "MEMORYHUB_WORK": "false",
        "PORT": str(port),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "memoryhub/gunicorn.conf.py"]
    server = subprocess.Popen([*command, "tests.slow_answer:application"], cwd=ROOT, env=environment)
    try:
        wait_for(lambda: asked(port, "/healthz"))
        answers: list[tuple[int, bytes]] = []
        asker = threading.Thread(target=lambda: answers.append(asked(port, "/slow")))
        asker.start()
        wait_for(lambda: (tmp_path / "under-way").exists())
        assert not answers, "the statement is under way"
        server.send_signal(signal.SIGTERM)
        asker.join(60)
        assert answers == [(200, b"6000000")]
        assert server.wait(30) == 0
        with pytest.raises(ConnectionRefusedError):
            asked(port, "/healthz")
    finally:
        server.kill()
        server.wait()


def wait_for(happened: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if happened():
                return
        time.sleep(0.05)
    raise AssertionError("It didn't happen.")


def asked(port: int, path: str) -> tuple[int, bytes]:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    asking.request("GET", path)
    response = asking.getresponse()
    return response.status, response.read()
