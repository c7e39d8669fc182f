"""Looking for keys by their shape, among the long words of a text.

What the shapes are stands in `catalogue`; here is only how they are looked for at bounded cost.
"""

import re
from collections.abc import Iterator

from memoryhub.kernel import tokens
from memoryhub.kernel.secret_scan.catalogue import BORROWED, SHAPES
from memoryhub.kernel.secret_scan.values import is_example

SHORTEST = 16
"""No shape fits into fewer characters; hardly a word of prose has as many."""

_WORDS_BEFORE = 3  # `aws_secret_access_key` `=` `"` and the value

# Their prefix is random, so they can't be looked up by one.
_AZURE_AD = re.compile(r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])")
_OPENAI_MARK = "T3BlbkFJ"

_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_NAMED_VALUE = re.compile(
    r"(?:key|pwd?|pass(?:word)?|token)[\"']?\]? ?(?:=>|:=|::?|=|) ?[\"']?[a-z0-9_-]{24}"
)
_QUOTES = "`'\""


def find_in_words(flat: str) -> tuple[int, str] | None:
    """The line and kind of the first shape found among the long words of a text."""
    words = _Words(flat)
    if not words.text:
        return None
    hit = _find_ours(words.text) or _find_borrowed(words.text) or _find_unprefixed(words.text)
    if hit is None:
        return None
    position, kind = hit
    return words.line_at(position), kind


def find_private_key(flat: str) -> tuple[int, str] | None:
    """The header of a private key, unless it stands in quotes by itself: then it is only being named."""
    if "PRIVATE KEY" in flat:
        for match in _PRIVATE_KEY.finditer(flat):
            before, after = flat[match.start() - 1 : match.start()], flat[match.end() : match.end() + 1]
            if not (before and before == after and before in _QUOTES):
                return match.start(), "private key"
    position = flat.find("PuTTY-User-Key-File-")
    if position >= 0 and flat[position + 20 : position + 22] in ("2:", "3:"):
        return position, "private key"
    return None


class _Words:
    """The long words of a text, each with the words before it, on a line of its own.

    One space between words whatever there was: three of detect-secrets' patterns take cubic time
    over a run of spaces.
    """

    def __init__(self, flat: str) -> None:
        self._lines: list[int] = []
        pieces: list[str] = []
        for number, line in enumerate(flat.split("\n"), start=1):
            if len(line) >= SHORTEST:
                words = line.split()
                if words and max(map(len, words)) >= SHORTEST:
                    for piece in _pieces(words):
                        pieces.append(piece)
                        self._lines.append(number)
        self.text = "\n".join(pieces)

    def line_at(self, position: int) -> int:
        return self._lines[self.text.count("\n", 0, position)]


def _pieces(words: list[str]) -> Iterator[str]:
    piece: list[str] = []
    taken = 0
    for index, word in enumerate(words):
        if len(word) >= SHORTEST:
            start = max(0, index - _WORDS_BEFORE)
            if piece and start > taken:
                yield " ".join(piece)
                piece = []
            piece += words[taken if piece else start : index + 1]
            taken = index + 1
    if piece:
        yield " ".join(piece)


def _find_ours(text: str) -> tuple[int, str] | None:
    for shape in SHAPES:
        position = text.find(shape.anchor)
        while position >= 0:
            after = position + len(shape.anchor)
            if _starts_a_word(text, position, shape.anchor):
                match = shape.pattern.match(text, position)
                if match:
                    after = match.end()
                    is_key = shape.proven(match[0]) or not is_example(match[0])
                    if is_key and shape.accept(match[0]):
                        return position, shape.kind
            position = text.find(shape.anchor, after)
    return None


def _find_borrowed(text: str) -> tuple[int, str] | None:
    named = _named_values(text)
    for borrowed in BORROWED:
        spans = named if borrowed.named else []
        if any(anchor in text for anchor in borrowed.anchors):
            spans = [(0, len(text))]
        for start, end in spans:
            for pattern in borrowed.patterns:
                for match in pattern.finditer(text, start, end):
                    alone = not borrowed.whole or _stands_alone(text, match.start(), match.end())
                    if alone and not is_example(match[0]) and borrowed.accept(match[0]):
                        return match.start(), borrowed.kind
    return None


def _named_values(text: str) -> list[tuple[int, int]]:
    """Where a name is followed by a long value: all that detect-secrets' assignment patterns match, and more.

    Run over everything, those patterns would take most of the time that a scan takes. Spans that
    overlap are joined, so that no line makes them read a character more than once.
    """
    lowered = text.lower()
    starts = []
    for word in ("key", "pw", "pass", "token"):
        position = lowered.find(word)
        while position >= 0:
            if _NAMED_VALUE.match(lowered, position):
                starts.append(position)
            position = lowered.find(word, position + len(word))
    spans: list[tuple[int, int]] = []
    for position in sorted(starts):
        start, end = max(0, position - 40), position + 140
        if spans and start <= spans[-1][1]:
            start = spans.pop()[0]
        spans.append((start, end))
    return spans


def _find_unprefixed(text: str) -> tuple[int, str] | None:
    if "Q~" in text:
        match = _AZURE_AD.search(text)
        if match and not is_example(match[0]):
            return match.start(), "Azure AD client secret"
    position = text.find(_OPENAI_MARK)
    while position >= 0:
        before, after = text[max(0, position - 20) : position], text[position + len(_OPENAI_MARK) :][:20]
        if len(before) == len(after) == 20 and (before + after).isalnum():
            return position, "OpenAI key"
        position = text.find(_OPENAI_MARK, position + 1)
    return None


def _starts_a_word(text: str, position: int, anchor: str) -> bool:
    """Whether a key may begin here, rather than `sk-` stand inside `task-management`."""
    if position == 0 or anchor == tokens.PREFIX or anchor == "atlasv1." or not anchor[0].isalnum():
        return True
    before = text[position - 1]
    if before in "-_":
        return len(anchor) > 4 or not anchor.islower()
    return not before.isalnum() or _is_escape(text, position)


def _stands_alone(text: str, start: int, end: int) -> bool:
    inside = start > 0 and text[start - 1].isalnum() and not _is_escape(text, start)
    return not inside and not text[end : end + 1].isalnum()


def _is_escape(text: str, position: int) -> bool:
    """Whether `\\n` stands before, as in JSON that was pasted as it came."""
    return text[max(0, position - 2) : position] in ("\\n", "\\r", "\\t")
