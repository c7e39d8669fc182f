"""What Markdown would cost whoever reads it: one rule for the pages and for the files of a repository.

Three things make a short text take seconds or come out as hundreds of megabytes: brackets, behind each of
which a reader looks for the end of a link; tables, whose short rows are filled up to the width of the
first; and definitions of links, whose long address stands at every use. A text that has more of them than
anybody writes is shown as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable

from markdown_it.token import Token

BRACKETS_MAX = 2_000
CELLS_MAX = 20_000
# As cmark bounds what definitions add; an address in letters of other scripts has nine characters for one.
ADDRESSES_MAX = 100_000
_ADDRESS_GROWTH = 10
# What the line between the head and the rows of a table is made of, in a quotation or a list, too.
_DIVIDING = frozenset(" \t>*+.)0123456789|:-")


def takes_long(text: str) -> bool:
    """Whether a text is not to be parsed at all: too many brackets, or cells of tables."""
    return text.count("[") > BRACKETS_MAX or _cells(text) > CELLS_MAX


def grows(text: str, tokens: Iterable[Token]) -> bool:
    """Whether a parsed text would come out far longer than it is, by the addresses of its links."""
    most = max(ADDRESSES_MAX, _ADDRESS_GROWTH * len(text))
    for token in tokens:
        for child in token.children or ():
            most -= sum(len(str(value)) for value in child.attrs.values())
        if most < 0:
            return True
    return False


def _cells(text: str) -> int:
    """The most cells that its tables may have: the rows of a block, each as wide as the widest divider."""
    if "|" not in text:
        return 0
    total = rows = columns = 0
    for line in text.split("\n"):
        if line.strip():
            rows += 1
            if "-" in line and _DIVIDING.issuperset(line):
                columns = max(columns, line.count("|") + 1)
        else:
            total, rows, columns = total + rows * columns, 0, 0
    return total + rows * columns
