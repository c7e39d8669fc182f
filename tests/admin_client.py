"""Using the admin as a person does: reading a form's fields from the page, changing some, posting all."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from projects.models import User
from tests.factories import UserFactory


def superuser(username: str = "root") -> User:
    return UserFactory(username=username, is_staff=True, is_superuser=True)


def staff(username: str, *permissions: str) -> User:
    """Staff that isn't superuser, with permissions such as `memories.change_memory`."""
    user = UserFactory(username=username, is_staff=True)
    grant(user, *permissions)
    return user


def grant(user: User, *permissions: str) -> None:
    for name in permissions:
        app, codename = name.split(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def url(model: type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def typed(form: Any) -> dict[str, Any]:
    """What a browser would post of an untouched form: line breaks as CRLF, as browsers send them."""
    sent: dict[str, Any] = {}
    for field in form:
        value = field.value()
        if field.field.show_hidden_initial:
            sent[field.html_initial_name] = str(value)
        if value is None or value is False:
            continue
        subwidgets = getattr(field.field.widget, "widgets", None)
        if subwidgets:
            parts = field.field.widget.decompress(value) or []
            sent |= {f"{field.html_name}_{n}": part for n, part in enumerate(parts) if part is not None}
        elif value is True:
            sent[field.html_name] = "on"
        elif isinstance(value, list | tuple):
            sent[field.html_name] = [getattr(one, "pk", one) for one in value]
        else:
            sent[field.html_name] = str(value).replace("\r\n", "\n").replace("\n", "\r\n")
    return sent


def fill(client: Client, address: str, **changed: Any) -> HttpResponse:
    """Open a form, change fields, post it. None leaves a field out."""
    form = client.get(address).context["adminform"].form
    sent = {**typed(form), **changed}
    return client.post(address, {name: value for name, value in sent.items() if value is not None})


def errors(response: HttpResponse) -> dict[str, list[str]]:
    """By field, what the page says; nothing when it was taken."""
    assert response.status_code in (200, 302), response.content
    if response.status_code == 302:
        return {}
    return {name: list(said) for name, said in response.context["adminform"].form.errors.items()}


def act(client: Client, model: type[Model], action: str, *rows: Any) -> HttpResponse:
    """Run a bulk action on rows."""
    chosen = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(url(model, "changelist"), chosen, follow=True)


def said(response: HttpResponse) -> list[str]:
    """The messages on a page."""
    return [str(message) for message in response.context["messages"]]


def confirm(client: Client, response: HttpResponse, **typed_in: Any) -> HttpResponse:
    """Answer the page that asks before a bulk action: post its form as it is, with what is typed in."""
    context = response.context
    sent: dict[str, Any] = {
        context["checkbox"]: [memory.pk for memory in context["memories"]],
        "action": context["change"].name,
        "asked": "1",
        **({"seen": context["seen"]} if context["preview"] else {}),
        **typed_in,
    }
    return client.post(response.request["PATH_INFO"], sent, follow=True)
