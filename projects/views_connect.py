"""The web's door for connecting an agent: a token, the lines of each client, the first call arriving."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memoryhub.kernel.errors import DomainError, NotFound
from memoryhub.kernel.requests import AuthedRequest
from projects.connecting import PLACEHOLDER, Made, address_of, clients_at
from projects.forms import TokenForm, put_on
from projects.hosts import environment, fetching, file_of, openclaw_steps, settings_of
from projects.loading import project_of
from projects.models import AccessToken, Project, Role, User
from projects.services import create_token, revoke_token
from projects.tokens import tokens_page

# Of each list on the page; the project's tokens have a page of their own.
SHOWN = 20


@never_cache
@sensitive_post_parameters()
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def connect(request: AuthedRequest, slug: str) -> HttpResponse:
    """Make a token, shown this once, and the lines that connect an agent with it."""
    project = project_of(request.user, slug)
    form, made = TokenForm(request.POST or None, role=_role(project)), None
    if form.is_valid():
        try:
            made = Made(
                *create_token(
                    user=request.user,
                    projects=[project],
                    rights=form.cleaned_data["rights"],
                    name=form.cleaned_data["name"],
                    expires_at=form.expires_at,
                )
            )
            form = TokenForm(role=_role(project))
        except DomainError as refusal:
            put_on(form, refusal)
    standing = list(AccessToken.objects.visible_to(request.user).reaching(project).standing())
    mine = [one for one in standing if one.user_id == request.user.pk]
    others = [one for one in standing if one.user_id != request.user.pk]
    asked = made.token.public_part if made else request.GET.get("token", "")
    address, token = address_of(project), made.text if made else PLACEHOLDER
    context = {
        "project": project,
        "here": "connect",
        "form": form,
        "made": made,
        # What is waited for: the token just made, or the one that the address names.
        "watched": next((one for one in mine if one.public_part == asked), None),
        "address": address,
        "clients": clients_at(address, token),
        "environment": environment(token),
        "fetching": fetching(),
        "settings": settings_of(project),
        "openclaw": openclaw_steps(project),
        "mine": mine[:SHOWN],
        "others": others[:SHOWN],
        "are_more": max(len(mine), len(others)) > SHOWN,
    }
    return render(request, "projects/connect.html", context, status=422 if form.errors else 200)


def _token_of(user: User, project: Project, public_part: str) -> AccessToken:
    """Raises NotFound."""
    seen = AccessToken.objects.visible_to(user).reaching(project)
    token = seen.with_public_part(public_part).first()
    if token is None:
        raise NotFound("There is no such token here that you can see.")
    return token


@login_required
@require_safe
def host_file(request: AuthedRequest, slug: str, host: str, place: int) -> HttpResponse:
    """A settings file of a host, to be kept in the repository; no token is in it."""
    found = file_of(project_of(request.user, slug), host, place)
    if found is None:
        raise NotFound("There is no such file. The Connect page lists them.")
    response = HttpResponse(found.text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(True, found.name)
    return response


@never_cache
@login_required
@require_safe
def first_call(request: AuthedRequest, slug: str, public_part: str) -> HttpResponse:
    """Whether a token was used yet: 204 until it was, then the line that says so.

    The page asks every few seconds: two queries beside those that know who asks.
    """
    project = project_of(request.user, slug)
    token = _token_of(request.user, project, public_part)
    if not request.htmx:
        return redirect(f"{reverse('projects:connect', args=(project.slug,))}?token={token.public_part}")
    if token.last_used_at is None and token.is_good:
        return HttpResponse(status=204)
    context = {"project": project, "watched": token, "announces": True}
    return render(request, "projects/_first_call.html", context)


@login_required
@require_safe
def project_tokens(request: AuthedRequest, slug: str) -> HttpResponse:
    """The tokens of a project: one's own, and for owners everybody's."""
    project = project_of(request.user, slug)
    seen = AccessToken.objects.visible_to(request.user).reaching(project)
    cursor = request.GET.get("cursor", "")
    context = {
        "project": project,
        "here": "connect",
        "is_owner": _role(project) is Role.OWNER,
        "page": tokens_page(seen, request.user, cursor, bound=project.slug),
    }
    return render(request, "projects/project_tokens.html", context)


@login_required
@require_POST
def token_revoke(request: AuthedRequest, slug: str, public_part: str) -> HttpResponse:
    """Stop a token of mine, or as an owner one of the project's."""
    project = project_of(request.user, slug)
    token = _token_of(request.user, project, public_part)
    revoke_token(by=request.user, token=token)
    messages.success(request, f"Revoked {token.name}: it opens nothing any more.")
    back = "projects:project_tokens" if request.POST.get("back") == "tokens" else "projects:connect"
    return redirect(back, slug=project.slug)


def _role(project: Project) -> Role:
    return Role(project.role)  # type: ignore[attr-defined]
