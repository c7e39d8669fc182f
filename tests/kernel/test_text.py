"""The text rules: what may be stored, what a summary is, how stored text is shown inside our own."""

from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.kernel.text import (
    SUMMARY_MAX_LENGTH,
    collapsed,
    in_one_line,
    normalised,
    printable,
    shortened,
    storable,
    summary_problem,
    text_problem,
    tidy,
    visible_marks,
)

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
CONTROLS = [chr(c) for c in (*range(0x20), *range(0x7F, 0xA0)) if chr(c) not in "\t\n"]
# What Python, browsers and terminals take for the end of a line.
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

any_text = st.text(st.characters(codec=None), max_size=60)


@pytest.mark.parametrize("control", [*CONTROLS, "\ud800"], ids=ascii)
def test_controls_and_lone_surrogates_are_refused_with_their_name_and_line(control: str) -> None:
    problem = text_problem(f"first\nsecond {control} end", most=100)
    assert problem
    assert f"U+{ord(control):04X} on line 2" in problem
    assert control not in problem
    assert not storable(f"a{control}b")


@pytest.mark.parametrize(
    "text", ["a\tb\nc", BIDI, "<script>alert(1)</script>", "é ", "🎉", "\u2028", "{{ x }}", "%s \\ '"]
)
def test_everything_else_is_allowed(text: str) -> None:
    assert text_problem(text, most=100) is None
    assert storable(text)
    assert tidy(text) == text


def test_crlf_becomes_lf_and_counts_as_one() -> None:
    assert tidy("a\r\nb\n\r\nc") == "a\nb\n\nc"
    assert text_problem("a\r\nb", most=3) is None
    assert text_problem("a\rb", most=9) is not None


def test_length_is_counted_in_code_points() -> None:
    assert text_problem("🎉" * 5, most=5) is None
    assert text_problem("🎉" * 6, most=5) == "Has 6 characters; at most 5 are allowed. Shorten it."
    assert text_problem("e\u0301" * 3, most=5) is not None


def test_least_counts_white_space_alone_as_empty() -> None:
    assert text_problem("", most=5) is None
    assert text_problem("", most=5, least=1) is not None
    assert text_problem(" \n\t", most=5, least=1) is not None
    assert text_problem("\u3000\u00a0", most=5, least=1) is not None
    assert text_problem("abcd", most=9, least=5) is not None
    assert text_problem("abcde", most=9, least=5) is None


@pytest.mark.parametrize("value", [None, 5, True, 1.5, ["a"], {"a": "b"}, b"a"])
def test_what_is_no_text_is_named(value: object) -> None:
    assert text_problem(value, most=9) == "Must be text."
    assert summary_problem(value) == "Must be text."


@pytest.mark.parametrize("mark", BREAKS, ids=ascii)
def test_one_line_has_no_line_break_of_any_kind(mark: str) -> None:
    assert text_problem(f"a{mark}b", most=9, one_line=True) is not None


MARKDOWN = [
    "Two\nlines.",
    "Two\r\nlines.",
    "Two\rlines.",
    "Two\u2028lines.",
    "Two\u2029lines.",
    "# Heading",
    "#48 replaces it",
    "  ## Heading",
    "> quoted",
    ">quoted",
    "- item",
    "* item",
    "+ item",
    "-\titem",
    "1. item",
    "12. item",
    "```code```",
    "```",
    "~~~",
    "Run ```make``` now",
    "See [the page](https://example.com).",
    "See [the [old] page](x).",
    "![picture](x.png)",
    "**Bold** words",
    "Some *stressed* words",
    "Some *stressed and more* words",
    "***Both***",
    "A (*word*) here",
    "**Note:** mind the gap.",
    "**`code` is broken**",
    "Ends in **bold**.",
    'A *"quoted"* word',
    "*Überall* so",
    "这是**重要**的决定",
    "これは*大事*です",
]
INNOCENT = [
    "__init__.py holds it, and a_b_c too",
    "_stressed_ and __more__",
    "2 * 3 * 4 is 24, 2*3*4 too",
    "2**3**4 and x ** y ** z",
    "*.py, *.js and *.css are linted",
    "*.py,*.js",
    "globs such as src/*/test and src/*.py",
    "f(*args, **kwargs)",
    "f(*a,**b)",
    "*args comes before **kwargs",
    "`*args*` and `**bold**` and `[a](b)` in back-ticks",
    "`# not a heading`",
    "C# and F# are both in use",
    "Issue #48 is fixed",
    "a > b, and c->d",
    "-5 degrees at night",
    "1) first, 2) second",
    "3.5 seconds",
    "3.",
    "1.item",
    "list[0] (first) and [x] alone",
    "a lambda [](int x) { }",
    "int *p, *q; char **argv, **envp",
    "SELECT * FROM a; SELECT * FROM b",
    "4* and 5* hotels",
    "files such as foo*bar* and log*2026* go",
    "a ~~~ b",
    "~/.config and ~~struck~~",
    "*",
    "**",
    "one * two",
    "<b>HTML</b> & <script>alert(1)</script>",
    "1 + 1",
    "日本語の要約です。",
    "مرحبا \u202e بالعالم",
]


@pytest.mark.parametrize("summary", MARKDOWN, ids=ascii)
def test_a_summary_in_markdown_is_refused(summary: str) -> None:
    problem = summary_problem(summary)
    assert problem
    assert problem.startswith("A summary must be") or "control character" in problem


@pytest.mark.parametrize("summary", INNOCENT, ids=ascii)
def test_a_summary_that_only_looks_like_it_is_not(summary: str) -> None:
    assert summary_problem(summary) is None


def test_a_summary_has_1_to_280_characters() -> None:
    assert summary_problem("x") is None
    assert summary_problem("🎉" * SUMMARY_MAX_LENGTH) is None
    assert summary_problem("🎉" * (SUMMARY_MAX_LENGTH + 1)) is not None
    assert summary_problem("") is not None
    assert summary_problem("   ") is not None


@pytest.mark.parametrize(
    "hostile", ["*" * 280, "[" * 280, "`" * 280, "*a" * 140, "[a" * 140, "](" * 140, "* a" * 93, "[]" * 140]
)
def test_no_summary_takes_long_to_look_at(hostile: str) -> None:
    for _ in range(200):
        summary_problem(hostile)


@given(any_text)
def test_what_is_no_text_rule_never_raises(text: str) -> None:
    assert (text_problem(text, most=60) is None) == storable(tidy(text))
    summary_problem(text)


@given(st.text(max_size=40))
def test_comparing_ignores_case_composition_and_white_space(text: str) -> None:
    assert normalised(f"  {text}\n\t ") == normalised(text)
    assert normalised(unicodedata.normalize("NFD", text)) == normalised(text)
    assert normalised(normalised(text)) == normalised(text) or not text.isascii()


def test_comparing_by_example() -> None:
    assert normalised("Stra\u00dfe\u00a0 EINS") == "strasse eins"
    assert normalised("Cafe\u0301") == normalised("CAF\u00c9")
    assert normalised("a b") != normalised("ab")
    assert collapsed(" a\n b\tC ") == "a b C"


@given(any_text)
def test_in_one_line_is_one_line_without_hidden_marks_or_controls(text: str) -> None:
    line = in_one_line(text)
    assert len(line.splitlines()) <= 1
    assert not set(line) & (set(BREAKS) | set(BIDI) | set(CONTROLS) | {"\t"})
    assert storable(line)


def test_marks_are_written_out() -> None:
    assert visible_marks("a\u202eb") == "a[U+202E]b"
    assert in_one_line("a\u2066\r\nb\x07\ud800") == "a[U+2066] b\ufffd\ufffd"
    for mark in BIDI:
        assert visible_marks(mark) == f"[U+{ord(mark):04X}]"


@given(st.text(max_size=30), st.integers(1, 40))
def test_shortening_marks_its_cut(text: str, most: int) -> None:
    short = shortened(text, most)
    assert len(short) <= most
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


@given(any_text)
def test_a_made_up_name_is_safe_to_repeat(text: str) -> None:
    name = printable(text)
    assert name.isprintable()
    assert 1 <= len(name) <= 40
    name.encode()


def test_a_plain_name_is_repeated_as_it_is() -> None:
    assert printable("colour") == "colour"
    assert printable("\x00\ud800") == "?"
    assert set(printable(string.printable)) <= set(string.printable)
