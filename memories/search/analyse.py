"""Words of a text and of a question, the same on both engines.

`analyse` gives what a document is indexed under, in order; `analyse_query` what a
question asks for. Both cut, fold and stem alike, so a word of a text finds the text.

A word is folded: NFKC, case, and the diacritics of Latin, Greek and Cyrillic letters,
harakat and niqqud. Plain words are stemmed. An identifier (`src/main.py`, `getUserId`,
`--no-verify`, `C++`) is indexed whole, by its segments, and by its stemmed parts. Scripts
written without spaces are indexed as pairs of neighbouring characters; the last
character of a run also stands alone, so a single one is served by a prefix match.

No expression here nests quantifiers over overlapping classes: every one is linear.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import Stemmer

TOKEN_MAX_LENGTH = 64
QUERY_MAX_TERMS = 64

# Every ASCII character, beside letters and digits, that a token may contain.
WORD_PUNCTUATION = "_-./\\@:+&#$~"


class QueryTerm(NamedTuple):
    """One thing a question asks for.

    `prefix`: every token that starts with `text` counts. `whole`: the unsplit form of
    an identifier whose parts are terms too; it adds to a score, but not to what a
    document has to match to be a confident answer.
    """

    text: str
    prefix: bool = False
    whole: bool = False


class _Piece(NamedTuple):
    text: str
    whole: bool = False
    stop: bool = False
    prefix: bool = False


class _AskedWord(NamedTuple):
    """What a word of a question asks for: what tells something, and all of it."""

    telling: tuple[QueryTerm, ...]
    every: tuple[QueryTerm, ...]


# Snowball's English stop list, folded, and what its contractions leave behind.
_ENGLISH = """
    et a about above after again against all am an and any are aren arent as at be because
    been before being below between both but by can cannot cant could couldn couldnt d did
    didn didnt do does doesn doesnt doing don dont down during each few for from further had
    hadn hadnt has hasn hasnt have haven havent having he her here hers herself him himself
    his how i if in into is isn isnt it its itself just ll m me more most mustn mustnt my
    myself no nor not now of off on once only or other ought our ours ourselves out over own
    re s same shan shant she should shouldn shouldnt so some such t than that the their
    theirs them themselves then there these they this those through to too under until up ve
    very was wasn wasnt we were weren werent what when where which while who whom why will
    with won wont would wouldn wouldnt you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_ENGLISH.split())

# The beginning of a word tells something from this many letters on; a stem is shorter by so many at most.
_START_MIN, _ENDING_MAX = 3, 4


def _ranges(*categories: str) -> str:
    """Those categories as the inside of a regular expression's character class."""
    found: list[list[int]] = []
    for code in (*range(0x20000), *range(0xE0100, 0xE01F0)):
        if unicodedata.category(chr(code)) in categories:
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in found)


# Joiners, soft hyphens, marks of direction: inside a word, and not part of it. The
# zero width space is not among them: it separates words.
_IGNORED = "\u00ad\u034f\u061c\u180e\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
_MARK = _ranges("Mn", "Mc", "Me") + _IGNORED
_UPPER = _ranges("Lu", "Lt")
_LOWER = _ranges("Ll")

_CJK = (
    "\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uffa0-\uffdc"
)
_SPACELESS = (
    "\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2-\u0eb3\u0ebd\u0ec0-\u0ec6"
    "\u0edc-\u0edf\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065-\u1066"
    "\u106e-\u1070\u1075-\u1081\u108e\u1780-\u17b3\u17d7\u17dc\ua9e0-\ua9ef\ua9fa-\ua9fe"
    "\uaa60-\uaa7a\uaa7e-\uaa7f"
)
_SYMBOL = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"

_APOSTROPHE = "'\u2019\u02bc\uff07"
_HYPHEN = "\\-\u2010\u2011"
_JOIN = rf"_./\\@:+&#{_HYPHEN}{_APOSTROPHE}"
_SIGN = rf"_./#@$~{_HYPHEN}"
_CORE = rf"(?:[^\W_{_CJK}{_SPACELESS}][{_MARK}]*)"

_WORD = re.compile(
    rf"(?P<cjk>(?:[{_CJK}][{_MARK}]*)+)"
    rf"|(?P<spaceless>(?:[{_SPACELESS}][{_MARK}]*)+)"
    rf"|(?P<word>(?:(?<![{_SIGN}])(?:[{_HYPHEN}]{{1,2}}|__?|\.{{0,2}}/|~/|[.#@$~]))?"
    rf"{_CORE}+(?:[{_JOIN}]{{1,3}}{_CORE}+)*(?:__?|\+\+?|#)?)"
    rf"|(?P<symbol>[{_SYMBOL}])"
)
_MARKED = re.compile(f"[{_MARK}]")
_CLUSTER = re.compile(rf".[{_MARK}]*", re.DOTALL)
_OUTSIDE = re.compile(rf"^[{_SIGN}]+|[_+#]+$")
_SEGMENT = re.compile(r"[^/\\@:#]+")
_RUN = re.compile(rf"(?:[^\W_][{_MARK}{_APOSTROPHE}]*)+")
_CASE = re.compile(
    rf"(?<=[{_LOWER}])(?=[{_UPPER}])|(?<=[{_UPPER}])(?=[{_UPPER}][{_LOWER}])"
    r"|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)"
)
_CLITIC = re.compile(rf"(?<=\w)[{_APOSTROPHE}](?:s|ll|re|ve|d|m)?$", re.IGNORECASE)
_NEGATION = re.compile(rf"n[{_APOSTROPHE}]t$", re.IGNORECASE)
_APOSTROPHES = re.compile(f"[{_APOSTROPHE}]+")

# Marks around a word that are in no token, nor tell what its own signs are: it is kept once, without them.
_BEFORE = '()[]{}<>,;:!?"`*'
_AFTER = f"{_BEFORE}."

# A longer run of marks is nobody's text, and sorting one takes quadratic time.
_MARKS_MAX = 30
_PILE = re.compile(rf"([{_MARK}]{{{_MARKS_MAX}}})[{_MARK}]+")
# Some letters stand for whole sentences, of 18 letters. A large text that grows by so much is nobody's: there
# they stand for themselves.
_GROWTH, _GROWN = 3, 1_000

_DIACRITIC = re.compile(
    "([\u0041-\u02ff\u0370-\u052f\u1d00-\u1dbf\u1e00-\u1fff\u2c60-\u2c7f\ua640-\ua69d\ua720-\ua7ff])"
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+"
)
_DROPPED = re.compile(
    f"[{_IGNORED}{_APOSTROPHE}\ufe00-\ufe0f\U000e0100-\U000e01ef"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]+"
)
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
    | {"\u2010": "-", "\u2011": "-"}
)

_HIRAGANA = re.compile("[\u3041-\u3096]")
_SCRIPTS = (
    (re.compile("[a-z]+"), "english"),
    (re.compile("[\u0430-\u045f]+"), "russian"),
    (re.compile("[\u0620-\u06d3]+"), "arabic"),
    (re.compile("[\u0900-\u0963\u0971-\u097f]+"), "hindi"),
)
_stemmers = threading.local()


def analyse(text: str) -> list[str]:
    """The tokens of a document, in order, stop words among them."""
    tokens: list[str] = []
    for chunk in _normal(text).split():
        word = chunk.lstrip(_BEFORE).rstrip(_AFTER)
        tokens += _chunk_tokens(word) if len(word) <= TOKEN_MAX_LENGTH else _tokens(word)
    return tokens


def _tokens(chunk: str) -> tuple[str, ...]:
    """The tokens of what stands between two spaces: no word goes across one."""
    tokens: list[str] = []
    for match in _WORD.finditer(chunk):
        word, kind = match.group(), match.lastgroup
        if kind == "word":
            tokens += (piece.text for piece in _pieces(word))
        elif kind == "symbol":
            tokens.append(word)
        else:
            characters = _characters(word)
            tokens += _pairs(characters)
            tokens.append(characters[-1])
            if kind == "spaceless" and len(characters) > 2:
                tokens.append(_whole(characters))
    return tuple(tokens)


def analyse_query(text: str) -> list[QueryTerm]:
    """What a question asks for, distinct; stop words only when there is nothing else."""
    wanted: dict[str, QueryTerm] = {}
    others: dict[str, QueryTerm] = {}
    for telling, every in _asked(text):
        for term in telling:
            if term.text not in wanted or not term.whole:
                wanted[term.text] = term
        for term in every:
            others.setdefault(term.text, term)
        if len(wanted) >= QUERY_MAX_TERMS:
            break
    return list((wanted or others).values())[:QUERY_MAX_TERMS]


def _asked(text: str) -> Iterator[_AskedWord]:
    """The words of a question, one after the other."""
    for chunk in _normal(text).split():
        word = chunk.lstrip(_BEFORE).rstrip(_AFTER)
        yield from _chunk_words(word) if len(word) <= TOKEN_MAX_LENGTH else _words(word)


def _words(chunk: str) -> tuple[_AskedWord, ...]:
    return tuple(_asked_word(_query_pieces(match)) for match in _WORD.finditer(chunk))


def _asked_word(pieces: Sequence[_Piece]) -> _AskedWord:
    telling = [piece for piece in pieces if not piece.stop]
    # What is left of an identifier made of stop words has to count for itself.
    is_split = not all(piece.whole for piece in telling)
    every = tuple(QueryTerm(piece.text, piece.prefix) for piece in pieces)
    asked = tuple(QueryTerm(piece.text, piece.prefix, piece.whole and is_split) for piece in telling)
    # Most words are one term: kept once.
    return _AskedWord(every if asked == every else asked, every)


def unfinished_starts(text: str) -> list[QueryTerm]:
    """The last word of a question that is being typed, as beginnings of words, longest first.

    Words stand in the index by their stems, which may be shorter than what is typed of them: `loggi` finds
    `log`. Empty where the last word is finished, too short to tell anything, or written without letters.
    """
    if not text or text[-1].isspace():
        return []
    last = (analyse(text.split()[-1]) or [""])[-1]
    if not last.isalpha() or last in STOP_WORDS:
        return []
    shortest = max(_START_MIN, len(last) - _ENDING_MAX)
    return [QueryTerm(last[:size], prefix=True) for size in range(len(last), shortest - 1, -1)]


def _normal(text: str) -> str:
    if text.isascii():
        return text
    text = _PILE.sub(r"\1", text)
    plain = unicodedata.normalize("NFKC", text)
    return plain if len(plain) <= _GROWTH * len(text) + _GROWN else unicodedata.normalize("NFC", text)


def _query_pieces(match: re.Match[str]) -> Sequence[_Piece]:
    word, kind = match.group(), match.lastgroup
    if kind == "word":
        return _pieces(word)
    if kind == "symbol":
        return [_Piece(word)]
    characters = _characters(word)
    if len(characters) == 1:
        # A particle by itself, as Japanese separates them, is a stop word.
        particle = _HIRAGANA.fullmatch(characters[0]) is not None
        return [_Piece(characters[0], stop=particle, prefix=True)]
    pieces = [_Piece(pair) for pair in _pairs(characters)]
    if kind == "spaceless" and len(characters) > 2:
        pieces.append(_Piece(_whole(characters), whole=True))
    return pieces


def _characters(run: str) -> list[str]:
    """The characters of a run, each with its marks."""
    if _MARKED.search(run):
        return [_character(cluster) for cluster in _CLUSTER.findall(run)]
    return list(run)


@lru_cache(maxsize=20_000)
def _character(cluster: str) -> str:
    return _cut(_fold(cluster))


def _pairs(characters: list[str]) -> list[str]:
    return [_cut(first + second) for first, second in pairwise(characters)]


def _whole(characters: list[str]) -> str:
    """The run as the word that the spaces around it make of it."""
    return _cut("".join(characters[:TOKEN_MAX_LENGTH]))


def _pieces(word: str) -> tuple[_Piece, ...]:
    # The cache is for words that come again; long ones don't.
    return _cached(word) if len(word) <= TOKEN_MAX_LENGTH else _expand(word)


def _expand(word: str) -> tuple[_Piece, ...]:
    """A word, or an identifier whole, by its segments, and by its parts."""
    if word.isascii() and word.islower() and word.isalpha():
        return (_plain(word),)
    pieces: list[_Piece] = []
    core = _OUTSIDE.sub("", word)
    wholes = [] if core == word else [word]
    if word[0] == "_":  # the underscores of `__init__.py` are its name, not a sign
        core = word
    segments = _SEGMENT.findall(core)
    if len(segments) > 1:
        wholes.append(core)
    for segment in segments:
        runs = _RUN.findall(segment)
        if len(runs) > 1:
            wholes.append(segment)
        for run in runs:
            pieces += _parts(run)
    folded = dict.fromkeys(_cut(_fold(whole)) for whole in wholes)
    return (*(_Piece(text, whole=True) for text in folded if text), *pieces)


def _parts(run: str) -> Iterator[_Piece]:
    """The pieces of letters and digits that no mark but an apostrophe separates."""
    negation = _NEGATION.search(run)
    run = _CLITIC.sub("", run)
    halves = [half for half in _APOSTROPHES.split(run) if half]
    if len(halves) > 1:
        joined = _plain("".join(halves))
        yield joined._replace(whole=not joined.stop)
        halves = halves[:1] if negation else [h for h in halves if len(h) > 1] or halves
    for half in halves:
        parts = _CASE.split(half)
        if len(parts) == 1:
            yield _plain(half)
            continue
        # A lone letter or digit (the 2 of `v2`) says nothing by itself.
        telling = [part for part in parts if len(part) > 1]
        yield _plain(half)._replace(whole=bool(telling))
        yield from map(_plain, telling)


def _plain(word: str) -> _Piece:
    folded = _fold(word)
    return _Piece(_cut(_stem(folded)), stop=folded in STOP_WORDS)


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower().replace("'", "")
    text = unicodedata.normalize("NFKC", _DROPPED.sub("", word)).casefold()
    text = unicodedata.normalize("NFKD", text).replace("и\u0306", "й")
    text = _DROPPED.sub("", _DIACRITIC.sub(r"\1", text).translate(_LETTERS))
    # A letter that stands for a whole sentence has its spaces. No token has one.
    return "".join(unicodedata.normalize("NFC", text).split())


def _stem(word: str) -> str:
    if len(word) > TOKEN_MAX_LENGTH:
        return word
    for script, language in _SCRIPTS:
        if script.fullmatch(word):
            return _stemmer(language).stemWord(word) or word
    return word


def _stemmer(language: str) -> Stemmer.Stemmer:
    """This thread's own: a stemmer has state and may not be shared."""
    stemmer = getattr(_stemmers, language, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(language, 0)
        setattr(_stemmers, language, stemmer)
    return stemmer


def _cut(token: str) -> str:
    return token[:TOKEN_MAX_LENGTH]


_cached = lru_cache(maxsize=20_000)(_expand)
# Most of a text was met before, with the marks around it: looking it up takes a tenth of taking it apart.
_chunk_tokens = lru_cache(maxsize=10_000)(_tokens)
_chunk_words = lru_cache(maxsize=5_000)(_words)
