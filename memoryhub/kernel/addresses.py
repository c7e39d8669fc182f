"""Addresses that take what a form sends and are no page to open, and the page above them that sends it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)
View = Callable[Concatenate[R, P], HttpResponse]


def page_above(path: str) -> str:
    """The nearest address above this one that there is, quoted; the start page where there is none."""
    while path := path.rstrip("/").rpartition("/")[0]:
        try:
            resolve(f"{path}/")
        except Resolver404:
            continue
        return escape_uri_path(f"{path}/")
    return "/"


def sent_from_above(view: View[R, P]) -> View[R, P]:
    """For views that take POST alone and answer a refusal with a page: then this stands in the address bar.

    Whoever opens it is sent to the page above it, with the same query string. Any other method is refused.
    """

    @wraps(view)
    def sent(request: R, /, *args: P.args, **given: P.kwargs) -> HttpResponse:
        if request.method == "POST":
            return view(request, *args, **given)
        if request.method in ("GET", "HEAD"):
            query = request.META.get("QUERY_STRING", "")
            return redirect(page_above(request.path) + (f"?{query}" if query else ""))
        return HttpResponseNotAllowed(["GET", "HEAD", "POST"])

    return sent
