"""Markdown as readers need it: front matter, and sections by heading. What is code is no heading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import yaml
from markdown_it import MarkdownIt

from memoryhub.importing.candidates import Place
from memoryhub.importing.sources import MIB
from memoryhub.kernel.errors import TooLarge

MARKDOWN_MAX = 2 * MIB
# Of the shortest lines there are a parser makes seconds of each hundred thousand.
LINES_MAX = 100_000
FRONT_MATTER_MAX = 8 * 1024
# Lists and maps in brackets: what is in a note's has a few, and nested ones take half a second for 8 KiB.
BRACKETS_MAX = 300

_BLOCKS = MarkdownIt("commonmark")
_BLOCKS.core.ruler.disable("inline")
# A definition of a link is text like any other here, and costs most of the time of a hostile file.
_BLOCKS.block.ruler.disable("reference")
_WIKI_LINK = re.compile(r"\[\[([^\[\]\n|#]{1,200})(?:#[^\[\]\n|]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")


class _Loader(yaml.BaseLoader):
    """Texts, lists and maps alone: no dates, no types, and no aliases, which multiply."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


@dataclass(frozen=True)
class Document:
    """A Markdown file: its front matter as texts, and what follows from `line` on."""

    front: Mapping[str, Any]
    text: str
    line: int = 1
    note: str = ""


@dataclass(frozen=True)
class Section:
    """What stands under a heading, without what stands under deeper ones. Level 0 is before the first."""

    level: int
    title: str
    text: str
    line: int
    path: tuple[str, ...] = field(default=())


def document_of(text: str) -> Document:
    """A file parted into front matter and text. Front matter that can't be read stays text, with a note."""
    if not text.startswith("---\n"):
        return Document({}, text)
    end = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE).search(text, 4, FRONT_MATTER_MAX)
    if end is None:
        return Document({}, text)
    unread = Document({}, text, 1, "Has front matter that can't be read; it is kept as text.")
    if text.count("[", 4, end.start()) + text.count("{", 4, end.start()) > BRACKETS_MAX:
        return unread
    try:
        front = yaml.load(text[4 : end.start()], Loader=_Loader)  # noqa: S506 - a BaseLoader: plain texts
    except (yaml.YAMLError, RecursionError):
        return unread
    if not isinstance(front, dict):
        return Document({}, text)
    line = text.count("\n", 0, end.end()) + 2
    return Document({str(key): value for key, value in front.items()}, text[end.end() + 1 :], line)


def sections_of(text: str, place: Place) -> list[Section]:
    """The sections of a text in order, each with the titles above it. Raises TooLarge."""
    if len(text) > MARKDOWN_MAX:
        sentence = f"{place.file} has more than {MARKDOWN_MAX} characters of Markdown. Divide it."
        raise TooLarge(sentence)
    lines = text.split("\n")
    if len(lines) > LINES_MAX:
        raise TooLarge(f"{place.file} has more than {LINES_MAX} lines of Markdown. Divide it.")
    tokens = _BLOCKS.parse(text)
    heads: list[tuple[int, int, int, str]] = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            heads.append((token.map[0], token.map[1], int(token.tag[1:]), inline.content.strip()))
    first = heads[0][0] if heads else len(lines)
    found = [Section(0, "", _joined(lines[:first]), place.line)]
    above: list[tuple[int, str]] = []
    ends = [*(start for start, *_ in heads[1:]), len(lines)]
    for (start, after, level, title), end in zip(heads, ends, strict=False):
        above = [each for each in above if each[0] < level]
        path = tuple(name for _, name in above)
        found.append(Section(level, title, _joined(lines[after:end]), place.line + start, path))
        above.append((level, title))
    return found


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n")


def wiki_links(text: str) -> list[str]:
    """The names in `[[...]]`, without their anchors and what they are shown as."""
    return list(dict.fromkeys(found.strip() for found in _WIKI_LINK.findall(text)))
