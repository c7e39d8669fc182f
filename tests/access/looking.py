"""What an answer says, and what the store holds: for comparing two of either."""

from __future__ import annotations

import re
from typing import Any

from django.apps import apps
from django.http import HttpResponse

# Masked anew for every answer.
_CSRF = re.compile(r"\b[A-Za-z0-9]{64}\b")
# An age beside the moment that it is of: it grows while a test looks around.
_AGE = re.compile(r"(<time [^>]*>)[^<]*(?=</time>)")
# Sessions and what a read writes about itself: everything else is the store.
_NOT_THE_STORE = {"sessions.session", "hygiene.report", "hygiene.score"}
_BOOKKEEPING = {"projects.user": {"last_login"}, "projects.accesstoken": {"last_used_at"}}


def plain(response: HttpResponse, *hidden: object) -> str:
    """The body, without CSRF tokens, ages and what the asker said himself (`hidden`)."""
    text = _AGE.sub(r"\1", _CSRF.sub("", response.content.decode()))
    for one in hidden:
        text = text.replace(str(one), "…")
    return text


def store() -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of ours and of Django's, as it stands: equal before and after a refusal."""
    held: dict[str, list[tuple[Any, ...]]] = {}
    for model in apps.get_models(include_auto_created=True):
        label = model._meta.label_lower
        if label in _NOT_THE_STORE or not model._meta.managed:
            continue
        left_out = _BOOKKEEPING.get(label, set())
        names = [field.attname for field in model._meta.concrete_fields if field.name not in left_out]
        held[label] = list(model._base_manager.order_by("pk").values_list(*names))
    return held


def written(before: dict[str, list[tuple[Any, ...]]]) -> list[str]:
    """The tables that differ from before."""
    return [label for label, rows in store().items() if rows != before[label]]
