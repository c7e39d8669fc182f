"""Filling in a form as a browser does: what stands in it is sent again, with what somebody typed."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client

from projects.models import User

NEW = "/p/harbor/memories/new/"


class _Form(HTMLParser):
    """The fields of the form that has `data-write`, with the values that a browser would send."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: dict[str, Any] = {}
        self.action = ""
        self._inside = False
        self._area = self._select = ""
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = "data-write" in given or "sign-in/" not in given.get("action", "sign-in/")
            self._inside = self._inside and given.get("method") == "post" and "theme" not in given["action"]
            self._inside = self._inside and "sign-out" not in given["action"]
            self.action = given["action"] if self._inside else self.action
        if not self._inside:
            return
        name = given.get("name", "")
        if tag == "textarea":
            self._area, self._text = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and ("selected" in given or self._select not in self.sent):
            self.sent[self._select] = given.get("value", "")
        elif tag == "input" and name and given.get("type") not in ("checkbox", "radio"):
            self.sent[name] = given.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._area:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area:
            # The line break after the tag is none of the text.
            text = self._text.replace("\r\n", "\n").removeprefix("\n")
            self.sent[self._area] = text.replace("\n", "\r\n")
            self._area = ""
        elif tag == "select":
            self._select = ""
        elif tag == "form":
            self._inside = False


def filled(response: HttpResponse) -> dict[str, Any]:
    """What the form on a page would send as it is."""
    return read_form(response).sent


def read_form(response: HttpResponse) -> _Form:
    form = _Form()
    form.feed(response.content.decode())
    return form


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def send(client: Client, address: str, **typed: Any) -> HttpResponse:
    """Open the page, type, send."""
    return client.post(address, {**filled(client.get(address)), **typed})


def text_of(response: HttpResponse) -> str:
    return str(response.content.decode())
