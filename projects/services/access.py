"""Members and access tokens: who may do what, and the secrets that speak for them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from memoryhub.kernel import tokens
from memoryhub.kernel.bookkeeping import best_effort
from memoryhub.kernel.compiled import Compiled
from memoryhub.kernel.errors import Forbidden, Invalid, NotFound, Problems
from memoryhub.kernel.tools import Right
from projects.errors import NoSuchProject, RoleTooLow
from projects.models import AccessToken, Membership, Project, Role, User
from projects.services.checking import check_line, checked

# How old `last_used_at` may grow before a call writes it again.
USE_NOTED_EVERY = dt.timedelta(minutes=5)


_roles = Compiled(
    lambda project, user: Membership.objects.filter(project=project, user=user).values_list(
        "role", flat=True
    )[:1]
)


def role_of(user: User | None, project: Project) -> Role | None:
    """The user's role in the project now; None for somebody who is no member."""
    return ask_role(user, project)()


def ask_role(user: User | None, project: Project) -> Callable[[], Role | None]:
    """Asks for that role, and gives what reads it."""
    if user is None or not user.is_active:
        return lambda: None
    asked = _roles.ask(project=project.pk, user=user.pk)
    return lambda: next((Role(role) for role in asked.rows()), None)


def check_role(by: User | None, project: Project, need: Role) -> None:
    """Raises NoSuchProject for a stranger, RoleTooLow for a lesser role. None and active superusers pass."""
    if by is None or (by.is_superuser and by.is_active):
        return
    role = role_of(by, project)
    if role is None:
        raise NoSuchProject(project.slug)
    if not role.includes(need):
        raise RoleTooLow(need)


@transaction.atomic
def add_member(*, by: User | None, project: Project, user: User, role: str) -> Membership:
    """Take somebody into the project. Raises RoleTooLow, Invalid."""
    Project.objects.select_for_update().get(pk=project.pk)
    check_role(by, project, Role.OWNER)
    membership = Membership(project=project, user=user, role=role)
    if Membership.objects.filter(project=project, user=user).exists():
        raise Invalid(fields={"user": f"{user.username} is a member already. Change the role instead."})
    checked(membership)
    membership.save()
    _note_change(project.pk)
    return membership


@transaction.atomic
def change_role(*, by: User | None, membership: Membership, role: str) -> Membership:
    """Give a member another role. A project keeps at least one owner. Raises RoleTooLow, Invalid."""
    membership = _locked(membership)
    check_role(by, membership.project, Role.OWNER)
    if role not in Role.values:
        raise Invalid(fields={"role": f"Must be one of: {', '.join(Role.values)}."})
    if role != Role.OWNER:
        _check_another_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    _note_change(membership.project_id)
    return membership


@transaction.atomic
def remove_member(*, by: User | None, membership: Membership) -> None:
    """Let a member go. Private memories stay theirs, unseen, and come back with membership."""
    membership = _locked(membership)
    check_role(by, membership.project, Role.OWNER)
    _check_another_owner(membership)
    membership.delete()
    _note_change(membership.project_id)


def _note_change(project_id: int) -> None:
    """Who may see what has changed, and with it every answer that is kept by the change counter."""
    Project.objects.filter(pk=project_id).update(change_counter=F("change_counter") + 1)


def _locked(membership: Membership) -> Membership:
    """The membership as it is now, behind its project's lock. Raises NotFound."""
    Project.objects.select_for_update().get(pk=membership.project_id)
    found = Membership.objects.select_related("project", "user").filter(pk=membership.pk).first()
    if found is None:
        raise NotFound("They are no member any more.")
    return found


def _check_another_owner(membership: Membership) -> None:
    owners = Membership.objects.filter(project=membership.project_id, role=Role.OWNER, user__is_active=True)
    if membership.role == Role.OWNER and not owners.exclude(pk=membership.pk).exists():
        raise Invalid(
            "A project needs an owner. Make somebody else one first.", rule="project_needs_an_owner"
        )


@transaction.atomic
def create_token(
    *,
    user: User,
    projects: Iterable[Project],
    rights: Iterable[str],
    name: str,
    expires_at: dt.datetime | None = None,
) -> tuple[AccessToken, str]:
    """A token and its text, which is shown this once and never again.

    Raises Invalid for a bad name, right or date; NoSuchProject for a project the user is not in.
    """
    projects, rights = list(projects), list(rights)
    problems = Problems()
    check_line(problems, "name", name, most=AccessToken.NAME_MAX_LENGTH, least=1)
    if not projects:
        problems.add("projects", "Choose at least one project.")
    if not rights or any(right not in list(Right) for right in rights):
        problems.add("rights", f"Choose among: {', '.join(Right)}.")
    if expires_at is not None and expires_at <= timezone.now():
        problems.add("expires_at", "Lies in the past.")
    problems.raise_if_any()
    for project in projects:
        if role_of(user, project) is None:
            raise NoSuchProject(project.slug)
    text = tokens.mint()
    token = AccessToken.objects.create(
        user=user,
        name=name,
        public_part=tokens.public_part(text),
        digest=tokens.digest(text),
        can_read=Right.READ in rights,
        can_write=Right.WRITE in rights,
        can_review=Right.REVIEW in rights,
        expires_at=expires_at,
    )
    token.projects.set(projects)
    return token, text


@transaction.atomic
def revoke_token(*, by: User | None, token: AccessToken) -> AccessToken:
    """Stop a token at once: its user, an owner of a project it reaches, or the operator."""
    token = AccessToken.objects.select_for_update().get(pk=token.pk)
    if by is not None and not by.is_superuser:
        if not AccessToken.objects.visible_to(by).filter(pk=token.pk).exists():
            raise NotFound("There is no such token.")
        if not by.is_active:
            raise Forbidden("The account is closed.")
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
    return token


# A token that ended so long ago is taken off the lists. A revoked one that would still be good stays on them.
EXPIRED_KEPT_FOR = dt.timedelta(days=90)


def prune_tokens(*, at: dt.datetime) -> int:
    """Delete the tokens that expired long before `at`; returns how many. History keeps their names."""
    _, deleted = AccessToken.objects.expired_before(at - EXPIRED_KEPT_FOR).delete()
    return deleted.get("projects.AccessToken", 0)


def note_token_use(token: AccessToken) -> None:
    """Remember that a token was used, at most every five minutes and without waiting."""
    now = timezone.now()
    if token.last_used_at is not None and now - token.last_used_at < USE_NOTED_EVERY:
        return
    best_effort(lambda: AccessToken.objects.filter(pk=token.pk).update(last_used_at=now))
