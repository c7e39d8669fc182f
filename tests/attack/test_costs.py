"""No text makes the hub slow: what it costs grows with its length, whatever it is made of.

Times are of this process alone, and bounds are many times what was measured: each is for the day that a
pattern or a reader takes the square of a length.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hygiene.placeholders import placeholder
from hygiene.services.flaws import flaws_of
from memories.differences import word_difference
from memories.evidence.statements import Statement
from memories.markdown import rendered
from memories.models import Memory
from memories.search.analyse import QueryTerm, analyse, analyse_query
from memories.search.spans import marks
from memoryhub.importing.candidates import Place
from memoryhub.importing.markdown_files import BRACKETS_MAX, LINES_MAX, document_of, sections_of, wiki_links
from memoryhub.kernel.errors import TooLarge
from memoryhub.kernel.secret_scan import find_secret
from memoryhub.kernel.text import SUMMARY_MAX_LENGTH, normalised
from memoryhub.projections.given import paragraph, quotation
from tasks.current_state import parse, render
from tests.attack.hostile import against, run, texts

APPS = ("memoryhub", "projects", "memories", "tasks", "hygiene")
NO_MODULES = ("memoryhub.wsgi", "memoryhub.asgi", "memoryhub.run", "memoryhub.gunicorn.conf")


def spent(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


# --- patterns ---------------------------------------------------------------------------


def patterns() -> dict[str | bytes, tuple[str, re.Pattern[Any]]]:
    """Every compiled pattern that a module of ours holds, by what it says, with a name to find it by."""
    found: dict[str | bytes, tuple[str, re.Pattern[Any]]] = {}
    for app in APPS:
        for module in pkgutil.walk_packages(importlib.import_module(app).__path__, f"{app}."):
            if module.name in NO_MODULES or ".migrations" in module.name:
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                for pattern in _inside(value):
                    found.setdefault(pattern.pattern, (f"{module.name}.{name}", pattern))
    return found


def _inside(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth > 3:
        return
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _inside(each, depth + 1)
    elif isinstance(value, dict):
        yield from _inside(list(value.values()), depth + 1)
    elif type(value).__module__.startswith(APPS):
        for name in getattr(type(value), "__slots__", ()):
            yield from _inside(getattr(value, name, None), depth + 1)


# Looked for at the beginning of a text alone, by `match` or `fullmatch`: there they take no time.
AT_THE_BEGINNING = {
    "memoryhub.kernel.refs._NUMBER",
    "memoryhub.kernel.refs._REVIEW",
    "memoryhub.projections.given._SCHEME",
}
LENGTH, GROWN = 2_000, 4
# Less than this is no cost, whatever it grows with. In proportion, the longer text takes GROWN times as much.
SUSPECT = 0.005


def test_every_pattern_takes_time_in_proportion_to_the_text() -> None:
    """Tried on what it is made of: one that looks at everything behind each of its beginnings is found."""
    tried = patterns()
    assert len(tried) > 200
    slow = []
    for name, pattern in tried.values():
        for at, text in enumerate(against(pattern, LENGTH)):
            if _cost(name, pattern, text) < SUSPECT:
                continue
            longer = next(itertools.islice(against(pattern, GROWN * LENGTH), at, None))
            took, grown = (min(_cost(name, pattern, each) for _ in range(3)) for each in (text, longer))
            if grown > 2 * GROWN * max(took, SUSPECT):
                slow.append(f"{name} on {text[:4]!r}…{text[-4:]!r}: {took:.3f} s, then {grown:.3f} s")
                break
    assert not slow, slow


def _cost(name: str, pattern: re.Pattern[Any], text: Any) -> float:
    if isinstance(pattern.pattern, bytes):
        text = text.encode("utf-8", "surrogatepass")

    def look() -> None:
        pattern.fullmatch(text), pattern.match(text)
        if name not in AT_THE_BEGINNING:
            for _ in pattern.finditer(text):
                pass

    return spent(look)


# --- readers ----------------------------------------------------------------------------

TITLE, BODY = 120, 100_000
PROSE = run("Every call retries three times with jitter, because the network is lossy. ", BODY)


def _flaws(text: str) -> object:
    return flaws_of(Memory(title="a", summary="b", body=text, kind="constraint", details={}))


def _statement(text: str) -> object:
    said = Statement.of(text[:TITLE], text)
    return said.terms, said.tokens, said.sentences, said.replaces, said.opposed_to(said)


# What reads a stored text of any length, or an imported one.
READERS: dict[str, Callable[[str], object]] = {
    "a page": rendered,
    "a file for a repository": quotation,
    "a paragraph of one": lambda text: paragraph(text[:SUMMARY_MAX_LENGTH]),
    "the index": analyse,
    "a question": analyse_query,
    "words that were found": lambda text: marks(text, [QueryTerm("abc", prefix=True)]),
    "the secret scan": find_secret,
    "comparing": normalised,
    "flaws": _flaws,
    "a placeholder": placeholder,
    "evidence": _statement,
    "a checkpoint's file": parse,
    "its writing": lambda text: render({"blockers": text}),
    "links of notes": wiki_links,
    "sections": lambda text: sections_of(text, Place("a.md")),
    "front matter": lambda text: document_of(f"---\n{text}\n---\nx"),
    "a difference": lambda text: word_difference(text, text[::-1]),
    "another difference": lambda text: word_difference(f"{text} a", f"b {text[1:]}"),
}


@pytest.mark.parametrize("reader", READERS)
def test_no_text_takes_a_reader_long(reader: str) -> None:
    read, length = READERS[reader], 5_000
    read(PROSE[:length])
    plain = spent(lambda: read(PROSE[:length]))
    slow = {}
    for name, text in texts(length):
        took = spent(lambda text=text: read(text))  # type: ignore[misc]
        if took > 0.6 + 20 * plain:
            slow[name] = took
    assert not slow


# --- what comes out ---------------------------------------------------------------------

BOMBS = {
    "long addresses used often": "[a]: http://" + "b" * 50_000 + "\n\n" + "[a] " * 1_500,
    "their titles": "[a]: http://b '" + "t" * 50_000 + "'\n\n" + "![a] " * 1_500,
    "rows of one cell": ("|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n" + "|\n" * 150 + "\n") * 70,
    "rows without a bar": "|" + "a|" * 900 + "\n|" + "-|" * 900 + "\n" + "a\n" * 40_000,
    "tables in quotations": ("> |" + "a|" * 90 + "\n> |" + "-|" * 90 + "\n" + "> |\n" * 90 + "\n") * 120,
    "nested pictures": "![" * 33_000,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_would_grow_is_shown_as_it_was_written(bomb: str) -> None:
    """A hundred kilobytes were made four hundred megabytes, or took half a minute."""
    text = BOMBS[bomb][:BODY]
    html: list[str] = []
    assert spent(lambda: html.append(rendered(text))) < 2
    assert "Shown as it was written" in html[0]
    assert html[0].count("<a ") == html[0].count("<t") == 0
    assert len(html[0]) < 2 * BODY


def test_what_somebody_writes_is_no_bomb() -> None:
    links = "".join(f"- [Record {n}][{n}] and [another](https://example.com/{n})\n" for n in range(300))
    defined = "".join(f"[{n}]: https://example.com/records/{n}\n" for n in range(300))
    table = "| a | b | c |\n|---|---|---|\n" + "| one | two | three |\n" * 1_000
    html = rendered(f"{links}\n{defined}\n{table}")
    assert (html.count("<a "), html.count("<td>")) == (600, 3_000)


def test_a_note_is_read_in_time_and_an_import_of_short_lines_is_parted() -> None:
    deep = document_of("---\na: " + "[" * (BRACKETS_MAX + 1) + "\n---\nx")
    assert deep.note
    assert not deep.front
    with pytest.raises(TooLarge, match="Divide it"):
        sections_of("#\n" * LINES_MAX, Place("a.md"))


def test_a_letter_that_stands_for_a_sentence_is_one_in_a_text_of_them() -> None:
    """A small text is found by its words; a large one would be indexed at eighteen times its length."""
    assert len(analyse("ﷺ")) > 2
    assert len(analyse("ﷺ" * BODY)) < BODY
