"""Tasks and receipts as a search finds them: the members of a project find them all, nobody else any."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.utils import timezone

from memories.search import RECEIPT, TASK, Searched, index_row, tokens_of
from memories.search.filters import SearchFilter
from memoryhub.kernel.compiled import Asked, Compiled, padded
from projects.models import Project, User
from projects.querysets import called
from tasks.models import Receipt, Task
from tasks.models.task import FINISHED
from tasks.querysets import ReceiptQuerySet, TaskQuerySet


class _OfMembers(Searched):
    """What the two have in common: whose they are, and that every row is found until it is erased."""

    # When a row moved last: what `since` and `before` read.
    moved: ClassVar[str]

    def __init__(self) -> None:
        self._usual = Compiled(
            lambda project, reader: self._admitted(Project(pk=project), User(pk=reader), SearchFilter())
        )
        self._rows = Compiled(
            lambda reader, **ids: self._seen_rows(User(pk=reader)).filter(pk__in=list(ids.values()))
        )

    @abstractmethod
    def all(self) -> Any:
        """All rows as a queryset of this app."""

    @abstractmethod
    def texts(self, row: Any) -> Sequence[str]:
        """All that a row says."""

    @abstractmethod
    def superseded(self) -> Any:
        """1 for rows that come after others of the same score."""

    # --- asking ----------------------------------------------------------------------

    def scopes(self, project_id: int, reader_id: int, *, member: bool) -> list[str]:
        return [self._scope(project_id)] if member else []

    def fits(self, wanted: SearchFilter) -> bool:
        return not wanted.is_of_memories

    def admitted_sql(
        self, project: Project, reader: User, wanted: SearchFilter
    ) -> tuple[str, Sequence[object]]:
        if wanted.narrows_nothing:
            return self._usual.sql(project=project.pk, reader=reader.pk)
        return self._admitted(project, reader, wanted).query.sql_with_params()

    def anywhere(self, reader: User) -> QuerySet[Any, Any]:
        return self._superseded_last(self.all().visible_to(reader))

    def ask_rows(self, reader: User, ids: Sequence[int]) -> Asked[Any]:
        return self._rows.ask(reader=reader.pk, **padded(ids))

    def ranked(self, reader: User, ids: Sequence[int], *, whole: bool = False) -> list[Any]:
        if whole:
            return list(self._seen_rows(reader).defer(None).filter(pk__in=ids))
        return self.ask_rows(reader, ids).rows() if ids else []

    def left(self, project: Project, reader: User, wanted: SearchFilter, numbers: Sequence[int]) -> list[Any]:
        return list(self._seen(project, reader, wanted).for_rows().with_numbers(numbers))

    def _seen_rows(self, reader: User) -> Any:
        return self.all().visible_to(reader).for_rows()

    def _seen(self, project: Project, reader: User, wanted: SearchFilter) -> Any:
        found = self.all().in_project(project).visible_to(reader)
        if wanted.tags:
            found = found.tagged(wanted.tag_names, all_of_them=not wanted.any_tag)
        said = {
            f"{self.moved}__gte": wanted.since,
            f"{self.moved}__lt": wanted.before,
        }
        if wanted.author is not None:
            found = found.filter(called(wanted.author, "author__"))
        return found.filter(**{name: value for name, value in said.items() if value is not None})

    def _admitted(self, project: Project, reader: User, wanted: SearchFilter) -> QuerySet[Any, Any]:
        return self._superseded_last(self._seen(project, reader, wanted))

    def _superseded_last(self, rows: Any) -> QuerySet[Any, Any]:
        last = rows.order_by().annotate(superseded=self.superseded())
        return last.values_list("id", "number", "superseded")

    # --- keeping ---------------------------------------------------------------------

    def rows(self, project: Project | None) -> Any:
        return self.all().in_project(project) if project else self.all()

    def indexed(self, project: Project | None) -> Any:
        return self.rows(project).standing()

    def words(self, row: Any) -> tuple[str, list[str]]:
        return self._scope(row.project_id), [] if row.is_erased else tokens_of(self.texts(row))

    def index(self, row: Any) -> None:
        index_row(self, row)

    def _scope(self, project_id: int) -> str:
        return f"{project_id}{self.name[0]}"


class _Tasks(_OfMembers):
    """Tasks: what is finished comes after what isn't, where both say the same."""

    name, plural, model, moved = TASK, "tasks", Task, "updated_at"

    def all(self) -> TaskQuerySet:
        return Task.objects.all()

    def rows(self, project: Project | None) -> Any:
        return super().rows(project).prefetch_related("tags")

    def superseded(self) -> Any:
        return Case(When(status__in=FINISHED, then=Value(1)), default=Value(0), output_field=IntegerField())

    def texts(self, row: Task) -> Sequence[str]:
        return (row.title, row.summary, row.description, *row.tag_names)

    def row(self, item: Task) -> dict[str, Any]:
        # What presents tasks presents also what services did to them, and those keep the index.
        from tasks.presenting import task_row

        return task_row(item, timezone.now())

    def wholes(self, items: Sequence[Task], reader: User) -> list[dict[str, Any]]:
        from tasks.presenting import task_wholes

        seen = Task.objects.visible_to(reader).for_rows().defer(None)
        found = seen.in_bulk([item.pk for item in items])
        return task_wholes([found[item.pk] for item in items if item.pk in found], reader, timezone.now())


class _Receipts(_OfMembers):
    """Receipts, also by the branch and the commit that they name."""

    name, plural, model, moved = RECEIPT, "receipts", Receipt, "created_at"

    def all(self) -> ReceiptQuerySet:
        return Receipt.objects.all()

    def superseded(self) -> Any:
        return Value(0, output_field=IntegerField())

    def texts(self, row: Receipt) -> Sequence[str]:
        # A title that was cut from the summary says nothing of its own.
        title = () if row.summary.startswith(row.title.removesuffix("…")) else (row.title,)
        named = (row.references.get(name, "") for name in ("branch", "commit"))
        said = (getattr(row, name) for name in Receipt.TEXTS)
        return (*title, row.summary, *said, *named, *row.tags)

    def row(self, item: Receipt) -> dict[str, Any]:
        from tasks.presenting import receipt_row

        return receipt_row(item)

    def wholes(self, items: Sequence[Receipt], reader: User) -> list[dict[str, Any]]:
        from tasks.presenting import receipt_wholes

        seen = Receipt.objects.visible_to(reader).for_rows().defer(None).select_related("project")
        found = seen.in_bulk([item.pk for item in items])
        return receipt_wholes([found[item.pk] for item in items if item.pk in found], reader)


TASKS, RECEIPTS = _Tasks(), _Receipts()
