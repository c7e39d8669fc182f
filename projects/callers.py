"""Who calls a tool or an endpoint, and the project they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memoryhub.kernel.actor import Actor, Door, WriteContext
from memoryhub.kernel.calls import Note
from memoryhub.kernel.compiled import Compiled
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.text import storable
from memoryhub.kernel.tools import Right
from projects.errors import NoSuchProject, RightMissing
from projects.models import AccessToken, Project, Role, User
from projects.querysets import ProjectQuerySet


def _in_reach(token: int, user: int) -> ProjectQuerySet:
    return Project.objects.reached_by(AccessToken(pk=token, user=User(pk=user)))


# What every call of an agent asks.
_reached = Compiled(lambda token, user, slug: _in_reach(token, user).at(slug)[:1])
_first_two = Compiled(lambda token, user: _in_reach(token, user)[:2])


@dataclass
class Caller:
    """The user behind a call, with the token that limits them and, once it is known, the project.

    Over stdio there is no token: whoever runs the command is trusted with the user's own rights.
    """

    user: User
    token: AccessToken | None = None
    rights: frozenset[Right] = frozenset(Right)
    pinned_slug: str = ""
    door: Door = Door.MCP
    # Of the request; over stdio there is none, and each call has its own.
    note: Note | None = None
    _project: Project | None = field(default=None, repr=False)

    def reach(self) -> ProjectQuerySet:
        """The projects this caller may name, each with the user's `role`."""
        reach = (
            Project.objects.reached_by(self.token) if self.token else Project.objects.with_role_of(self.user)
        )
        return reach.filter(slug=self.pinned_slug) if self.pinned_slug else reach

    def check_right(self, right: Right) -> None:
        """Raises RightMissing."""
        if right not in self.rights:
            raise RightMissing(right)

    @property
    def project(self) -> Project:
        """The project of this call. Raises NoSuchProject when none was chosen."""
        if self._project is None:
            raise NoSuchProject(self.pinned_slug)
        return self._project

    @property
    def has_project(self) -> bool:
        """Whether this call means one project."""
        return self._project is not None

    @property
    def role(self) -> Role:
        """The user's role in the project of this call."""
        return Role(self.project.role)  # type: ignore[attr-defined]

    def choose_project(self, arguments: Mapping[str, Any], *, required: bool) -> None:
        """Settle the project: pinned by the address, named in the call, or the only one in reach.

        Nothing is remembered between calls. Raises NoSuchProject; Invalid naming the projects.
        """
        slug = arguments.get("project")
        if slug is not None and not isinstance(slug, str):
            raise Invalid(fields={"project": "Must be the slug of a project."})
        if self.pinned_slug or slug:
            wanted = slug or self.pinned_slug
            self._project = self._reached(wanted) if storable(wanted) else None
            if self._project is None:
                raise NoSuchProject(_shown(wanted))
            return
        first_two = self._first_two()
        if len(first_two) == 1:
            self._project = first_two[0]
            return
        if not required:
            return
        slugs = ", ".join(self.reach().values_list("slug", flat=True)[:50])
        sentence = f"Name one of your projects: {slugs}." if slugs else "The token reaches no project."
        raise Invalid(fields={"project": sentence})

    def _reached(self, slug: str) -> Project | None:
        """The project at an address, where it is in reach."""
        if self.token is None or self.pinned_slug not in ("", slug):
            return self.reach().filter(slug=slug).first()
        return _reached.first(token=self.token.pk, user=self.user.pk, slug=slug)

    def _first_two(self) -> list[Project]:
        if self.token is None:
            return list(self.reach()[:2])
        return _first_two.rows(token=self.token.pk, user=self.user.pk)

    def actor(self, context: WriteContext | None = None) -> Actor:
        """This caller as the actor of a write."""
        return Actor(user=self.user, door=self.door, token=self.token, context=context or WriteContext())


def _shown(slug: str) -> str:
    """A made-up slug, safe to repeat."""
    return "".join(c for c in slug[:60] if c.isprintable())
