"""The web's door to one's own account: time zone, password, access tokens over all projects."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from memoryhub.kernel.addresses import sent_from_above
from memoryhub.kernel.errors import DomainError, NotFound
from memoryhub.kernel.requests import AuthedRequest
from projects.attempts import count_password
from projects.connecting import Made, address_of, address_of_all, clients_at
from projects.forms import MyTokenForm, PasswordForm, TimeZoneForm, put_on
from projects.models import AccessToken, Project
from projects.services import change_account, change_password, create_token, revoke_token
from projects.tokens import tokens_page


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: AuthedRequest) -> HttpResponse:
    """My account: the time zone, the way to the rest; theme and density are kept in the browser."""
    form = TimeZoneForm(request.POST or None, initial={"time_zone": request.user.time_zone})
    if form.is_valid():
        change_account(user=request.user, fields=form.cleaned_data)
        messages.success(request, f"Times are shown in {form.cleaned_data['time_zone']} now.")
        return redirect("projects:profile")
    return _profile_page(request, form, PasswordForm(request.user), 422 if form.is_bound else 200)


def _profile_page(
    request: AuthedRequest, form: TimeZoneForm, password: PasswordForm, status: int
) -> HttpResponse:
    context = {"form": form, "password": password, "here": "profile"}
    return render(request, "projects/profile.html", context, status=status)


@sensitive_post_parameters()
@login_required
@sent_from_above
def password(request: AuthedRequest) -> HttpResponse:
    """A new password: every other browser is signed out, tokens go on."""
    count_password(request)
    form = PasswordForm(request.user, request.POST)
    if form.is_valid() and _replaced(request, form):
        messages.success(request, "Your password is changed. Other browsers are signed out.")
        return redirect("projects:profile")
    zone = TimeZoneForm(initial={"time_zone": request.user.time_zone})
    return _profile_page(request, zone, form, 422)


def _replaced(request: AuthedRequest, form: PasswordForm) -> bool:
    try:
        user = change_password(user=request.user, password=form.cleaned_data["new_password1"])
    except DomainError as refusal:
        for sentence in (refusal.details.get("fields") or {"": refusal.message}).values():
            form.add_error("new_password1", sentence)
        return False
    # Sessions hold a digest of the password: this one gets the new one's, others don't.
    update_session_auth_hash(request, user)
    return True


@never_cache
@sensitive_post_parameters()
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def my_tokens(request: AuthedRequest) -> HttpResponse:
    """My access tokens over all projects; a new one is shown this once."""
    mine = list(Project.objects.with_role_of(request.user).current())
    form, made = MyTokenForm(request.POST or None, mine=mine), None
    if form.is_valid():
        try:
            made = _made(request, form)
            form = MyTokenForm(mine=mine)
        except DomainError as refusal:
            put_on(form, refusal)
    context = {
        "here": "tokens",
        "form": form,
        "made": made,
        # What is waited for, in a project that it reaches: the page itself is in none.
        "watched": made.token if made else None,
        "watched_in": made.token.projects.order_by("slug").first() if made else None,
        "mine": mine,
        "clients": clients_at(_address(made), made.text) if made else [],
        "page": tokens_page(
            AccessToken.objects.of(request.user), request.user, request.GET.get("cursor", "")
        ),
    }
    return render(request, "projects/my_tokens.html", context, status=422 if form.errors else 200)


def _made(request: AuthedRequest, form: MyTokenForm) -> Made:
    given: dict[str, Any] = {name: form.cleaned_data[name] for name in ("rights", "name")}
    token, text = create_token(user=request.user, projects=form.chosen, expires_at=form.expires_at, **given)
    return Made(token, text)


def _address(made: Made) -> str:
    """One project's own address, which pins it; of several the one for all."""
    reached = list(made.token.projects.all())
    return address_of(reached[0]) if len(reached) == 1 else address_of_all()


@login_required
@require_POST
def my_token_revoke(request: AuthedRequest, public_part: str) -> HttpResponse:
    """Stop a token of mine."""
    token = AccessToken.objects.of(request.user).with_public_part(public_part).first()
    if token is None:
        raise NotFound("You have no such token.")
    revoke_token(by=request.user, token=token)
    messages.success(request, f"Revoked {token.name}: it opens nothing any more.")
    return redirect("projects:my_tokens")
