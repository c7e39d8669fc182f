"""The web's door to accounts, projects and tokens."""

from __future__ import annotations

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

from memoryhub.kernel.errors import DomainError, NotFound
from memoryhub.kernel.requests import AuthedRequest
from projects.attempts import count_attempt
from projects.connecting import Made, address_of, clients_for
from projects.context import THEME_COOKIE
from projects.forms import SignInForm, ThemeForm, TimeZoneForm, TokenForm, put_on
from projects.home import home_rows
from projects.loading import project_of
from projects.models import AccessToken, Project, Role
from projects.services import change_account, create_token, revoke_token

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
    return redirect("projects:sign_in")


@login_required
@require_safe
def home(request: AuthedRequest) -> HttpResponse:
    """The projects I'm in."""
    return render(request, "projects/home.html", {"rows": home_rows(request.user), "here": "home"})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: AuthedRequest) -> HttpResponse:
    """My account: the time zone; the look is set by `theme`."""
    form = TimeZoneForm(request.POST or None, initial={"time_zone": request.user.time_zone})
    if form.is_valid():
        change_account(user=request.user, fields=form.cleaned_data)
        messages.success(request, f"Times are shown in {form.cleaned_data['time_zone']} now.")
        return redirect("projects:profile")
    status = 422 if form.is_bound else 200
    return render(request, "projects/profile.html", {"form": form, "here": "profile"}, status=status)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Light, dark, or what the system says: a cookie, so that it holds before anybody signs in."""
    form = ThemeForm(request.POST)
    response = redirect(_goal(request))
    if form.is_valid():
        response.set_cookie(
            THEME_COOKIE,
            form.cleaned_data["theme"],
            max_age=_A_YEAR,
            samesite="Lax",
            httponly=True,
            secure=request.is_secure(),
        )
    return response


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def connect(request: AuthedRequest, slug: str) -> HttpResponse:
    """Make a token, shown this once, and the lines that connect an agent with it."""
    project = project_of(request.user, slug)
    form, made = TokenForm(request.POST or None, role=_role(project)), None
    if form.is_valid():
        try:
            token, text = create_token(
                user=request.user,
                projects=[project],
                rights=form.cleaned_data["rights"],
                name=form.cleaned_data["name"],
                expires_at=form.expires_at,
            )
            form, made = TokenForm(role=_role(project)), Made(token, text)
        except DomainError as refusal:
            put_on(form, refusal)
    standing = list(AccessToken.objects.visible_to(request.user).reaching(project).standing())
    context = {
        "project": project,
        "here": "connect",
        "form": form,
        "made": made,
        "address": address_of(project),
        "clients": clients_for(project, made.text) if made else clients_for(project),
        "mine": [one for one in standing if one.user_id == request.user.pk],
        "others": [one for one in standing if one.user_id != request.user.pk],
    }
    return render(request, "projects/connect.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def token_revoke(request: AuthedRequest, slug: str, public_part: str) -> HttpResponse:
    """Stop a token of mine, or as an owner one of the project's."""
    project = project_of(request.user, slug)
    token = (
        AccessToken.objects.visible_to(request.user).reaching(project).with_public_part(public_part).first()
    )
    if token is None:
        raise NotFound("There is no such token here that you can revoke.")
    revoke_token(by=request.user, token=token)
    messages.success(request, f"Revoked {token.name}: it opens nothing any more.")
    return redirect("projects:connect", slug=project.slug)


def _role(project: Project) -> Role:
    return Role(project.role)  # type: ignore[attr-defined]
