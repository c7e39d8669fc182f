"""Stored Markdown never becomes anything but text, its structure and links elsewhere."""

from __future__ import annotations

import time

import pytest

from memories.differences import PART_MAX, Part, list_difference, word_difference
from memories.markdown import rendered


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java\tscript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "![x](javascript:alert(1))",
        "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        '[x](https://e.example "onmouseover=alert(1)")',
        '[x](https://e.example/"onmouseover="alert(1))',
        "```<script>\nalert(1)\n```",
        "<a href='//evil.example'>x</a>",
        "<style>*{display:none}</style>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "# <svg onload=alert(1)>",
        "| <img src=x onerror=alert(1)> |\n|---|\n| <b onclick=x> |",
    ],
)
def test_nothing_in_it_runs(text: str) -> None:
    html = rendered(text).lower()
    for tag in ("<script", "<img", "<svg", "<iframe", "<style", "<b "):
        assert tag not in html
    for opening in html.split("<a ")[1:]:
        assert opening.split(">")[0].startswith('href="http') or "href" not in opening.split(">")[0]
        assert "onmouseover" not in opening.split(">")[0].replace("%22onmouseover=%22", "")


def test_links_lead_out_without_telling_where_from() -> None:
    html = rendered("[docs](https://example.com/a?b=1&c=2) and <mailto:a@example.com>")
    assert '<a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">docs</a>' in html
    assert 'href="mailto:a@example.com"' in html


@pytest.mark.parametrize(
    "address", ["/sign-out/", "//evil.example", "docs/x.md", "#top", "ftp://x", "javascript:x"]
)
def test_other_addresses_stay_as_they_were_written(address: str) -> None:
    html = rendered(f"[docs]({address})")
    assert "<a" not in html
    assert f"[docs]({address})" in html


def test_an_image_is_a_link_and_isnt_loaded() -> None:
    html = rendered("![the *plan*](https://example.com/plan.png)")
    assert '<a href="https://example.com/plan.png"' in html
    assert ">the plan</a>" in html
    assert "<img" not in html


def test_headings_go_below_those_of_the_page_without_leaving_a_level_out() -> None:
    html = rendered("# A\n\n### B\n\n# C\n\n###### D\n\n## E")
    assert [part[:2] for part in html.split("<h")[1:]] == ["3>", "4>", "3>", "4>", "4>"]


def test_marks_of_direction_are_written_out_however_they_came() -> None:
    html = rendered("a\u202eb &#x202E; `\u2066c` [d\u200f](https://example.com/\u202e)")
    assert "\u202e" not in html
    assert "\u2066" not in html
    assert "\u200f" not in html
    assert html.count("[U+202E]") == 2


def test_tables_code_and_lists_are_there() -> None:
    html = rendered("| a |\n|---|\n| b |\n\n```py\nx < 1\n```\n\n1. one\n2. two\n\n~~gone~~")
    for part in ("<td>b</td>", "<pre><code>x &lt; 1\n</code></pre>", "<ol>", "<s>gone</s>"):
        assert part in html


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "*a " * 33_000,
        "> " * 50_000,
        "`" * 100_000,
        "![" * 50_000,
        "[a](" * 25_000,
        "|" * 100_000,
    ],
    ids=["brackets", "stars", "quotations", "ticks", "images", "links", "pipes"],
)
def test_no_text_takes_long(text: str) -> None:
    start = time.monotonic()
    rendered(text)
    assert time.monotonic() - start < 20


# --- differences -------------------------------------------------------------------


def both(parts: list[Part]) -> tuple[str, str]:
    old = "".join(part.text for part in parts if part.kind != "ins")
    return old, "".join(part.text for part in parts if part.kind != "del")


def test_words_that_differ_are_told_apart() -> None:
    parts = word_difference("Retries five times, always.", "Retries three times, never.")
    assert [(part.kind, part.text) for part in parts] == [
        ("same", "Retries"),
        ("del", " five"),
        ("ins", " three"),
        ("same", " times,"),
        ("del", " always"),
        ("ins", " never"),
        ("same", "."),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("", "new"),
        ("old", ""),
        ("a  b", "a b"),
        ("a\nb", "a\n\nb"),
        ("日本語", "日本"),
        (" a", "a "),
        ("x", "x"),
    ],
)
def test_both_texts_can_be_read_from_a_difference(old: str, new: str) -> None:
    assert both(word_difference(old, new)) == (old, new)


def test_what_is_far_from_a_change_is_left_out() -> None:
    long = " ".join(f"word{n}" for n in range(500))
    parts = word_difference(f"{long} old {long}", f"{long} new {long}")
    assert [part.kind for part in parts] == ["same", "del", "ins", "same"]
    assert len(parts[0].text) < 200
    assert parts[0].text.endswith("word499")
    assert parts[3].text.startswith(" word0")


def test_long_texts_are_compared_in_bounded_time_and_shown_in_bounded_length() -> None:
    old = " ".join("ab"[n % 2] for n in range(25_000))
    new = " ".join("ab"[(n // 3) % 2] for n in range(25_000))
    start = time.monotonic()
    parts = word_difference(old, new)
    assert time.monotonic() - start < 5
    assert sum(len(part.text) for part in parts) < 3 * PART_MAX


def test_items_that_came_and_went() -> None:
    parts = list_difference(["a", "b"], ["b", "c"])
    assert [(part.kind, part.text) for part in parts] == [("del", "a"), ("same", "b"), ("ins", "c")]
