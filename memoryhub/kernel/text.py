"""The text rules: what may be stored, what a summary is, how stored text is shown to agents.

Characters are code points. CRLF becomes LF; everything else that is allowed is stored as it is.
"""

from __future__ import annotations

import re
import unicodedata

# Controls but tab and newline (C0, DEL, C1), and lone surrogates, which no database stores.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_BREAKS = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
# The marks that change the direction in which text is shown (UAX #9), with the older ALM.
_BIDI_MARKS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_WHITE = re.compile(r"\s+")

SUMMARY_MAX_LENGTH = 280
TITLE_MAX_LENGTH = 120

_CODE_SPAN = re.compile(r"`[^`]*`")
_SUMMARY_MARKDOWN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[\n\r\u2028\u2029]"), "must be one paragraph, without line breaks"),
    (re.compile(r"```|^\s*~~~"), "must be plain text, without a code fence"),
    (re.compile(r"^\s*#"), "must be plain text and may not begin with '#' (a heading)"),
    (re.compile(r"^\s*>"), "must be plain text and may not begin with '>' (a quotation)"),
    (re.compile(r"^\s*[-*+][ \t]"), "must be plain text and may not begin with a list mark"),
    (re.compile(r"^\s*\d+\.[ \t]"), "must be plain text and may not begin with a list number"),
)
# The next two are looked for outside back-ticks only. Neither can backtrack over more than one run.
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])+\]\(")
# Stars that hug words on both sides, as `2 * 3`, `*.py`, `a*b` and `f(*args, **more)` don't. Chinese and
# Japanese have no spaces around words, so that their letters may touch the stars from outside.
_CJK = "\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_EMPHASIS = re.compile(
    rf"(?:(?<![\w*])|(?<=[{_CJK}]))\*{{1,3}}(?=[\w\"'`(“‘「（])[^*]*"
    rf"(?<=[\w.,;:!?)\"'`”’」）。…])\*{{1,3}}(?:(?![\w*])|(?=[{_CJK}]))"
)


def tidy(text: str) -> str:
    """The text as it is stored: CRLF becomes LF, nothing else changes."""
    return text.replace("\r\n", "\n")


def storable(text: str) -> bool:
    """Whether a text can be in the store at all; what can't is never found there."""
    return not _FORBIDDEN.search(text)


def printable(name: object) -> str:
    """A made-up name, cut and safe to repeat in a sentence."""
    return "".join(c for c in str(name)[:40] if c.isprintable()) or "?"


def text_problem(value: object, *, most: int, least: int = 0, one_line: bool = False) -> str | None:
    """What is wrong with a text of `least` to `most` characters, as a sentence; None when nothing is.

    `one_line` refuses line breaks. `least` counts a text of white space alone as empty.
    """
    if not isinstance(value, str):
        return "Must be text."
    text = tidy(value)
    found = _FORBIDDEN.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        return f"Has the control character U+{ord(found.group()):04X} on line {line}. Remove it."
    if one_line and _LINE_BREAKS.search(text):
        return "Must be one line, without line breaks."
    if len(text) > most:
        return f"Has {len(text)} characters; at most {most} are allowed. Shorten it."
    if least and not text.strip():
        return "Is empty. Fill it in." if least == 1 else f"Is empty; at least {least} characters are needed."
    if len(text) < least:
        return f"Has {len(text)} characters; at least {least} are needed."
    return None


def summary_problem(value: object) -> str | None:
    """What is wrong with a summary: 1 to 280 characters of plain text in one paragraph."""
    problem = text_problem(value, most=SUMMARY_MAX_LENGTH, least=1)
    if problem or not isinstance(value, str):
        return problem
    text = tidy(value)
    for pattern, sentence in _SUMMARY_MARKDOWN:
        if pattern.search(text):
            return f"A summary {sentence}."
    prose = _CODE_SPAN.sub("``", text)
    if _LINK.search(prose):
        return "A summary must be plain text, without a Markdown link."
    if _EMPHASIS.search(prose):
        return "A summary must be plain text, without '*' around words."
    return None


def normalised(text: str) -> str:
    """The text for comparing: NFC, case folded, white space collapsed."""
    return _WHITE.sub(" ", unicodedata.normalize("NFC", text).casefold()).strip()


def collapsed(text: str) -> str:
    """The text with runs of white space as one space: two such equal texts say the same."""
    return _WHITE.sub(" ", text).strip()


def visible_marks(text: str) -> str:
    """Bidirectional marks written out (`[U+202E]`), so that nobody reads what isn't there."""
    return _BIDI_MARKS.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


def in_one_line(text: str) -> str:
    """Stored text inside a structured text: line breaks become spaces, hidden marks are visible.

    A stored line break or mark can't forge a row, a heading or a footer around it.
    """
    if text.isprintable():
        return text  # nothing of the kind is in it, as in nearly every text
    text = _LINE_BREAKS.sub(" ", text).replace("\t", " ")
    return visible_marks(_FORBIDDEN.sub("\ufffd", text))


def as_sentence(text: str) -> str:
    """With a full stop, unless a mark stands at its end."""
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…", ".”", '."')) else f"{text}."


def shortened(text: str, most: int) -> str:
    """At most `most` characters, the cut marked with `…`."""
    return text if len(text) <= most else text[: most - 1] + "…"
