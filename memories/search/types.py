"""What a search looks through: memories, and the work in flight that the app above this one registers.

A type says which of its rows a reader finds and by what words; the index and the ranking are one for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django.db.models import Model, QuerySet

if TYPE_CHECKING:
    from memories.search.filters import SearchFilter
    from memoryhub.kernel.compiled import Asked
    from projects.models import Project, User

MEMORY, TASK, RECEIPT = "memory", "task", "receipt"
# What the argument `types` takes and rows are marked with; a type's place here is that of its entries.
SEARCHED_TYPES = (MEMORY, TASK, RECEIPT)
# One index holds the entries of all types. An entry's id is its row's, plus this for each place.
SPAN = 2**40


class Searched(ABC):
    """One type of what is found. Everything it gives a reader is what that reader may see."""

    name: ClassVar[str]
    plural: ClassVar[str]
    model: ClassVar[type[Model]]

    @property
    def first(self) -> int:
        """Where the ids of its entries begin."""
        return SPAN * SEARCHED_TYPES.index(self.name)

    # --- asking ----------------------------------------------------------------------

    @abstractmethod
    def scopes(self, project_id: int, reader_id: int, *, member: bool) -> list[str]:
        """Where the words stand that a reader's question reads."""

    @abstractmethod
    def fits(self, wanted: SearchFilter) -> bool:
        """Whether the filter can let anything of this type pass."""

    @abstractmethod
    def admitted_sql(
        self, project: Project, reader: User, wanted: SearchFilter
    ) -> tuple[str, Sequence[object]]:
        """Which rows may be hits, as a statement of (id, number, superseded: 1 comes after 0)."""

    @abstractmethod
    def anywhere(self, reader: User) -> QuerySet[Any, Any]:
        """The same over all projects: every row that the reader finds, as (id, number, superseded)."""

    @abstractmethod
    def ask_rows(self, reader: User, ids: Sequence[int]) -> Asked[Any]:
        """Asks for the rows of a page that was just ranked: of one or more, those that the reader may see, in
        any order, with all that `row` shows.
        """

    @abstractmethod
    def ranked(self, reader: User, ids: Sequence[int], *, whole: bool = False) -> list[Any]:
        """The same rows at once; `whole` ones also have all that `texts` reads."""

    @abstractmethod
    def left(self, project: Project, reader: User, wanted: SearchFilter, numbers: Sequence[int]) -> list[Any]:
        """Of a page that was ranked before, the rows that the reader would still find."""

    # --- answering -------------------------------------------------------------------

    @abstractmethod
    def row(self, item: Any) -> dict[str, Any]:
        """A row of a list."""

    @abstractmethod
    def wholes(self, items: Sequence[Any], reader: User) -> list[dict[str, Any]]:
        """Items in full, in their order, in a fixed number of queries; without those he may not see."""

    # --- keeping ---------------------------------------------------------------------

    @abstractmethod
    def rows(self, project: Project | None) -> QuerySet[Any]:
        """All rows, of a project or of all, with what their words are made of."""

    @abstractmethod
    def indexed(self, project: Project | None) -> QuerySet[Any]:
        """Those of them that belong into the index."""

    @abstractmethod
    def texts(self, row: Any) -> Sequence[str]:
        """All that a row says. Needs what `rows` loads, or a `whole` one."""

    @abstractmethod
    def words(self, row: Any) -> tuple[str, list[str]]:
        """A row's scope and its tokens."""

    @abstractmethod
    def index(self, row: Any) -> None:
        """Index a row as it is now; one that doesn't belong into the index leaves it."""


_types: dict[str, Searched] = {}


def register_searched(searched: Searched) -> None:
    """Let a type of `SEARCHED_TYPES` be found; its app calls this at start-up."""
    _types[searched.name] = searched


def searched_types() -> list[Searched]:
    """Those that are registered, in their order."""
    return [_types[name] for name in SEARCHED_TYPES if name in _types]


def type_of(item: Model) -> Searched:
    """The type of something that was found."""
    return next(each for each in _types.values() if isinstance(item, each.model))


def type_of_entry(entry_id: int) -> str:
    """The name of the type that an entry of the index is of."""
    place = entry_id // SPAN
    return SEARCHED_TYPES[place] if place < len(SEARCHED_TYPES) else "unknown"
