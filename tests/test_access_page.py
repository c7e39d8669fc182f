"""The page on who may open what says what the access matrix tries; and what of it a public memory opens."""

from __future__ import annotations

import os
from typing import Any

import pytest
from django.db import transaction

from memoryhub.reference import FOLDER
from tests.access.doors import METHODS, SIGN_IN, knock
from tests.access.page import PUBLIC_OPENS, access_page
from tests.access.world import make_world
from tests.factories import MemoryFactory
from tests.test_access_matrix import ABOVE, NUMBERED, PAGES, WRITING, expected, path_of

PAGE = FOLDER / "access.md"
OF_MEMORIES = [route for route in NUMBERED if "memories/" in route or "bags/" in route]


def test_the_page_is_what_is_tried() -> None:
    text = access_page()
    if os.environ.get("TEST_WRITE"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "Run TEST_WRITE=1 pytest tests/test_access_page.py."


@pytest.mark.django_db
def test_a_public_memory_opens_to_whoever_is_no_member_as_the_page_says() -> None:
    world = make_world()
    said = {"visibility": "public", "title": "For all", "summary": "Everybody may read this."}
    public: Any = MemoryFactory(project=world.project, author=world.people["owner"], **said)
    for who in ("anonymous", "stranger", "superuser"):
        opened = set()
        for route in OF_MEMORIES:
            page = PAGES[route]
            path = path_of(route, page.params(world) | {"number": public.number})
            for method in {*METHODS, *WRITING}:
                if expected(page, method) in (page.refused, ABOVE):
                    continue
                with transaction.atomic():
                    data = page.data if method in WRITING else None
                    seen = knock(world.client(who), method, path + page.query, data, **page.headers)
                    transaction.set_rollback(True)
                if seen.outcome not in (401, 404, SIGN_IN):
                    opened.add((route, method))
        assert opened == (set() if who == "anonymous" else PUBLIC_OPENS)
