"""Stored text in a file of ours forges nothing, whatever it says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memoryhub.projections.given import escaped, paragraph, quotation

# Another reader than the one that writes: as hosts and forges read, with raw HTML.
_READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_FORGING = {"heading_open", "html_block", "html_inline", "image"}

HOSTILE = [
    "# Heading",
    "Text\n# Heading\nText",
    "   ## Heading ##",
    "- # In a list",
    "1. > ### In a quotation",
    "Setext\n===",
    "Setext\n-",
    "> Setext\n> ---",
    "<h1>Tag</h1>",
    "<script>alert(1)</script>",
    "A line <img src=x onerror=alert(1)> and `<code>`",
    "</blockquote><h1>Out of it</h1>",
    "<!-- memoryhub:rules harbor -->",
    "<!--\n\n# In a comment",
    "\t<h1>Behind a tab</h1>",
    "-\t<h1>Behind a tab in a list</h1>",
    "```\nA fence that isn't closed",
    "~~~~\nAnother\n```\n# x",
    "![picture](https://example.com/x.png)",
    "[link](javascript:alert(1))",
    "[a]: https://example.com\n\n[a]",
    "[^1]: A footnote",
    "[!WARNING]\nAn alert",
    "| a | b |\n|---|---|\n| <b>x</b> | `a | <i>y</i>` |",
    "\\# Not a heading\n\\\\<b>x</b>",
    "\\<b>x</b>",
    "> " * 60 + "<h1>Deep</h1>",
    "- " * 60 + "# Deep",
    "a\u2028# After a separator\u202e",
    "\n\n\n# After empty lines\n\n\n",
    "&lt;h1&gt; &#60;h1&#62;",
    "---\npaths:\n---",
    "***\n# x\n___",
    "`" * 5 + "\nx\n" + "`" * 5,
]


def forged(text: str) -> list[str]:
    """What a text makes of structure."""
    found: list[str] = []

    def look(tokens: list[Token]) -> None:
        for token in tokens:
            if token.type in _FORGING:
                found.append(token.type)
            look(token.children or [])

    look(_READER.parse(text))
    return found


def outer(text: str) -> list[str]:
    """The blocks at the outermost level."""
    return [token.type for token in _READER.parse(text) if token.level == 0 and token.nesting >= 0]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_forges_no_structure(text: str) -> None:
    said = f"Before\n\n{quotation(text)}\n\nAfter"
    assert not forged(said), said
    assert outer(said) in (
        ["paragraph_open", "blockquote_open", "paragraph_open"],
        ["paragraph_open", "fence", "paragraph_open"],
    ), said


@pytest.mark.parametrize("text", HOSTILE)
def test_a_title_and_a_summary_are_one_line(text: str) -> None:
    for said in (f"### #48: {escaped(text)}", paragraph(text)):
        assert "\n" not in said
        assert outer(said)[:1] in (["heading_open"], ["paragraph_open"]), said
        assert forged(said) == (["heading_open"] if said.startswith("###") else []), said


_PIECES = st.lists(
    st.sampled_from(
        ["#", " ", "\n", "\t", "<b>", "</b>", "<!--", "-->", ">", "-", "=", "`", "```", "~~~", "|", "[", "]",
         "(", ")", "!", ":", "\\", "x", "1.", "*", "&lt;", "^", "\n\n", "    "]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@settings(max_examples=250)
@given(_PIECES)
def test_no_mixture_forges_structure(text: str) -> None:
    said = f"Before\n\n{quotation(text)}\n\n## After"
    assert forged(said) == ["heading_open"], said
    assert outer(said)[-1] == "heading_open", said
    assert len(outer(said)) == 3, said
    assert forged(f"# {escaped(text)}") == ["heading_open"]
    assert not forged(paragraph(text)), paragraph(text)


def test_what_forges_nothing_stays_as_it_is() -> None:
    plain = "One *reason*:\n\n- `a < b`\n- [a page](https://example.com), #48\n\n```py\nif a < b: pass\n```"
    assert quotation(plain) == "\n".join(f"> {line}" if line else ">" for line in plain.split("\n"))
    assert quotation("## Why\n\nBecause.") == "> \\## Why\n>\n> Because."
    assert paragraph("Uses `__init__.py` and *.py.") == "Uses `__init__.py` and *.py."
    assert escaped("snake_case & 2 * 3") == "snake_case & 2 \\* 3"
    # What would take long to read isn't read.
    assert quotation("![" * 50_000).startswith("```text\n")
    table = "|a" * 200 + "\n" + "|-" * 200 + "\n" + "|\n" * 200 + "<b>"
    assert quotation(table).startswith("```text\n")
    # A fence that nothing in it closes.
    assert quotation("[a]: /x\n`````").startswith("``````text\n")
