"""Which calls: the words that the pages of calls read by."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Q

from memoryhub.kernel.calls import OK

if TYPE_CHECKING:
    from projects.models import Call, Project, User


class CallQuerySet(models.QuerySet["Call"]):
    """Calls by who may know of them."""

    def visible_to(self, user: User, within: Project) -> CallQuerySet:
        """In a project that was loaded with the user's role: all for its owners, else a person's own."""
        from projects.models import Role

        calls = self.filter(project=within)
        return calls if within.role == Role.OWNER else calls.of(user)  # type: ignore[attr-defined]

    def of(self, user: User) -> CallQuerySet:
        """A person's own."""
        return self.filter(user=user)

    def of_nobody(self) -> CallQuerySet:
        """Without a token or account that is known."""
        return self.filter(user=None)

    def of_somebody(self) -> CallQuerySet:
        return self.filter(user__isnull=False)

    def refused(self) -> CallQuerySet:
        """All that didn't end well, refusals and failures."""
        return self.exclude(outcome=OK)

    def before(self, at: dt.datetime) -> CallQuerySet:
        return self.filter(at__lt=at)

    def older_than(self, pk: int) -> CallQuerySet:
        """Kept before the one with this id."""
        return self.filter(pk__lt=pk)

    def newest(self, most: int) -> CallQuerySet:
        """Those kept last, at most so many; asks for the first of them, so that the rest is read by index."""
        first = self.order_by("-pk").values_list("pk", flat=True)[most - 1 : most]
        return self.filter(pk__gte=sum(first)).order_by()

    def by_group(self, **fitting: dt.datetime) -> models.QuerySet[Call, Any]:
        """In groups: user name, name of the token, what was called, outcome, door; how many, and how many of
        them fit.
        """
        who = ("user__username", "token_name", "name", "outcome", "door")
        return self.values_list(*who).annotate(many=Count("pk"), fit=Count("pk", filter=Q(**fitting)))
