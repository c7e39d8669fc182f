"""Texts that are meant to cost time: runs and mixtures of every mark that some reader of ours knows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# What begins, joins or ends something in Markdown, YAML, code, addresses and scripts.
UNITS = (
    *("[", "]", "![", "[a](", "](", "[[", "[]", "[x][", "[a]: ", "[a]: b\n", "[^1]: a\n", "[a](<", '[a](b "'),
    *(
        "*",
        "**",
        "* ",
        "*a ",
        "*a*",
        "**a",
        "_a ",
        "a_",
        "`",
        "``a",
        "```\n",
        "~~a",
        "|",
        "| a |\n",
        "|a|\n|-|\n",
    ),
    *(
        "> ",
        "> \n> ",
        "- ",
        "- a\n",
        "-\n",
        "1. ",
        "1) a\n",
        "# ",
        "#\n",
        "=\n",
        "a\n=\n",
        "a\n-\n",
        "> - ",
        "    a\n",
    ),
    *(
        "<",
        "<a ",
        "<a b='",
        "</",
        "<!--",
        "<?",
        "<div>\n",
        "<http://a>",
        "&amp;",
        "&#x",
        "\\",
        "\\\n",
        "{{",
        "{%",
    ),
    *(
        "a@b.",
        "://",
        "a/",
        "../",
        "a.b",
        "aA",
        "A1",
        "a'",
        '"',
        "((",
        "key=",
        "token: ",
        "v1.",
        "1,",
        ". ",
        "not ",
    ),
    *(
        " ",
        "  \n",
        "\t",
        "\n",
        "x",
        "é",
        "\u0301",
        "日本",
        "ア",
        "ก",
        "ا",
        "👍",
        "\u202e",
        "Ã©",
        "\u200d",
        "ﷺ",
        "İ",
    ),
)


def run(unit: str, length: int) -> str:
    """The unit over and over."""
    return (unit * (length // len(unit) + 1))[:length]


def texts(length: int) -> Iterator[tuple[str, str]]:
    """Every unit over and over, and what grows by its own shape; each with a name."""
    for unit in UNITS:
        yield ascii(unit), run(unit, length)
    half = length // 2
    yield "deep brackets", "[" * half + "]" * half
    yield "fences", " ".join("`" * n for n in range(1, int((2 * length) ** 0.5)))
    yield "stars", "a".join("*" * n for n in range(1, int((2 * length) ** 0.5)))
    yield (
        "wide table",
        "|" + "a|" * (length // 5) + "\n|" + "-|" * (length // 5) + "\n" + "|\n" * (length // 10),
    )
    yield "distinct words", " ".join(f"w{n}" for n in range(length // 6))


def against(pattern: re.Pattern[Any], length: int) -> Iterator[str]:
    """Runs, alternations and blocks of what a pattern is made of, and an end that fits none."""
    letters = list(dict.fromkeys([*_letters(parser.parse(pattern.pattern, pattern.flags)), " ", "a"]))[:6]
    for one in letters:
        yield one * length + "\x01"
    for one, other in itertools.permutations(letters, 2):
        yield (one + other) * (length // 2) + "\x01"
        yield one * (length // 2) + other * (length // 2) + "\x01"


_SAMPLES = {codes.CATEGORY_SPACE: " ", codes.CATEGORY_DIGIT: "1", codes.CATEGORY_WORD: "a"}


def _letters(parsed: Any) -> Iterator[str]:
    for operation, argument in parsed:
        if operation in (codes.LITERAL, codes.RANGE):
            yield chr(argument if operation is codes.LITERAL else argument[0])
        elif operation in (codes.ANY, codes.NOT_LITERAL, codes.NEGATE):
            yield "a"
        elif operation is codes.CATEGORY:
            yield _SAMPLES.get(argument, "-")
        elif operation is codes.IN:
            yield from _letters(argument)
        elif operation is codes.BRANCH:
            for branch in argument[1]:
                yield from _letters(branch)
        elif isinstance(argument, tuple):
            for part in argument:
                if isinstance(part, parser.SubPattern):
                    yield from _letters(part)
