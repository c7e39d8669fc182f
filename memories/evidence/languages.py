"""A language as the rules read it: its closed word classes, folded."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})


@lru_cache(maxsize=20_000)
def fold(word: str) -> str:
    """Without case and diacritics, for comparing with the lists here alone."""
    if word.isascii():
        return word.lower()
    text = unicodedata.normalize("NFKD", word.casefold().translate(_LETTERS))
    return "".join(c for c in text if not unicodedata.combining(c))


def _words(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(fold(word) for word in part.split()) for part in text.split(",") if part.strip())


@dataclass(frozen=True, eq=False)
class Language:
    """The classes of one language. Each is one object, and equal to itself alone."""

    function: frozenset[str]
    light: frozenset[str] = frozenset()
    vague: frozenset[str] = frozenset()
    replacing: tuple[str, ...] = ()
    negation: frozenset[str] = frozenset()
    opposites: tuple[tuple[str, str], ...] = ()
    # In English two negations undo each other; in the others they strengthen each other.
    negations_undo: bool = False


def language(
    *,
    function: str,
    light: str,
    vague: str,
    replacing: str,
    negation: str,
    opposites: str,
    negations_undo: bool = False,
) -> Language:
    pairs = (fold(pair).split("/") for pair in opposites.split())
    return Language(
        _words(function),
        _words(light),
        _words(vague),
        _phrases(replacing),
        _words(negation),
        tuple((one, other) for one, other in pairs),
        negations_undo,
    )


def union_of(known: Sequence[Language]) -> Language:
    """One language with the words of several."""
    return Language(
        frozenset().union(*(one.function for one in known)),
        frozenset().union(*(one.light for one in known)),
        frozenset().union(*(one.vague for one in known)),
        tuple(dict.fromkeys(phrase for one in known for phrase in one.replacing)),
        frozenset().union(*(one.negation for one in known)),
        tuple(dict.fromkeys(pair for one in known for pair in one.opposites)),
        all(one.negations_undo for one in known),
    )
