"""The page on what waits is what the hub does."""

from __future__ import annotations

import os

import pytest

from memoryhub.reference import FOLDER
from tests.reviews.table import AT_ONCE, WAITS, Cells, cells, page

PAGE = FOLDER / "review-policy.md"


@pytest.fixture
def found(db: None) -> Cells:
    return cells()


@pytest.mark.once
def test_the_page_is_what_the_hub_does(found: Cells) -> None:
    text = page(found)
    if os.environ.get("TEST_WRITE"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "Run TEST_WRITE=1 pytest tests/reviews/test_table.py."
    for (policy, visibility, who), row in found.items():
        said = set(row.values()) - {""}
        told = f"{policy}, {visibility}, {who}: {row}"
        if who.startswith("reader"):
            assert said == {"forbidden"}, told
        if "operator" in who:
            assert said == {AT_ONCE}, told
        # What is private and stays so never waits.
        if visibility == "private":
            assert WAITS not in {each for change, each in row.items() if change != "more visible"}, told
