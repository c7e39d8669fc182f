"""Cursors: a position that is worth nothing to anybody else, and can't be made up."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.kernel import cursors
from memoryhub.kernel.cursors import BadCursor

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values)
def test_a_cursor_gives_its_position_back(position: Any, binding: Any) -> None:
    cursor = cursors.encode(position, binding)
    assert cursors.decode(cursor, binding) == position
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize("other", [["list", 2], ["list"], ["list", "1"], "list", None, ["list", 1, None]])
def test_a_cursor_is_bound(other: Any) -> None:
    with pytest.raises(BadCursor) as refusal:
        cursors.decode(cursors.encode(5, ["list", 1]), other)
    assert refusal.value.code == "invalid"
    assert set(refusal.value.details["fields"]) == {"cursor"}


def test_every_changed_character_spoils_it() -> None:
    cursor = cursors.encode(48, ["list"])
    for at in range(len(cursor) - 1):  # the last one holds bits that base64 drops
        other = "A" if cursor[at] != "A" else "B"
        with pytest.raises(BadCursor):
            cursors.decode(cursor[:at] + other + cursor[at + 1 :], ["list"])


@pytest.mark.parametrize(
    "made_up",
    [
        "",
        "x",
        "48",
        "====",
        "é",
        "\x00",
        "\ud800",
        "A" * 5000,
        "-" * 40,
        base64.urlsafe_b64encode(b"5").decode(),
    ],
)
def test_what_is_no_cursor_is_refused(made_up: str) -> None:
    with pytest.raises(BadCursor):
        cursors.decode(made_up, ["list"])


@given(st.text(max_size=60))
def test_no_text_is_a_cursor_by_chance(text: str) -> None:
    with pytest.raises(BadCursor):
        cursors.decode(text, ["list"])


def test_another_key_makes_another_cursor(settings: Any) -> None:
    cursor = cursors.encode(5, ["list"])
    settings.SECRET_KEY = "another key, as after a rotation"
    with pytest.raises(BadCursor):
        cursors.decode(cursor, ["list"])


def test_the_longest_cursor_of_a_search_can_be_read() -> None:
    position = {"numbers": [2**31 - 1] * 200, "total": 200, "at_least": True, "unsure": False}
    assert cursors.decode(cursors.encode(position, ["search"]), ["search"]) == position
