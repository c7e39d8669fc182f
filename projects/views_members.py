"""The web's door to the members of a project: everyone sees them, owners add, change and remove."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from memoryhub.kernel.errors import DomainError, NotFound
from memoryhub.kernel.requests import AuthedRequest
from memoryhub.kernel.text import storable
from projects.forms import put_on
from projects.forms_members import AddMemberForm, RoleForm
from projects.loading import project_of, project_to_write
from projects.members import EVERYBODY_ELSE, ROLES, members_of
from projects.models import AccessToken, Membership, Project, Role
from projects.services import add_member, change_role, remove_member
from projects.tokens import tokens_page


def _is_owner(project: Project) -> bool:
    return Role(project.role) is Role.OWNER  # type: ignore[attr-defined]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def members(request: AuthedRequest, slug: str) -> HttpResponse:
    """Who is in the project, and what each role sees; an owner adds somebody by user name."""
    if request.method == "POST":
        project = project_to_write(request.user, slug, Role.OWNER)
        form = AddMemberForm(request.POST)
        if form.is_valid() and (joined := _joined(request, project, form)):
            messages.success(
                request,
                f"{joined.user.username} is a {joined.role} now, and finds {project.name} after signing in "
                f"at {settings.MEMORYHUB_URL}/",
            )
            return redirect("projects:members", slug=project.slug)
        return _members_page(request, project, form, 422)
    return _members_page(request, project_of(request.user, slug), AddMemberForm())


def _joined(request: AuthedRequest, project: Project, form: AddMemberForm) -> Membership | None:
    try:
        return add_member(
            by=request.user, project=project, user=form.cleaned_data["user"], role=form.cleaned_data["role"]
        )
    except DomainError as refusal:
        put_on(form, refusal)
        return None


def _members_page(
    request: AuthedRequest, project: Project, form: AddMemberForm, status: int = 200
) -> HttpResponse:
    context = {
        "project": project,
        "here": "members",
        "page": members_of(
            project, request.user, is_owner=_is_owner(project), cursor=request.GET.get("cursor", "")
        ),
        "is_owner": _is_owner(project),
        "form": form,
        "roles": ROLES,
        "everybody_else": EVERYBODY_ELSE,
    }
    return render(request, "projects/members.html", context, status=status)


def _member_of(project: Project, username: str) -> Membership:
    """Raises NotFound."""
    found = Membership.objects.in_project(project).of_name(username).first() if storable(username) else None
    if found is None:
        raise NotFound("There is no such member here.")
    return found


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def member(request: AuthedRequest, slug: str, username: str) -> HttpResponse:
    """A member: an owner gives another role, or reads what removing them would do."""
    project = project_to_write(request.user, slug, Role.OWNER)
    membership = _member_of(project, username)
    form = RoleForm(request.POST or None, initial={"role": membership.role})
    if form.is_valid():
        try:
            changed = change_role(by=request.user, membership=membership, role=form.cleaned_data["role"])
        except DomainError as refusal:
            put_on(form, refusal)
        else:
            messages.success(request, f"{changed.user.username} is a {changed.role} now.")
            return redirect("projects:members", slug=project.slug)
    return _member_page(request, project, membership, form, 422 if form.is_bound else 200)


def _member_page(
    request: AuthedRequest, project: Project, membership: Membership, form: Any, status: int = 200
) -> HttpResponse:
    tokens = AccessToken.objects.of(membership.user).reaching(project).standing()
    bound = f"{project.slug} {membership.user_id}"
    context = {
        "project": project,
        "here": "members",
        "membership": membership,
        "is_me": membership.user_id == request.user.pk,
        "form": form,
        "roles": ROLES,
        "many_tokens": tokens.count(),
        "page": tokens_page(tokens, request.user, request.GET.get("cursor", ""), bound=bound),
    }
    return render(request, "projects/member.html", context, status=status)


@login_required
@require_POST
def member_remove(request: AuthedRequest, slug: str, username: str) -> HttpResponse:
    """Let a member go."""
    project = project_to_write(request.user, slug, Role.OWNER)
    membership = _member_of(project, username)
    try:
        remove_member(by=request.user, membership=membership)
    except DomainError as refusal:
        form = RoleForm(initial={"role": membership.role})
        form.refusal = refusal.message
        return _member_page(request, project, membership, form, refusal.status)
    if membership.user_id == request.user.pk:
        messages.success(request, f"You left {project.name}.")
        return redirect("projects:home")
    messages.success(
        request, f"{membership.user.username} is no member any more: nothing here opens for them."
    )
    return redirect("projects:members", slug=project.slug)
