"""What differs between two texts, word by word; bounded in time and in length whatever they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# A word, or a mark, with the white space before it.
_WORD = re.compile(r"\s*(?:\w+|[^\w\s])|\s+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# How many pairs are compared at most, for words and for lines: a slow page helps nobody.
PAIRS_MAX = 160_000
# Of an unchanged run so much is shown beside what changed.
CONTEXT = 100
PART_MAX = 4_000
GAP = " … "


@dataclass(frozen=True)
class Part:
    """A run of a text: `same`, `ins` or `del`."""

    kind: str
    text: str


def word_difference(old: str, new: str, *, whole: bool = False) -> list[Part]:
    """The parts in reading order: what was taken out before what came in.

    Long parts are cut in the middle, with a mark; `whole` leaves every change as it is, for whoever has to
    read it all, and cuts what stays the same alone.
    """
    parts = _joined(_by_words(old, new))
    return [
        part if whole and part.kind != "same" else _cut(part, at == 0, at == len(parts) - 1)
        for at, part in enumerate(parts)
    ]


def list_difference(old: Sequence[str], new: Sequence[str]) -> list[Part]:
    """What left a list, what came, and what stayed, each an item."""
    left = [Part("del", item) for item in old if item not in new]
    return left + [Part("same" if item in old else "ins", item) for item in new]


def _by_words(old: str, new: str) -> Iterator[Part]:
    a, b = _WORD.findall(old), _WORD.findall(new)
    start = _common(a, b)
    end = _common(a[start:][::-1], b[start:][::-1])
    yield Part("same", "".join(a[:start]))
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    if len(middle_a) * len(middle_b) <= PAIRS_MAX:
        yield from _matched(middle_a, middle_b)
    else:
        yield from _by_lines("".join(middle_a), "".join(middle_b))
    yield Part("same", "".join(a[len(a) - end :]))


def _by_lines(old: str, new: str) -> Iterator[Part]:
    """For long changes: whole lines, so that not every word is compared with every other."""
    a, b = _LINE.findall(old), _LINE.findall(new)
    if len(a) * len(b) <= PAIRS_MAX:
        yield from _matched(a, b)
    else:
        yield Part("del", old)
        yield Part("ins", new)


def _matched(a: Sequence[str], b: Sequence[str]) -> Iterator[Part]:
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Part("same", "".join(a[a0:a1]))
            continue
        yield Part("del", "".join(a[a0:a1]))
        yield Part("ins", "".join(b[b0:b1]))


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many of the first words are the same."""
    same = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        same += 1
    return same


def _joined(parts: Iterator[Part]) -> list[Part]:
    """Without empty parts, neighbours of a kind as one."""
    joined: list[Part] = []
    for part in parts:
        if not part.text:
            continue
        if joined and joined[-1].kind == part.kind:
            joined[-1] = Part(part.kind, joined[-1].text + part.text)
        else:
            joined.append(part)
    return joined


def _cut(part: Part, first: bool, last: bool) -> Part:
    """What stands next to a change, of a run that is the same; of what changed much more."""
    if part.kind != "same":
        half = PART_MAX // 2
        return part if len(part.text) <= PART_MAX else Part(part.kind, _ends(part.text, half, half))
    before, after = (0 if first and not last else CONTEXT), (0 if last and not first else CONTEXT)
    if len(part.text) <= before + after + len(GAP):
        return part
    return Part("same", _ends(part.text, before, after))


def _ends(text: str, start: int, end: int) -> str:
    """The first and the last characters, cut between words where there are any."""
    head, tail = text[:start], text[len(text) - end :] if end else ""
    if start and " " in head[start // 2 :]:
        head = head.rpartition(" ")[0]
    if end and " " in tail[: end // 2]:
        tail = tail.partition(" ")[2]
    return f"{head}{GAP}{tail}"
