"""Memories as a search finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Case, IntegerField, QuerySet, Value, When

from memories.models import Memory, Status
from memories.parts import with_finding
from memories.querysets import MemoryQuerySet
from memories.search.engine import scope_of, scopes_for
from memories.search.filters import SearchFilter
from memories.search.indexing import document_tokens, index, texts_of
from memories.search.types import MEMORY, Searched, register_searched
from memoryhub.kernel.compiled import Asked, Compiled, padded
from projects.models import Project, User


class Memories(Searched):
    """Active and superseded ones, of the visibilities that a reader sees."""

    name, plural, model = MEMORY, "memories", Memory

    def scopes(self, project_id: int, reader_id: int, *, member: bool) -> list[str]:
        return scopes_for(project_id, reader_id, member=member)

    def fits(self, wanted: SearchFilter) -> bool:
        return True

    def admitted_sql(
        self, project: Project, reader: User, wanted: SearchFilter
    ) -> tuple[str, Sequence[object]]:
        """Most searches narrow nothing, and ask the same."""
        if wanted.narrows_nothing:
            return _USUAL[wanted.include_superseded].sql(project=project.pk, reader=reader.pk)
        return _admitted(project, reader, wanted).query.sql_with_params()

    def anywhere(self, reader: User) -> QuerySet[Memory, Any]:
        return _superseded_last(SearchFilter().within(Memory.objects.visible_to(reader)))

    def ask_rows(self, reader: User, ids: Sequence[int]) -> Asked[Memory]:
        return _rows.ask(reader=reader.pk, **padded(ids))

    def ranked(self, reader: User, ids: Sequence[int], *, whole: bool = False) -> list[Memory]:
        if whole:
            return list(Memory.objects.visible_to(reader).for_rows(reader).defer(None).filter(pk__in=ids))
        return memory_rows(reader, ids)

    def left(
        self, project: Project, reader: User, wanted: SearchFilter, numbers: Sequence[int]
    ) -> list[Memory]:
        return list(_seen(project, reader, wanted).for_rows(reader).with_numbers(numbers))

    def row(self, item: Memory) -> dict[str, Any]:
        # What presents memories presents also what services did to them, and those keep this index.
        from memories.presenting import row

        return row(item)

    def wholes(self, items: Sequence[Memory], reader: User) -> list[dict[str, Any]]:
        from memories.presenting import wholes

        seen = Memory.objects.visible_to(reader).for_rows(reader).defer(None)
        found = seen.in_bulk([item.pk for item in items])
        return wholes([found[item.pk] for item in items if item.pk in found], reader)

    def rows(self, project: Project | None) -> MemoryQuerySet:
        found = Memory.objects.prefetch_related("tags")
        return found.in_project(project) if project else found

    def indexed(self, project: Project | None) -> MemoryQuerySet:
        return self.rows(project).exclude(status=Status.ARCHIVED).filter(erased_at=None)

    def texts(self, row: Memory) -> Sequence[str]:
        return texts_of(row, row.tag_names)

    def words(self, row: Memory) -> tuple[str, list[str]]:
        scope = scope_of(row.project_id, row.visibility, row.author_id)
        return scope, document_tokens(row, row.tag_names)

    def index(self, row: Memory) -> None:
        index(row, tags=row.tag_names)


def _seen(project: Project, reader: User, wanted: SearchFilter) -> MemoryQuerySet:
    """What a search goes over: what the reader may see and the filter lets pass."""
    found = wanted.within(Memory.objects.in_project(project).visible_to(reader))
    found = wanted.listed.within(found, reader) if wanted.listed else found
    return with_finding(found, project, reader, wanted.finding)


def _admitted(project: Project, reader: User, wanted: SearchFilter) -> QuerySet[Memory, Any]:
    return _superseded_last(_seen(project, reader, wanted))


def _superseded_last(memories: MemoryQuerySet) -> QuerySet[Memory, Any]:
    superseded = Case(
        When(status=Status.SUPERSEDED, then=Value(1)), default=Value(0), output_field=IntegerField()
    )
    return memories.order_by().annotate(superseded=superseded).values_list("id", "number", "superseded")


def _usual(include_superseded: bool) -> Compiled[Any]:
    wanted = SearchFilter(include_superseded=include_superseded)
    return Compiled(lambda project, reader: _admitted(Project(pk=project), User(pk=reader), wanted))


_USUAL = {each: _usual(each) for each in (True, False)}


def memory_rows(reader: User, ids: Sequence[int]) -> list[Memory]:
    """Some memories as rows of a list, those that the reader may see, in any order."""
    return _rows.rows(reader=reader.pk, **padded(ids)) if ids else []


def _page(reader: int, **ids: int) -> MemoryQuerySet:
    user = User(pk=reader)
    return Memory.objects.visible_to(user).for_rows(user).filter(pk__in=list(ids.values()))


_rows = Compiled(_page)

register_searched(Memories())
