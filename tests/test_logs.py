"""The log: one line of JSON a request, with an id and without what was asked."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from memoryhub.logs import FORMATTERS, JsonLine, TextLine
from projects.models import Project, User
from tests.factories import token_for
from tests.mcp_client import Agent

pytestmark = pytest.mark.django_db


class Log:
    """What is written, as it would be."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self._stream = io.StringIO()
        self.handler = logging.StreamHandler(self._stream)
        self.handler.setFormatter(formatter)

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def requests(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["logger"] == "memoryhub.request"]


@pytest.fixture
def log(settings: Any) -> Iterator[Log]:
    settings.LOG_REQUESTS = True
    written = Log(JsonLine())
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.INFO)
    root.addHandler(written.handler)
    yield written
    root.removeHandler(written.handler)
    root.setLevel(level)


def test_one_line_a_request_without_what_was_asked(
    client: Client, project: Project, alice: User, log: Log
) -> None:
    token, text = token_for(alice, project)
    answer = client.get(
        "/api/v1/projects/harbor/search?query=what-was-asked", headers={"Authorization": f"Bearer {text}"}
    )
    Agent(text, "/mcp/p/harbor").call("memory_search", query="what-was-asked")
    client.get(f"/nowhere/{text}/?q=what-was-asked")
    client.get(f"/api/{text}?q=what-was-asked")
    client.get("/healthz")
    script, agent, nowhere, nothing = log.requests()
    assert script["request_id"] == answer["X-Request-ID"]
    assert script["message"] == "GET /api/v1/projects/<slug:slug>/search 200"
    expected = {
        "door": "rest",
        "call": "memory_search",
        "outcome": "ok",
        "user": alice.pk,
        "token": token.name,
        "project": "harbor",
        "status": 200,
        "address": "127.0.0.1",
    }
    assert expected.items() <= script.items()
    assert script["milliseconds"] > 0
    assert (agent["door"], agent["call"]) == ("mcp", "memory_search")
    assert (nowhere["route"], nowhere["status"]) == ("no such address", 404)
    assert nothing["route"] == "/api/<path:rest>"
    assert "what-was-asked" not in "".join(line["message"] for line in log.requests())
    assert text not in log.text
    assert "query=" not in log.text


def test_the_id_is_the_proxys_only_where_there_is_one(client: Client, settings: Any) -> None:
    given = {"X-Request-ID": "from-the-proxy-1"}
    own = client.get("/healthz", headers=given)["X-Request-ID"]
    assert len(own) == 16
    assert own != client.get("/healthz", headers=given)["X-Request-ID"]
    settings.MEMORYHUB_BEHIND_PROXY = True
    assert client.get("/healthz", headers=given)["X-Request-ID"] == "from-the-proxy-1"
    for bad in ("short", "x" * 65, "with space in", 'with"quote"', "with\tmark-"):
        assert client.get("/healthz", headers={"X-Request-ID": bad})["X-Request-ID"] != bad


def test_a_crash_is_told_with_its_traceback_and_the_id(
    client: Client, alice: User, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projects.views.home_page", lambda *_: 1 / 0)
    client.raise_request_exception = False
    client.force_login(alice)
    answer = client.get("/?q=what-was-asked")
    errors = [line for line in log.lines if line["level"] == "ERROR"]
    assert errors
    assert {line["request_id"] for line in errors} == {answer["X-Request-ID"]}
    (told,) = [line["error"] for line in errors if "error" in line]
    assert "ZeroDivisionError" in told
    assert "home_page" in told
    assert log.requests()[-1]["status"] == 500
    assert "what-was-asked" not in log.text


@pytest.mark.parametrize("name", ["text", "json"])
def test_no_token_stands_in_the_log(name: str, project: Project, alice: User) -> None:
    token, text = token_for(alice, project)
    described: dict[str, Any] = FORMATTERS[name]
    formatter = TextLine(described["format"], style="{") if name == "text" else JsonLine()
    log = Log(formatter)
    logger = logging.getLogger("tests.of.logs")
    logger.addHandler(log.handler)
    try:
        try:
            raise ValueError(f"Bearer {text}")
        except ValueError:
            logger.exception("with %s\nin two lines", text)
    finally:
        logger.removeHandler(log.handler)
    assert text not in log.text
    assert f"mh_{token.public_part}…" in log.text
    assert "ValueError" in log.text
    if name == "json":
        assert len(log.text.splitlines()) == 1


def test_background_work_says_it_in_the_log(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("work", once=True)
    said = [line["message"] for line in log.lines if line["logger"] == "memoryhub.work"]
    assert [line.split()[0] for line in said] == ["Upkeep:"]
    assert capsys.readouterr().out == ""
