"""Where the words that a question asks for stand in a text, to be marked: by the analyser's own rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from memories.search.analyse import (
    _CLUSTER,
    _RUN,
    _START_MIN,
    _WORD,
    QueryTerm,
    _character,
    _cut,
    _parts,
    _Piece,
    _pieces,
)


def marks(text: str, terms: Iterable[QueryTerm]) -> list[tuple[int, int]]:
    """Where `text`, as it was written, has words that `terms` ask for: (start, end)."""
    terms = list(terms)
    wanted = {term.text for term in terms}
    starts = tuple(term.text for term in terms if term.prefix and len(term.text) >= _START_MIN)
    spans: list[tuple[int, int]] = []
    for start, end, tokens in _spans(text):
        if wanted.isdisjoint(tokens) and not any(token.startswith(starts) for token in tokens):
            continue
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _spans(text: str) -> Iterator[tuple[int, int, Iterable[str]]]:
    """Each word of the original text, and inside identifiers each part, with its tokens."""
    for match in _WORD.finditer(text):
        start, word = match.start(), match.group()
        if match.lastgroup in ("cjk", "spaceless"):
            clusters = [(found.span(), _character(found.group())) for found in _CLUSTER.finditer(word)]
            for (span, character), (after, following) in pairwise(clusters):
                yield start + span[0], start + after[1], (_cut(character + following),)
            for span, character in clusters:
                yield start + span[0], start + span[1], (character,)
            continue
        pieces = _pieces(word) if match.lastgroup == "word" else (_Piece(word),)
        alone = len(pieces) == 1
        yield start, match.end(), [p.text for p in pieces if p.whole or alone]
        for run in () if alone else _RUN.finditer(word):
            yield start + run.start(), start + run.end(), [p.text for p in _parts(run.group())]
