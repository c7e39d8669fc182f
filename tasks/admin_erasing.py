"""The admin's way to erase work in flight: a page that asks, and with the answer takes the text away."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.admin import ServiceAdmin
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.requests import web_actor
from projects.models import Role
from projects.services import role_of


class Erasable(ServiceAdmin):
    """An admin of something that superusers, and owners who may change it here, can erase."""

    # What the page says goes, and what stays.
    erase_says = ""

    def erase_with_service(self, actor: Actor, obj: Any) -> None:
        """Raises DomainError."""
        raise NotImplementedError(f"{type(self).__name__} erases nothing.")

    def erased_name(self, obj: Any) -> str:
        """What it is called, without anything that it says."""
        return f"#{obj.number} in {obj.project.slug}"

    def erased_title(self, obj: Any) -> str:
        """By what whoever is asked knows it."""
        return str(obj.title)

    @admin.display(description="erase")
    def erase_link(self, obj: Any) -> str:
        return format_html('<a href="{}">Erase…</a>', reverse(self._url_name("erase"), args=(obj.pk,)))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.erase_view)
        name = self._url_name("erase").partition(":")[2]
        return [path("<path:object_id>/erase/", view, name=name), *super().get_urls()]

    def erase_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Asks, and with the answer erases."""
        obj: Any = self.get_object(request, unquote(object_id))
        if obj is None:
            if not self.has_view_or_change_permission(request):
                raise PermissionDenied
            raise Http404("There is nothing of this kind that the admin shows.")
        if not self.has_erase_permission(request, obj):
            raise PermissionDenied
        if request.method == "POST":
            return self._erase(request, obj)
        name = self.erased_name(obj)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "object": obj,
            "name": name,
            "title_of": self.erased_title(obj),
            "says": self.erase_says,
            "title": f"Erase {name}?",
        }
        return TemplateResponse(request, "admin/tasks/erase.html", context)

    def has_erase_permission(self, request: HttpRequest, obj: Any) -> bool:
        user: Any = request.user
        if not self.has_change_permission(request, obj):
            return False
        return user.is_superuser or role_of(user, obj.project) is Role.OWNER

    def _erase(self, request: HttpRequest, obj: Any) -> HttpResponse:
        name = self.erased_name(obj)
        try:
            self.erase_with_service(web_actor(request, Door.ADMIN), obj)
        except DomainError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return HttpResponseRedirect(reverse(self._url_name("change"), args=(obj.pk,)))
        self.log_change(request, obj, "Erased.")
        self.message_user(request, f"{name} is erased.", messages.SUCCESS)
        return HttpResponseRedirect(reverse(self._url_name("changelist")))

    def _url_name(self, page: str) -> str:
        return f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}"
