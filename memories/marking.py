"""The words of a question, marked in what it found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from memories.search import QueryTerm, marks, query_terms
from memoryhub.kernel.text import visible_marks


class Marker:
    """Marks the words that a question asked for; an empty one marks nothing. `terms` are what a search took
    it for, where that is known.
    """

    def __init__(self, query: str, terms: Sequence[QueryTerm] = ()) -> None:
        self.terms = list(terms) or (query_terms(query) if query else [])

    def has(self, text: str) -> bool:
        """Whether anything in the text would be marked."""
        return bool(self.terms and marks(text, self.terms))

    def around_first(self, text: str, room: int) -> str:
        """The first word that would be marked with so many characters on both sides of it, in one line;
        empty where there is none.
        """
        found = marks(text, self.terms) if self.terms else []
        if not found:
            return ""
        start, end = found[0]
        before, after = text[:start], text[end:]
        if len(before) > room:
            before = "…" + before[-room:].partition(" ")[2]
        if len(after) > room:
            after = after[:room].rpartition(" ")[0] + "…"
        return " ".join(f"{before}{text[start:end]}{after}".split())

    def mark(self, text: str) -> SafeString:
        """The text as HTML, escaped, with `<mark>` around what was asked for."""
        return mark_safe("".join(self._pieces(text)))

    def _pieces(self, text: str) -> Iterator[str]:
        at = 0
        for start, end in marks(text, self.terms) if self.terms else ():
            yield escape(visible_marks(text[at:start]))
            yield f"<mark>{escape(visible_marks(text[start:end]))}</mark>"
            at = end
        yield escape(visible_marks(text[at:]))
