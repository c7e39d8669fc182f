"""Stored text inside a file of ours: it can forge no heading, no HTML and nothing of what is around it.

A text of several lines stands in a quotation, with its headings and tags written out. Where that doesn't
come out as one quotation and nothing else, it stands in a fence, which nothing in it can close.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memoryhub.kernel.markdown_cost import takes_long
from memoryhub.kernel.text import in_one_line

# Deeper than anybody quotes; what a reader parses and this one doesn't could hide something.
_DEEPEST = 40
_PASSES = 4
_TAB = 4
# Without any of these a text has no heading, tag, picture, footnote or definition.
_SUSPECT = re.compile(r"<|#(?:[ \t]|$)|[-=][ \t]*$|\][(:\[]|\[[\^!]", re.MULTILINE)
_BEFORE = r"^([\s>*+\-\d.)]*)"
_HASH = re.compile(rf"{_BEFORE}#")
_UNDERLINE = re.compile(r"^([\s>]*)(?=[-=])")
_FOOTNOTE = re.compile(rf"{_BEFORE}\[\^")
_ALERT = re.compile(r"^(>\s*)\[!")
_TICKS = re.compile("`+")
_MARKS = re.compile(r"[\\`*\[\]<]|(?<!\w)_|_(?!\w)|~(?=~)|&(?=[#\w]+;)|#(?=#*\s*$)")
# What begins a heading, a quotation or a list.
_AT_START = re.compile(r"^(\d*)([#>+\-=.)])")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_GOOD_SCHEME = re.compile(r"(?:https?|mailto):", re.IGNORECASE)


def escaped(text: str) -> str:
    """A text in one line with every mark of Markdown written out."""
    return _MARKS.sub(r"\\\g<0>", in_one_line(text).strip())


def paragraph(text: str) -> str:
    """A text as one paragraph: as it is where it is nothing else, such as a list."""
    line = in_one_line(text).strip()
    return _tamed(line, "paragraph_open") or _AT_START.sub(r"\1\\\2", escaped(line))


def quotation(text: str) -> str:
    """A text as a quotation, or else in a fence."""
    lines = [in_one_line(line.expandtabs(_TAB)).rstrip("\r") for line in text.strip("\n").split("\n")]
    quoted = "\n".join(f"> {line}" if line.strip() else ">" for line in lines)
    if not _SUSPECT.search(quoted):
        return quoted
    return (None if takes_long(quoted) else _tamed(quoted, "blockquote_open")) or _fenced(lines)


def _fenced(lines: list[str]) -> str:
    text = "\n".join(lines)
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _tamed(text: str, within: str) -> str | None:
    """The text without headings, tags and pictures; None where that can't be had, or it isn't one block."""
    lines = text.split("\n")
    for _ in range(_PASSES):
        env: dict[str, object] = {}
        tokens = _markdown.parse("\n".join(lines), env)
        outer = [token.type for token in tokens if token.level == 0 and token.nesting == 1]
        # What is no pair at the outermost level is a fence, a rule or a block of HTML.
        alone = [
            token for token in tokens if token.level == 0 and token.nesting == 0 and token.type != "inline"
        ]
        deep = any(token.level >= _DEEPEST for token in tokens)
        if env.get("references") or outer != [within] or alone or deep:
            return None
        before = list(lines)
        for token, first, last in _placed(tokens):
            if _leads_astray(token):
                return None
            _write_out(token, lines, first, last)
        if within == "blockquote_open":
            lines[0] = _ALERT.sub(r"\1\\[!", lines[0])
        if lines == before:
            return "\n".join(lines) if not any(_is_structure(token) for token in tokens) else None
    return None


def _placed(tokens: list[Token]) -> Iterator[tuple[Token, int, int]]:
    """Each token with the lines it stands on; the cells of a table with those of their row."""
    first, last = 0, 0
    for token in tokens:
        if token.map:
            first, last = token.map
        yield token, first, last


def _is_structure(token: Token) -> bool:
    inside = {child.type for child in token.children or ()}
    return token.type in ("heading_open", "html_block") or bool(inside & {"html_inline", "image"})


def _leads_astray(token: Token) -> bool:
    """Whether a link in it runs something instead of leading somewhere."""
    addresses = [
        str(child.attrGet("href") or "") for child in token.children or () if child.type == "link_open"
    ]
    return any(_SCHEME.match(address) and not _GOOD_SCHEME.match(address) for address in addresses)


def _write_out(token: Token, lines: list[str], first: int, last: int) -> None:
    """Put a backslash before what makes a heading, a tag, a picture or a footnote of these lines."""
    if token.type == "heading_open" and token.markup.startswith("#"):
        lines[first] = _HASH.sub(r"\1\\#", lines[first])
    elif token.type == "heading_open":
        lines[last - 1] = _UNDERLINE.sub(r"\1\\", lines[last - 1])
    elif token.type == "html_block":
        lines[first:last] = [line.replace("<", "\\<") for line in lines[first:last]]
    elif token.type == "inline":
        inside = {child.type for child in token.children or ()}
        for at in range(first, last):
            if "html_inline" in inside:
                lines[at] = lines[at].replace("<", "\\<")
            if "image" in inside:
                lines[at] = lines[at].replace("![", "\\![")
            lines[at] = _FOOTNOTE.sub(r"\1\\[^", lines[at])


def _any_link(url: str) -> bool:
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 2 * _DEEPEST}).enable(
        ["table", "strikethrough"]
    )
    # Others follow what this one would refuse, so it has to be seen.
    parser.validateLink = _any_link  # type: ignore[method-assign]
    return parser


_markdown = _parser()
