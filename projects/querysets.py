"""Which users, projects and tokens: the words that doors read by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import UserManager as DjangoUserManager
from django.db import models
from django.db.models import Case, F, IntegerField, OuterRef, Prefetch, Q, Subquery, When

from memoryhub.kernel.text import storable

if TYPE_CHECKING:
    from projects.models import AccessToken, Membership, Project, User  # noqa: F401 - named in quotes below


def called(username: str | None, whose: str = "") -> Q:
    """That a user has this name, whatever its case; `whose` leads to the user, as `author__`.

    Nobody has one that can't be a name: a database may refuse to look for it.
    """
    from projects.models import User

    if not username or len(username) > User.USERNAME_MAX_LENGTH or not storable(username):
        return Q(pk__in=())
    return Q(**{f"{whose}username__iexact": username})


class UserManager(DjangoUserManager["User"]):
    """Finds a user by name whatever its case."""

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(called(username))

    def named(self, username: str) -> User | None:
        return self.filter(called(username)).first()


class ProjectQuerySet(models.QuerySet["Project"]):
    """Projects by who reads them."""

    def visible_to(self, user: User) -> ProjectQuerySet:
        """The projects that `user` is a member of."""
        return self.filter(memberships__user=user)

    def with_role_of(self, user: User) -> ProjectQuerySet:
        """The same, each with the user's `role`."""
        return self.visible_to(user).annotate(role=F("memberships__role"))

    def reached_by(self, token: AccessToken) -> ProjectQuerySet:
        """What the token is bound to and its user is still a member of."""
        return self.with_role_of(token.user).filter(access_tokens=token)

    def current(self) -> ProjectQuerySet:
        """Not archived."""
        return self.filter(archived_at=None)

    def current_first(self) -> ProjectQuerySet:
        """Archived ones at the end, each part by slug."""
        place = Case(When(archived_at=None, then=0), default=1, output_field=IntegerField())
        return self.annotate(place=place).order_by("place", "slug")

    def after(self, place: int, slug: str) -> ProjectQuerySet:
        """What follows a project in the order of `current_first`."""
        return self.filter(Q(place__gt=place) | Q(place=place, slug__gt=slug))

    def at(self, slug: str) -> ProjectQuerySet:
        """The one at this address."""
        return self.filter(slug=slug)


class MembershipQuerySet(models.QuerySet["Membership"]):
    """Members by project and name."""

    def in_project(self, project: Project) -> MembershipQuerySet:
        return self.filter(project=project)

    def by_name(self, *, after: str = "") -> MembershipQuerySet:
        """In the order of user names, those that come after one."""
        rows = self.select_related("user").order_by("user__username")
        return rows.filter(user__username__gt=after) if after else rows

    def of_name(self, username: str) -> MembershipQuerySet:
        """The member of that user name, whatever its case."""
        return self.filter(called(username, "user__")).select_related("user", "project")


class AccessTokenQuerySet(models.QuerySet["AccessToken"]):
    """Tokens by whose they are and whether they are good."""

    def visible_to(self, user: User) -> AccessTokenQuerySet:
        """A person's own, and those that reach a project they own."""
        from projects.models import Role

        owned = user.memberships.filter(role=Role.OWNER).values("project")
        return self.filter(
            Q(user=user) | Q(pk__in=self.model.objects.filter(projects__in=owned).values("pk"))
        )

    def reaching(self, project: Project) -> AccessTokenQuerySet:
        """Those bound to the project, perhaps among others."""
        return self.filter(projects=project).select_related("user")

    def names(self, most: int) -> list[str]:
        """What they are called, each name once, at most so many."""
        return list(self.order_by("name").values_list("name", flat=True).distinct()[:most])

    def of(self, user: User) -> AccessTokenQuerySet:
        """A person's own."""
        return self.filter(user=user)

    def for_rows(self, reader: User) -> AccessTokenQuerySet:
        """With whose it is and, as `reached`, those of its projects that the reader is in; newest first."""
        from projects.models import Project

        known = Prefetch("projects", Project.objects.visible_to(reader), to_attr="reached")
        return self.select_related("user").prefetch_related(known).order_by("-pk")

    def older_than(self, pk: int) -> AccessTokenQuerySet:
        """Made before the one with this id."""
        return self.filter(pk__lt=pk)

    def with_public_part(self, public_part: str) -> AccessTokenQuerySet:
        return self.filter(public_part=public_part)

    def standing(self) -> AccessTokenQuerySet:
        """Not revoked; some may have expired."""
        return self.filter(revoked_at=None)

    def expired_before(self, at: Any) -> AccessTokenQuerySet:
        return self.filter(expires_at__lt=at)

    def good(self, at: Any) -> AccessTokenQuerySet:
        """Neither revoked nor expired, of an active user."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=at), revoked_at=None, user__is_active=True)


def role_in(project_ref: str, user: User) -> Subquery:
    """The role of `user` in the project that an outer query's `project_ref` names, or null."""
    from projects.models import Membership

    return Subquery(Membership.objects.filter(project=OuterRef(project_ref), user=user).values("role")[:1])
