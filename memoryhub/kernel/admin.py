"""What the admin pages of every app share: they write through services, and a refusal is a form error.

Nothing writes by inheritance. `save_model` hands a checked form to `add_with_service` or
`change_with_service`; whatever else Django would write raises. When a service refuses, the page is made
a second time with the same post, and the refusal stands on the fields it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import ShowFacets
from django.db import models
from django.http import HttpRequest, HttpResponse

from memoryhub.kernel.errors import DomainError


class ServiceForm(forms.ModelForm):
    """A form that reads and never saves: a service checks and writes what it read."""

    # The refusal of the service that was called with this post; the page's second making shows it.
    refusal: ClassVar[DomainError | None] = None
    # Where a service's field stands in the form, when it has another name there.
    places: ClassVar[dict[str, str]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field, forms.CharField) and not isinstance(field, forms.EmailField):
                field.strip = False  # allowed text is stored exactly

    def check_shape(self) -> None:
        """The service's own checks of what could be read; writes nothing. Raises DomainError.

        Called even when a field couldn't be read, so that one page names every bad field.
        """

    def _post_clean(self) -> None:
        """In place of Django's, which would set the object's fields and check the model alone."""
        # What the form itself couldn't read: the service's word on that would be about nothing.
        self._failed = set(self.errors)
        if self.refusal is not None:
            self.show_refusal(self.refusal)
            return
        try:
            self.check_shape()
        except DomainError as refusal:
            self.show_refusal(refusal)

    def show_refusal(self, refusal: DomainError) -> None:
        """Put a refusal on the fields it names, else above them all."""
        named = refusal.details.get("fields") or {}
        for name, sentence in named.items():
            self._put(name, sentence)
        if not named:
            self.add_error(None, refusal.message)

    def _put(self, name: str, sentence: str) -> None:
        """On the field; what belongs to a part of it (`details.reason`) says so."""
        field, _, part = name.partition(".")
        field = self.places.get(field, field)
        if field not in self.fields or self.fields[field].widget.is_hidden:
            self.add_error(None, f"{name}: {sentence}")
        elif field not in self._failed:
            self.add_error(field, f"{part}: {sentence}" if part else sentence)

    def save(self, commit: bool = True) -> Any:
        raise NotImplementedError("Forms never save. The admin's save_model calls a service.")


class ServiceAdmin(admin.ModelAdmin):
    """Lists and edits through services. A subclass says with which; without it, it only shows."""

    form = ServiceForm
    show_facets = ShowFacets.NEVER
    show_full_result_count = False
    list_per_page = 50
    view_on_site = False

    # --- writing ---------------------------------------------------------------------

    def add_with_service(self, request: HttpRequest, form: Any) -> models.Model | None:
        """Store what the form says; the stored object, or None where it waits for somebody's decision, which
        the subclass says. Raises DomainError.
        """
        raise NotImplementedError(f"{type(self).__name__} adds nothing.")

    def change_with_service(self, request: HttpRequest, obj: Any, form: Any) -> models.Model | None:
        """Change an object as the form says; the changed object, or None as above. Raises DomainError."""
        raise NotImplementedError(f"{type(self).__name__} changes nothing.")

    def remove_with_service(self, request: HttpRequest, obj: Any) -> None:
        """Remove an object. Raises DomainError."""
        raise NotImplementedError(f"{type(self).__name__} removes nothing.")

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        return form.instance

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            stored = self.change_with_service(request, obj, form)
        else:
            stored = self.add_with_service(request, form)
        if stored is None:
            request.waits = True  # type: ignore[attr-defined]
            return
        # Django goes on with `obj`: let it be what is stored now.
        obj.pk = stored.pk
        obj.refresh_from_db()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nothing: the service wrote everything."""

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        raise NotImplementedError("Inline rows are shown, never saved.")

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.remove_with_service(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for obj in queryset:
            self.remove_with_service(request, obj)

    # --- what waits ------------------------------------------------------------------

    def logged_as(self, obj: Any) -> Any:
        """What Django's log keeps the name of; the log outlives the object."""
        return obj

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None if _waits(request) else super().log_addition(request, self.logged_as(obj), message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None if _waits(request) else super().log_change(request, self.logged_as(obj), message)

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        if _waits(request):
            return self.response_post_save_add(request, obj)
        return super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if _waits(request):
            return self.response_post_save_change(request, obj)
        return super().response_change(request, obj)

    # --- refusals --------------------------------------------------------------------

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except DomainError as refusal:
            # The first making is rolled back as a whole; the second one's form is invalid.
            request.refusal = refusal  # type: ignore[attr-defined]
            return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        refusal = getattr(request, "refusal", None)
        return type(form.__name__, (form,), {"refusal": refusal}) if refusal else form

    def for_each(
        self, request: HttpRequest, rows: Iterable[Any], verb: Callable[[Any], Any], done: str
    ) -> None:
        """A bulk action: call a service for each row and report each refusal. `done`: `archived`.

        A verb that answers False did nothing yet, and said so itself.
        """
        many = 0
        for row in rows:
            try:
                if verb(row) is False:
                    continue
            except DomainError as refusal:
                self.message_user(request, f"{row}: {refusal.message}", messages.ERROR)
                continue
            many += 1
            self.log_change(request, row, f"{done.capitalize()}.")
        if many:
            self.message_user(request, f"{many} {done}.", messages.SUCCESS)

    # --- reading ---------------------------------------------------------------------

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """The declared filters alone. Any other lookup is a question about rows that aren't shown:
        `children__isnull` would tell which shared bags hold somebody's private memories.
        """
        return lookup in {getattr(declared, "parameter_name", None) for declared in self.list_filter}

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)  # it reports success whatever the service says
        return actions

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _waits(request: HttpRequest) -> bool:
    """Whether what this request asked for waits for somebody's decision: nothing was written."""
    return getattr(request, "waits", False)


class ReadOnlyAdmin(ServiceAdmin):
    """Shows and never writes: what is shown is written by the services of something else."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ExactFilter(admin.SimpleListFilter):
    """A filter by one of its own choices; any other value finds nothing, and reaches no database."""

    def narrowed(self, queryset: Any, value: str) -> Any:
        """The rows of `queryset` that fit a value among the choices."""
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        value = self.value()
        if value is None:
            return queryset
        if value not in {str(choice) for choice, _ in self.lookup_choices}:
            return queryset.none()
        return self.narrowed(queryset, value)


def choice_filter(field: str, choices: type[models.TextChoices]) -> type[ExactFilter]:
    """A filter by a field with a closed list of values."""

    class ByChoice(ExactFilter):
        title = field.replace("_", " ")
        parameter_name = field

        def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
            return choices.choices

        def narrowed(self, queryset: Any, value: str) -> Any:
            return queryset.filter(**{field: value})

    return ByChoice


def yes_no_filter(name: str, parameter: str, condition: models.Q) -> type[ExactFilter]:
    """A filter by whether a condition holds."""

    class ByCondition(ExactFilter):
        title = name
        parameter_name = parameter

        def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
            return (("yes", "yes"), ("no", "no"))

        def narrowed(self, queryset: Any, value: str) -> Any:
            return queryset.filter(condition if value == "yes" else ~condition)

    return ByCondition
