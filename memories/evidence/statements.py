"""What a memory states, cut so that rules can compare it: sentences of units, and content terms.

A *unit* is one word as it was written, however many tokens an identifier is indexed under; in scripts
without spaces it is one character. A *content term* is a token of the search index that may say what
the text is about: no function word, no light or vague word, no bare number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from memories.evidence.languages import Language, fold
from memories.evidence.lexicon import (
    CJK_NEGATION,
    CJK_REPLACING,
    CJK_TOPIC,
    CJK_VAGUE,
    language_of,
)
from memories.search.analyse import STOP_WORDS, analyse, analyse_query
from memories.search.ranking import distinct_texts

# More of a text than this is not compared; the index knows all of its words.
SENTENCES_MAX = 6
UNITS_MAX = 60
QUERY_WORDS = 20
STATEMENT_MAX_LENGTH = 2_000

_CJK = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_IS_CJK = re.compile(f"[{_CJK}]")
_RUNS = re.compile(f"[{_CJK}]|[^{_CJK}]+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|[。！？；\n]+")
_EDGES = "\"'“”‘’«»„()[]{}<>,.;:!?…、，。`*"
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
_NUMBER = re.compile(r"v?\d+([.,:]\d+)*%?|\d+(st|nd|rd|th)|\d+[a-z]{1,2}", re.IGNORECASE)
# Numbers written out up to ten, and how often: what a leading one counts is the value.
_COUNTS = frozenset(
    re.findall(
        r"\w+",
        """one two three four five six seven eight nine ten hourly daily weekly monthly yearly um dois tres
        quatro cinco dos cuatro deux trois quatre cinq zwei drei vier funf dwa trzy cztery два три""",
    )
)


class Unit(NamedTuple):
    """A word: `key` is what it is compared by, `text` how it was written."""

    key: str
    text: str
    is_light: bool = False

    @property
    def is_number(self) -> bool:
        return _NUMBER.fullmatch(self.text) is not None or fold(self.text) in _COUNTS

    @property
    def is_value(self) -> bool:
        """A number, a name or an identifier: something that another of its sort can take the place of."""
        inside = self.text[1:]
        return self.is_number or any(c.isdigit() or c.isupper() or c in "/_.@:" for c in inside)


@dataclass(frozen=True)
class Sentence:
    """The units of one sentence but its function words, with what it denies or replaces."""

    units: tuple[Unit, ...]
    # How many of them stand before its verb or its topic mark: what it is about; 0 where that isn't known.
    subject: int = 0
    # Whether it denies: two negations undo each other.
    denies: bool = False

    @cached_property
    def keys(self) -> list[str]:
        return [unit.key for unit in self.units]

    @cached_property
    def content(self) -> frozenset[str]:
        """The keys of what it speaks of, numbers among them."""
        return frozenset(unit.key for unit in self.units if not unit.is_light)

    @cached_property
    def is_cjk(self) -> bool:
        """Whether a unit is a character rather than a word."""
        return 2 * sum(_IS_CJK.match(unit.text) is not None for unit in self.units) > len(self.units)


@dataclass(frozen=True)
class Statement:
    """Title, summary and hints of a memory or a draft, ready to be compared."""

    texts: tuple[str, ...]
    hints: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, title: str, summary: str, hints: Sequence[str] = (), tags: Sequence[str] = ()) -> Statement:
        kept = distinct_texts(text[:STATEMENT_MAX_LENGTH] for text in (title, summary))
        return cls(tuple(kept), tuple(hints), tuple(tags))

    @cached_property
    def words(self) -> list[str]:
        """The words of the texts, folded, in order."""
        return [fold(chunk) for text in self.texts for chunk in _chunks(text)]

    @cached_property
    def language(self) -> Language:
        return language_of(self.words)

    @cached_property
    def terms(self) -> dict[str, str]:
        """The content terms, each with the word that it stands for."""
        return content_terms((*self.texts, *self.hints), self.language)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Every token of the texts and hints: what another's terms are looked for in."""
        return frozenset(token for text in (*self.texts, *self.hints) for token in analyse(text))

    @cached_property
    def tag_tokens(self) -> frozenset[str]:
        return frozenset(token for tag in self.tags for token in analyse(tag))

    @cached_property
    def sentences(self) -> list[Sentence]:
        parts = [part for text in self.texts for part in _SENTENCE_END.split(text) if part.strip()]
        found = [_sentence(part, self.language) for part in parts[:SENTENCES_MAX]]
        return [sentence for sentence in dict.fromkeys(found) if sentence.units]

    @cached_property
    def replaces(self) -> str:
        """The word that says that something took the place of something; empty without one."""
        return _first_phrase(self, self.language.replacing, CJK_REPLACING)

    @cached_property
    def is_vague(self) -> bool:
        """Whether it speaks of something without naming it: *a different one*, *the preferred way*."""
        return not self.language.vague.isdisjoint(self.words) or any(self._has(mark) for mark in CJK_VAGUE)

    def opposed_to(self, other: Statement) -> tuple[str, str] | None:
        """A pair of opposites of which each side has one word, and not the other."""
        mine, theirs = set(self.words), set(other.words)
        for known in {self.language, other.language}:
            for one, two in known.opposites:
                for here, there in ((one, two), (two, one)):
                    if here in mine and there in theirs and there not in mine and here not in theirs:
                        return here, there
        return None

    def _has(self, mark: str) -> bool:
        return any(mark in text for text in self.texts)


def content_terms(texts: Iterable[str], language: Language) -> dict[str, str]:
    """The terms of texts that may say what they are about, with the words that they stand for."""
    passed = _passed(language)
    found: dict[str, str] = {}
    for part in (part for text in texts for part in _parts(text)):
        said = {token: chunk for chunk in reversed(_chunks(part)) for token in unit_tokens(chunk)}
        for text, _, whole in analyse_query(part):
            if text not in found and not (whole and text not in said) and is_content(text, passed):
                found[text] = said.get(text, text)
    return found


def _parts(text: str) -> list[str]:
    """A text in pieces of so many words that the analyser takes all of a piece for one question."""
    words = text.split()
    if len(words) <= QUERY_WORDS:
        return [text]
    return [" ".join(words[at : at + QUERY_WORDS]) for at in range(0, len(words), QUERY_WORDS)]


def is_content(token: str, passed: frozenset[str]) -> bool:
    if token in passed:
        return False
    is_plain = token.isascii() and token.isalpha()
    return is_plain or not (_NUMBER.fullmatch(token) or _HIRAGANA.fullmatch(token))


@lru_cache(maxsize=64)
def _passed(language: Language) -> frozenset[str]:
    """The tokens of words that say nothing of the subject."""
    replacing = {phrase for phrase in language.replacing if " " not in phrase}
    words = {*language.function, *language.light, *language.vague, *replacing, *STOP_WORDS}
    return frozenset(token for word in words for token in analyse(word))


@lru_cache(maxsize=20_000)
def unit_tokens(chunk: str) -> tuple[str, ...]:
    return tuple(analyse(chunk))


def _chunks(text: str) -> list[str]:
    """The words of a text without the marks around them; one character each in scripts without spaces."""
    if text.isascii():
        return [chunk for word in text.split() if (chunk := word.strip(_EDGES))]
    found: list[str] = []
    for chunk in unicodedata.normalize("NFKC", text).split():
        chunk = chunk.strip(_EDGES)
        if not _IS_CJK.search(chunk):
            found.append(chunk)
        else:
            found += (run.strip(_EDGES) for run in _RUNS.findall(chunk))
    return [chunk for chunk in found if chunk]


def _sentence(text: str, language: Language) -> Sentence:
    units: list[Unit] = []
    subject = 0
    denials = sum(mark in text for mark in CJK_NEGATION)
    for chunk in _chunks(text)[:UNITS_MAX]:
        word = fold(chunk)
        denials += word in language.negation or word.endswith(("n't", "n’t"))
        if word in language.light and units and not subject and len(units) <= UNITS_MAX // 2:
            subject = len(units)
        if chunk in CJK_TOPIC and units and not subject:
            subject = len(units)
        if word in language.function or word in language.replacing or _HIRAGANA.fullmatch(chunk):
            continue
        tokens = unit_tokens(chunk)
        if tokens:
            units.append(Unit(tokens[0], chunk, word in language.light))
    return Sentence(tuple(units), subject, bool(denials % 2 if language.negations_undo else denials))


def _first_phrase(statement: Statement, phrases: Iterable[str], marks: Iterable[str]) -> str:
    words = statement.words
    line = f" {' '.join(words)} "
    for phrase in phrases:
        head, gap, tail = phrase.partition(" ... ")
        if not gap and f" {phrase} " in line:
            return phrase
        if gap and head in words:
            after = words[words.index(head) + 1 :][:6]
            if tail in after:
                return f"{head} … {tail}"
    return next((mark for mark in marks if statement._has(mark)), "")
