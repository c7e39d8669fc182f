"""Placeholders for missing summaries: the first characters of the body, marked, until somebody writes one."""

from __future__ import annotations

import re

from memoryhub.kernel.text import collapsed, shortened, summary_problem

# So begins every placeholder: people and agents see it, and the rule finds it.
MARK = "[placeholder] "
LENGTH = 200

_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_LINE_MARKS = re.compile(r"^\s*(?:#+|>|[-*+]|\d+\.|```\w*|~~~\w*)\s*", re.MULTILINE)
_STARS = re.compile(r"\*+")


def placeholder(body: str) -> str:
    """The marked beginning of a body as plain text in one paragraph; empty where it has no words."""
    plain = _STARS.sub("", _LINK.sub(r"\1", _LINE_MARKS.sub("", body[: 4 * LENGTH])))
    words = collapsed(plain.replace("```", ""))
    if not words:
        return ""
    text = MARK + shortened(words, LENGTH)
    # What still reads as Markdown is written without its brackets: a placeholder needs no links.
    return text if summary_problem(text) is None else MARK + shortened(re.sub(r"[\[\]()]", "", words), LENGTH)
