"""The web's door: signing in and out, Home, and the look of pages."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from memoryhub.kernel.requests import AuthedRequest
from projects.attempts import count_attempt
from projects.context import DENSITY_COOKIE, SHORTCUTS_COOKIE, THEME_COOKIE
from projects.forms import DensityForm, ShortcutsForm, SignInForm, ThemeForm
from projects.home import home_page

_A_YEAR = 365 * 24 * 3600


def _goal(request: HttpRequest) -> str:
    """Where to go afterwards: `next`, where it is a page of this hub."""
    goal = request.POST.get("next") or request.GET.get("next") or ""
    here = {request.get_host()}
    if url_has_allowed_host_and_scheme(goal, allowed_hosts=here, require_https=request.is_secure()):
        return goal
    return resolve_url("projects:home")


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """A name and a password for a session."""
    if getattr(request, "htmx", False):
        # A fragment was asked for after the session ended: the whole page has to come here.
        return HttpResponseClientRefresh()
    if request.user.is_authenticated:
        return redirect(_goal(request))
    if request.method != "POST":
        return render(request, "projects/sign_in.html", {"form": SignInForm(request), "next": _goal(request)})
    count_attempt(request)
    form = SignInForm(request, data=request.POST)
    if form.is_valid():
        login(request, form.get_user())
        return redirect(_goal(request))
    return render(request, "projects/sign_in.html", {"form": form, "next": _goal(request)}, status=422)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """The end of a session."""
    logout(request)
    messages.success(request, "You are signed out.")
    return redirect("projects:sign_in")


@login_required
@require_safe
def home(request: AuthedRequest) -> HttpResponse:
    """The projects I'm in."""
    page = home_page(request.user, request.GET.get("cursor", ""))
    return render(request, "projects/home.html", {"page": page, "here": "home"})


def _kept_look(request: HttpRequest, form: forms.Form, name: str, cookie: str) -> HttpResponse:
    """How pages look, in a cookie: it holds before anybody signs in, and a made-up value changes nothing."""
    response = redirect(_goal(request))
    if form.is_valid():
        response.set_cookie(
            cookie,
            form.cleaned_data[name],
            max_age=_A_YEAR,
            samesite="Lax",
            httponly=True,
            secure=request.is_secure(),
        )
    return response


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Light, dark, or what the system says."""
    return _kept_look(request, ThemeForm(request.POST), "theme", THEME_COOKIE)


@require_POST
def density(request: HttpRequest) -> HttpResponse:
    """How close together rows stand."""
    return _kept_look(request, DensityForm(request.POST), "density", DENSITY_COOKIE)


@require_POST
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Whether single letters do something (WCAG 2.1.4, Character Key Shortcuts)."""
    return _kept_look(request, ShortcutsForm(request.POST), "shortcuts", SHORTCUTS_COOKIE)
