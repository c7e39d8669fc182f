"""What a higher app adds to the admin pages of a lower one: columns, filters, an order, actions, panels.

Imports run one way, so the lower app can't name the higher one: that one calls `extend` of the admin class
when its own admin is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.options import IS_POPUP_VAR
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

# An action of a list, with its name and what the menu says.
Action = tuple[Callable[[Any, HttpRequest, QuerySet[Any]], HttpResponse | None], str, str]


@dataclass(frozen=True)
class Panel:
    """A part of the page of one object: a template, which finds its values as `panel`."""

    template: str
    values: dict[str, Any]


class Extension:
    """Subclassed by the app that adds; every method has a default that adds nothing."""

    filters: Sequence[Any] = ()
    # Orders the list before its own order.
    first: Sequence[str] = ()

    def columns(self, request: HttpRequest) -> Sequence[Any]:
        """Columns beside the name, before the list's others; functions of a row."""
        return ()

    def rows(self, request: HttpRequest, rows: Any) -> Any:
        """The rows with what columns and order read. Must neither add nor take away one."""
        return rows

    def shown(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        """Called with the rows of one page, to note on them what is read for all of them at once."""

    def actions(self, request: HttpRequest) -> Sequence[Action]:
        """For whoever may change these objects."""
        return ()

    def panels(self, request: HttpRequest, obj: Any) -> Sequence[Panel]:
        """Parts of the page of an object that is there, below its form."""
        return ()


class _FirstThings(ChangeList):
    """A list whose own order comes after that of the extensions, unless somebody chose a column."""

    def get_ordering(self, request: HttpRequest, queryset: Any) -> list[Any]:
        own = list(super().get_ordering(request, queryset))
        if ORDER_VAR in self.params:
            return own
        admin_of_it: Any = self.model_admin
        return [*(name for one in admin_of_it.extensions for name in one.first), *own]


class Extendable(admin.ModelAdmin):
    """An admin that others may extend. Stands before `ServiceAdmin` among the bases."""

    extensions: ClassVar[list[Extension]]
    change_form_template = "admin/change_form_with_panels.html"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.extensions = []

    @classmethod
    def extend(cls, extension: Extension) -> None:
        """Add what another app has to say about these objects."""
        cls.extensions.append(extension)

    def extended(self, request: HttpRequest, rows: Any) -> Any:
        """The rows with what the extensions read of them: for `get_queryset`."""
        for extension in self.extensions:
            rows = extension.rows(request, rows)
        return rows

    def _filters(self) -> list[Any]:
        return [declared for extension in self.extensions for declared in extension.filters]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return _FirstThings

    def get_list_display(self, request: HttpRequest) -> Any:
        own = tuple(super().get_list_display(request))
        more = [column for extension in self.extensions for column in extension.columns(request)]
        links = self.get_list_display_links(request, own) or ()
        # Beside the name: a wide list shows its first columns alone.
        place = max((own.index(name) + 1 for name in links), default=len(own))
        return (*own[:place], *more, *own[place:])

    def get_list_filter(self, request: HttpRequest) -> Any:
        return (*super().get_list_filter(request), *self._filters())

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        added = {declared.parameter_name for declared in self._filters()}
        return lookup in added or super().lookup_allowed(lookup, value, request)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        page = super().get_changelist_instance(request)
        rows = list(page.result_list)
        for extension in self.extensions:
            extension.shown(request, rows)
        page.result_list = rows
        return page

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        if IS_POPUP_VAR in request.GET or not self.has_change_permission(request):
            return actions
        more: Any = {verb[1]: verb for extension in self.extensions for verb in extension.actions(request)}
        return actions | more

    def render_change_form(
        self,
        request: HttpRequest,
        context: Any,
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        panels = [panel for one in self.extensions for panel in one.panels(request, obj)] if obj else []
        context["panels"] = panels
        return super().render_change_form(request, context, add, change, form_url, obj)
