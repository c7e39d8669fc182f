"""Which proposals: the words that doors and services read by."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Exists, ExpressionWrapper, F, Max, Min, OuterRef, Q

from memories.querysets import readable_by, readable_by_staff
from projects.models import Membership, Role
from projects.querysets import called

if TYPE_CHECKING:
    from memories.models import Memory, Review  # noqa: F401 - named in quotes below
    from projects.models import Project, User

# What lists leave out: proposed texts may be long.
_HEAVY = ("fields", "edits", "memory__body", "memory__details", "memory__retrieval_hints")


def _publishing() -> Q:
    """Of a private memory that others would read: their proposer offers it to be read."""
    return Q(publishes=True, memory__erased_at=None)


class ReviewQuerySet(models.QuerySet["Review"]):
    """Proposals by who may read them and what became of them."""

    def visible_to(self, user: User) -> ReviewQuerySet:
        """One's own while one is a member; as a reviewer of the project those of all members.

        A reviewer sees none on a memory that he may not read (somebody's private one by now, an erased
        one), but for those that wait to make it readable. To everybody else a proposal doesn't exist.
        """
        return self._seen_by(user, _publishing() & Q(status=self.model.Status.PENDING))

    def decidable_by(self, user: User) -> ReviewQuerySet:
        """The same, with those that publish a memory and were decided: that they were is said."""
        return self._seen_by(user, _publishing())

    def _seen_by(self, user: User, publishing: Q) -> ReviewQuerySet:
        mine = user.memberships.order_by()
        reviewing = mine.filter(role__in=[role for role in Role if role.includes(Role.REVIEWER)])
        readable = Q(memory=None) | publishing | readable_by(user, "memory__")
        return self.filter(
            Q(proposer=user, project__in=mine.values("project"))
            | (Q(project__in=reviewing.values("project")) & readable)
        )

    def visible_to_staff(self) -> ReviewQuerySet:
        """What the admin shows: none on a memory that it hides, but for those that wait to publish it."""
        waiting = _publishing() & Q(status=self.model.Status.PENDING)
        return self.filter(Q(memory=None) | waiting | readable_by_staff("memory__"))

    def decidable_by_staff(self) -> ReviewQuerySet:
        """The same, with those that publish a memory and were decided."""
        return self.filter(Q(memory=None) | _publishing() | readable_by_staff("memory__"))

    def in_project(self, project: Project) -> ReviewQuerySet:
        return self.filter(project=project)

    def numbered(self, number: int) -> ReviewQuerySet:
        return self.filter(number=number)

    def pending(self) -> ReviewQuerySet:
        return self.filter(status=self.model.Status.PENDING)

    def rejected(self) -> ReviewQuerySet:
        return self.filter(status=self.model.Status.REJECTED)

    def decided(self) -> ReviewQuerySet:
        """Approved or rejected: what somebody answered, not what was taken back."""
        return self.filter(status__in=[self.model.Status.APPROVED, self.model.Status.REJECTED])

    def latest_decided_first(self) -> ReviewQuerySet:
        return self.order_by("-decided_at", "-number")

    def with_status(self, status: str) -> ReviewQuerySet:
        return self.filter(status=status)

    def proposed_by(self, user: User) -> ReviewQuerySet:
        return self.filter(proposer=user)

    def not_proposed_by(self, user: User) -> ReviewQuerySet:
        return self.exclude(proposer=user)

    def proposed_by_name(self, name: str) -> ReviewQuerySet:
        """By the proposer's user name, whatever its case."""
        return self.filter(called(name, "proposer__"))

    def of_kind(self, kind: str) -> ReviewQuerySet:
        return self.filter(kind=kind)

    def in_project_at(self, slug: str) -> ReviewQuerySet:
        return self.filter(project__slug=slug)

    def from_session(self, session: str) -> ReviewQuerySet:
        """The proposals of one session, which are often decided together."""
        return self.filter(session=session)

    def creating(self) -> ReviewQuerySet:
        """Of new memories."""
        return self.filter(kind="create")

    def on(self, memory: Memory) -> ReviewQuerySet:
        """Those that change this memory, or made it."""
        return self.filter(memory=memory)

    def on_number(self, number: int, reader: User) -> ReviewQuerySet:
        """The same by its number. Of one that the reader may not read the number isn't told by them."""
        return self.filter(readable_by(reader, "memory__"), memory__number=number)

    def equal_to(self, digest: str) -> ReviewQuerySet:
        """Those that propose the same."""
        return self.filter(digest=digest)

    def waiting_since(self, before: dt.datetime) -> ReviewQuerySet:
        """Pending, and proposed before a moment."""
        return self.pending().filter(created_at__lt=before)

    def decided_since(self, moment: dt.datetime) -> ReviewQuerySet:
        return self.decided().filter(decided_at__gte=moment)

    def for_rows(self) -> ReviewQuerySet:
        """What a row of a list shows, without the proposed texts."""
        return self.whole().defer(*_HEAVY)

    def for_standing(self) -> ReviewQuerySet:
        """What tells whether each can be applied, and by which filters it is found."""
        rows = self.select_related("project", "memory", "proposer").with_bags()._with_proposers_role()
        of_review = ("number", "kind", "status", "based_on", "beside", "other", "links")
        of_others = ("project__slug", "memory__number", "memory__version", "memory__project")
        of_proposer = ("proposer__username", "proposer__is_active", "proposer__is_superuser")
        return rows.only(*of_review, *of_others, *of_proposer)

    def with_bags(self) -> ReviewQuerySet:
        """Annotates the number of the bag that each names: of what is proposed, that alone."""
        return self.annotate(proposed_parent=F("fields__parent"))

    def whole(self) -> ReviewQuerySet:
        """With all that is proposed."""
        return self.select_related("project", "memory", "proposer", "decided_by")._with_proposers_role()

    def _with_proposers_role(self) -> ReviewQuerySet:
        """Annotates whether the proposer may still write in the project (`proposer_writes`)."""
        writing = [role for role in Role if role.includes(Role.CONTRIBUTOR)]
        members = Membership.objects.filter(
            project=OuterRef("project"), user=OuterRef("proposer"), user__is_active=True, role__in=writing
        )
        return self.annotate(proposer_writes=Exists(members))

    def newest_first(self) -> ReviewQuerySet:
        return self.order_by("-number")

    def newest_of_all(self) -> ReviewQuerySet:
        """Newest first across projects, where numbers don't compare."""
        return self.order_by("-created_at", "project__slug", "-number")

    def older_than(self, position: Sequence[Any]) -> ReviewQuerySet:
        """What comes after `Review.position` in an order of newest first, of one project or several."""
        created, slug, number = position
        later = Q(project__slug__gt=slug) | Q(project__slug=slug, number__lt=number)
        return self.filter(Q(created_at__lt=created) | Q(Q(created_at=created) & later))

    def oldest_first(self) -> ReviewQuerySet:
        return self.order_by("number")

    def without_a_trace(self) -> ReviewQuerySet:
        """Approved with new values, and yet nothing stands in any history: what the doctor looks for.

        A link alone may be there already by the time it is approved.
        """
        from memories.models import Revision

        carried = Exists(Revision.objects.filter(review=OuterRef("pk")))
        approved = self.filter(status=self.model.Status.APPROVED, erased_at=None)
        return approved.exclude(carried).exclude(fields={})

    def awaiting(self, user: User) -> ReviewQuerySet:
        """Pending ones that a reviewer may decide; for other members their own, which wait for somebody.

        Where a project asks for a second person, a reviewer's own aren't his to decide.
        """
        return self.visible_to(user).pending().exclude(self._for_another(user))

    def counted_for(self, user: User) -> dict[str, Any]:
        """Of the pending ones that the user sees how many there are (`pending`), how many of these are his
        to decide or wait for somebody (`awaiting`) and since when (`oldest`), the highest number (`last`) and
        when the newest was made (`newest`).
        """
        seen = self.visible_to(user).pending().order_by()
        his = ~self._for_another(user)
        return seen.aggregate(
            pending=Count("pk"),
            awaiting=Count("pk", filter=his),
            oldest=Min("created_at", filter=his),
            last=Max("number"),
            newest=Max("created_at"),
        )

    def _for_another(self, user: User) -> Q:
        """A reviewer's own where the project asks for a second person."""
        mine = user.memberships.order_by()
        reviewing = mine.filter(role__in=[role for role in Role if role.includes(Role.REVIEWER)])
        return Q(
            proposer=user, project__review_needs_second_person=True, project__in=reviewing.values("project")
        )

    def with_numbers(self, numbers: Iterable[int]) -> ReviewQuerySet:
        return self.filter(number__in=list(numbers))

    def with_refs(self, refs: Iterable[tuple[str, int]]) -> ReviewQuerySet:
        """Those with these slugs and numbers."""
        wanted = Q(pk__in=[])
        numbers: dict[str, list[int]] = {}
        for slug, number in refs:
            numbers.setdefault(slug, []).append(number)
        for slug, those in numbers.items():
            wanted |= Q(project__slug=slug, number__in=those)
        return self.filter(wanted)

    def with_ids(self, ids: Iterable[int]) -> ReviewQuerySet:
        return self.filter(pk__in=list(ids))

    def without_ids(self, ids: Iterable[int]) -> ReviewQuerySet:
        return self.exclude(pk__in=list(ids))

    def refs_only(self) -> ReviewQuerySet:
        """What a link to a proposal shows."""
        return self.only("number", "status", "project")

    def in_projects(self, projects: Iterable[Project]) -> ReviewQuerySet:
        return self.filter(project__in=list(projects))

    def with_marks_for(self, user: User) -> ReviewQuerySet:
        """Annotates what a row says without the proposed texts: whether the user may read the memory that
        it changes (`is_readable`), and whether it brings one back (`restores`).
        """
        return self._marked(readable_by(user))

    def with_marks_for_staff(self) -> ReviewQuerySet:
        """The same, of what the admin shows."""
        return self._marked(readable_by_staff())

    def _marked(self, readable: Q) -> ReviewQuerySet:
        from memories.models import Memory

        seen = Memory.objects.filter(readable, pk=OuterRef("memory"))
        return self.annotate(
            is_readable=Exists(seen),
            restores=ExpressionWrapper(Q(fields__has_key="status"), output_field=models.BooleanField()),
        )
