"""Scripts in every field that somebody can write, looked for on every page and in every answer to a form."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import pytest
from django.db import transaction
from django.http import HttpResponse

from tests.access.world import World
from tests.attack.planting import full_world, plant
from tests.test_access_matrix import PAGES, expected, path_of

# The same templates on both engines.
pytestmark = [pytest.mark.django_db, pytest.mark.once]

SHORT = '"><b c{n}>'
MIDDLE = "'\"><img src=x onerror=c{n}()>"
LONG = (
    "'\"><img src=x onerror=c{n}()></textarea></title></script><script>c{n}()</script><svg onload=c{n}()>"
    " tpl{{{{7*7}}}}tpl [x](javascript:c{n}()) "
)
MARKDOWN = (
    LONG + '![x](javascript:c{n}()) <javascript:c{n}()> [y]\n\n[y]: javascript:c{n}() "x"\n\n# <b c{n}>\n\n'
    '[z](https://example.com/"onmouseover="c{n}())\n\n```"><b c{n}>\ncode\n```\n\n| <b c{n}> |\n|---|\n'
)
# A query string of names that some list or form reads.
ASKED = (
    "q",
    "tag",
    "tags",
    "kind",
    "status",
    "session",
    "cursor",
    "rule",
    "id",
    "path",
    "next",
    "author",
    "since",
    "do",
)

_HARMFUL = re.compile(r"^[\s\x00-\x1f]*(?:javascript|vbscript|data|js):", re.IGNORECASE)
_ADDRESSES = {
    "href",
    "src",
    "action",
    "formaction",
    "xlink:href",
    "srcset",
    "poster",
    "hx-vals",
    "hx-headers",
}
_NAME = re.compile(r"[a-z@:_][a-z0-9@:._-]*")
_MINE = re.compile(r"c\d+\b")


class Page(HTMLParser):
    """What of a page could run something, or came from a text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self._in_script = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag == "script"
        for name, value in attrs:
            loads = name in _ADDRESSES or name.startswith("hx-")
            bad = name.startswith("on") or not _NAME.fullmatch(name) or _MINE.fullmatch(name)
            if bad or name in ("style", "srcdoc") or (loads and _HARMFUL.match(value or "")):
                self.wrong.append(f"<{tag} {name}={value!r}>")
        given = dict(attrs)
        if (tag == "script" and not given.get("src") and given.get("type") != "application/json") or (
            tag in ("img", "iframe", "object", "embed", "base")
            and not (given.get("src") or "").startswith("/static/")
        ):
            self.wrong.append(f"<{tag} {given}>")

    def handle_data(self, data: str) -> None:
        if self._in_script and _MINE.search(data) and "</" in data:
            self.wrong.append(f"in a script: {data[:80]}")


def wrong_on(response: HttpResponse) -> list[str]:
    """What of the texts runs on a page, and what of them a template took for its own."""
    if "text/html" not in response.headers.get("Content-Type", ""):
        return []
    text = response.content.decode()
    wrong = Page(text).wrong
    # A file for a repository has Markdown's marks written out.
    said = unquote(html.unescape(text)).replace("\\", "")
    between = re.findall(r"tpl(.{0,20}?)tpl", said)
    return wrong + [found for found in between if found != "{{7*7}}"]


@pytest.fixture
def world() -> World:
    made = full_world()
    made.sign_in()
    return made


def scripts(name: str, row: Any) -> str:
    """As long as the field lets it be."""
    number = row.pk
    field = name.rpartition(".")[2]
    if field in (
        "body",
        "description",
        "done",
        "decisions",
        "next_steps",
        "blockers",
        "unsurfaced_results",
        "details",
    ):
        return MARKDOWN.format(n=number)
    most = {"name": 30, "path": 300, "commit": 64, "title": 120, "session": 80}.get(field, 0)
    most = most or (row._meta.get_field(field).max_length or 280)
    fitting = [each.format(n=number) for each in (LONG, MIDDLE, SHORT) if len(each.format(n=number)) <= most]
    return fitting[0]


def addresses(world: World) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every address that somebody may open, with who and how: as it is, and asked for what no filter has."""
    numbers = [memory.number for memory in world.project.memories.all()]
    query = "&".join(f"{name}=%27%22%3E%3Cb%20c1%3E{{{{7*7}}}}" for name in ASKED)
    for route, page in sorted(PAGES.items()):
        outcomes = expected(page, "GET")
        who = next((one for one in ("owner", "superuser", "anonymous") if outcomes[one] in (200, 302)), "")
        if not who or route.startswith("api/"):
            continue
        given = page.params(world)
        path = path_of(route, given)
        if outcomes[who] == 302:
            # A page leads elsewhere; a part of one is what htmx gets.
            if who == "owner":
                yield path + page.query, who, {"HX-Request": "true"}
            continue
        yield path + page.query, who, {}
        if route == "p/<slug:slug>/memories/<int:number>/":
            for number in numbers:
                yield path_of(route, given | {"number": number}), who, {}
        if not path.startswith("/admin/"):
            yield f"{path}?{query}", who, {}
        elif path.count("/") == 4:
            yield f"{path}?{query.partition('&')[0]}", who, {}
    for upload in world.project.uploads.all():
        yield f"/p/harbor/exchange/{upload.uid}/", "owner", {}
    for review in world.project.reviews.all():
        yield f"/p/harbor/reviews/{review.ref}/", "owner", {}
        yield f"/p/harbor/reviews/{review.ref}/edit/", "owner", {}


def test_no_stored_text_runs_on_any_page(world: World) -> None:
    planted = plant(scripts)
    assert not [name for name, rows in planted.items() if not rows], (
        "Fields of which full_world() has no row."
    )
    opened, said = 0, 0
    for path, who, headers in addresses(world):
        response = world.client(who).get(path, headers=headers)
        assert response.status_code < 500, path
        assert not wrong_on(response), path
        opened += 1
        said += not response.streaming and b"onerror=c" in response.content
    # It looked at pages, and the texts were on them.
    assert opened > 200
    assert said > 100


def test_nothing_that_is_typed_into_a_form_runs_in_its_answer(world: World) -> None:
    """Taken or refused: what was typed comes back, in the form, in a notice or on the next page."""
    answered = 0
    typed = LONG.format(n=7) + "\n" + MARKDOWN.format(n=8)
    for route, page in sorted(PAGES.items()):
        outcomes = expected(page, "POST")
        if outcomes is page.refused or route.startswith(("api/", "mcp", ".well-known")):
            continue
        is_admin = route.startswith("admin/")
        # Of the admin's forms for each kind of row those of one kind stand for all.
        if is_admin and route.count("/") > 2 and "memories/memory/" not in route:
            continue
        path = path_of(route, page.params(world)) + page.query
        all_of_it = {**dict.fromkeys(page.data, typed), "next": typed}
        some_of_it = {**page.data, "title": typed, "name": SHORT}
        for fields in (all_of_it, some_of_it) if {"title", "name"} & {*page.data} else (all_of_it,):
            with transaction.atomic():
                response = world.client("superuser" if is_admin else "owner").post(path, fields, follow=True)
                assert response.status_code < 500, path
                assert not wrong_on(response), path
                answered += not response.streaming and b"onerror=c" in response.content
                transaction.set_rollback(True)
    assert answered > 10
