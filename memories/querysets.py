"""Which memories, links and revisions: the words that doors and services read by."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce

from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.text import storable

if TYPE_CHECKING:
    from memories.models import Link, Memory, Review, Revision  # noqa: F401 - named in quotes below
    from projects.models import Project, User

# A filter names a few; thousands would be more than a database takes in one question.
FILTER_MAX_TAGS = 20


def readable_by(user: User, prefix: str = "") -> Q:
    """The one rule of visibility, as a condition on a memory or (by `prefix`) on something that has one.

    Public for every signed-in user; shared and one's own private while one is a member. What is
    erased is nobody's.
    """
    from memories.models import Visibility

    mine = user.memberships.values("project")
    seen = Q(**{f"{prefix}visibility": Visibility.PUBLIC}) | Q(
        Q(**{f"{prefix}visibility": Visibility.SHARED}) | Q(**{f"{prefix}author": user}),
        **{f"{prefix}project__in": mine},
    )
    return seen & Q(**{f"{prefix}erased_at": None})


def readable_by_staff(prefix: str = "") -> Q:
    """What the admin shows, as the same kind of condition: shared and public, private ones of nobody."""
    return readable_by_members(prefix)


def readable_by_members(prefix: str = "") -> Q:
    """What every member of the project reads, as the same kind of condition: private ones of nobody."""
    from memories.models import Visibility

    shown = (Visibility.SHARED, Visibility.PUBLIC)
    return Q(**{f"{prefix}visibility__in": shown, f"{prefix}erased_at": None})


class MemoryQuerySet(models.QuerySet["Memory"]):
    """Adjectives filter, prepositions take an argument, `with_…` annotates or prefetches."""

    def visible_to(self, user: User) -> MemoryQuerySet:
        """What `user` may read: public, shared with their projects, or their own."""
        return self.filter(readable_by(user))

    def visible_to_staff(self) -> MemoryQuerySet:
        """What the admin shows: shared and public memories of all projects, private ones of nobody."""
        return self.filter(readable_by_staff())

    def visible_to_members(self) -> MemoryQuerySet:
        """What every member of its project reads, whoever it is: shared and public."""
        return self.filter(readable_by_members())

    def in_project(self, project: Project) -> MemoryQuerySet:
        return self.filter(project=project)

    def in_project_at(self, slug: str) -> MemoryQuerySet:
        """Those of the project at this address, each with its project."""
        return self.filter(project__slug=slug).select_related("project")

    def numbered(self, number: int) -> MemoryQuerySet:
        return self.filter(number=number)

    def with_numbers(self, numbers: Iterable[int]) -> MemoryQuerySet:
        return self.filter(number__in=list(numbers))

    def with_uids(self, uids: Iterable[str]) -> MemoryQuerySet:
        return self.filter(uid__in=list(uids))

    def erased(self) -> MemoryQuerySet:
        """Those of which the number is left, and nothing that they said."""
        return self.exclude(erased_at=None)

    def saying(self, keys: Iterable[str]) -> MemoryQuerySet:
        """Those with one of the keys of title, summary and body (`memories.keys`)."""
        return self.filter(duplicate_key__in=list(keys))

    def titles_only(self) -> MemoryQuerySet:
        """What a link to a memory shows."""
        return self.only("number", "title", "status", "project")

    def for_standing(self) -> MemoryQuerySet:
        """What tells whether another memory can be put into it, linked to it or replaced by it."""
        return self.only(
            "number", "version", "status", "parent", "visibility", "author", "erased_at", "project"
        )

    def active(self) -> MemoryQuerySet:
        from memories.models import Status

        return self.filter(status=Status.ACTIVE)

    def critical(self) -> MemoryQuerySet:
        from memories.models import Weight

        return self.filter(weight=Weight.CRITICAL)

    def of_normal_weight(self) -> MemoryQuerySet:
        from memories.models import Weight

        return self.filter(weight=Weight.NORMAL)

    def top_level(self) -> MemoryQuerySet:
        """In no bag."""
        return self.filter(parent=None)

    def placed(self, place: str, user: User) -> MemoryQuerySet:
        """At the top level, inside a bag, bags that `user` sees as such, or neither in a bag nor one."""
        from memories.models import Place

        if place == Place.INSIDE:
            return self.exclude(parent=None)
        if place == Place.BAGS:
            return self.bags_for(user)
        top = self.top_level()
        return top if place == Place.TOP else top.exclude(pk__in=top.bags_for(user).values("pk"))

    def verified(self, once: bool) -> MemoryQuerySet:
        """Those that somebody said are still true, or those of which nobody ever did."""
        return self.exclude(verified_at=None) if once else self.filter(verified_at=None)

    def inside(self, bag: Memory) -> MemoryQuerySet:
        """The active children of a bag, newest number first."""
        return self.active().filter(parent=bag)

    def bags_for(self, user: User) -> MemoryQuerySet:
        """Those with an active child that `user` may see."""
        return self.filter(Exists(self.model.objects.active().visible_to(user).filter(parent=OuterRef("pk"))))

    def constraints(self) -> MemoryQuerySet:
        from memories.models import Kind

        return self.filter(kind=Kind.CONSTRAINT)

    def covering(self, paths: Iterable[str]) -> MemoryQuerySet:
        """Constraints with one of these scope paths (`scopes.covering_paths` of a path gives them)."""
        return self.filter(Exists(self._scopes().filter(memory=OuterRef("pk"), path__in=list(paths))))

    def tagged(self, tags: Iterable[str], *, all_of_them: bool = True) -> MemoryQuerySet:
        """With all (or any) of the tags, exactly. Raises Invalid for more than a filter takes."""
        rows = self._tags().filter(memory=OuterRef("pk"))
        names = list(dict.fromkeys(tags))
        if len(names) > FILTER_MAX_TAGS:
            sentence = f"Has {len(names)} tags; at most {FILTER_MAX_TAGS} are looked for at once."
            raise Invalid(fields={"tags": sentence})
        # What no store takes is on no memory; a database would refuse to look for it.
        possible = [name for name in names if storable(name)]
        if not all_of_them:
            return self.filter(Exists(rows.filter(name__in=possible)))
        if len(possible) < len(names):
            return self.none()
        found = self
        for tag in possible:
            found = found.filter(Exists(rows.filter(name=tag)))
        return found

    def touched(
        self, *, since: dt.datetime | None = None, before: dt.datetime | None = None
    ) -> MemoryQuerySet:
        """By the later of changed and verified: `since` included, `before` not."""
        found = self
        if since is not None:
            found = found.filter(touched_at__gte=since)
        if before is not None:
            found = found.filter(touched_at__lt=before)
        return found

    def exact_duplicates_of(self, project: Project, key: str, visibility: str, author: Any) -> MemoryQuerySet:
        """Active memories of the same project and visibility (private: same author) that say the same."""
        from memories.models import Visibility

        found = self.active().filter(
            project=project, duplicate_key=key, visibility=visibility, erased_at=None
        )
        return found.filter(author=author) if visibility == Visibility.PRIVATE else found

    def with_child_count(self, user: User) -> MemoryQuerySet:
        """Annotates `child_count`: the active children that `user` may see."""
        return self._counting(self.model.objects.active().visible_to(user))

    def for_staff(self) -> MemoryQuerySet:
        """What the admin shows, each with `child_count`: of what the admin shows, too."""
        return self.visible_to_staff()._counting(self.model.objects.active().visible_to_staff())

    def bags_for_staff(self) -> MemoryQuerySet:
        """Those with an active child that the admin shows."""
        return self.filter(
            Exists(self.model.objects.active().visible_to_staff().filter(parent=OuterRef("pk")))
        )

    def _counting(self, children: MemoryQuerySet) -> MemoryQuerySet:
        inside = children.filter(parent=OuterRef("pk")).order_by()
        counted = inside.values("parent").annotate(many=Count("pk")).values("many")
        return self.annotate(child_count=Coalesce(Subquery(counted), 0))

    def for_rows(self, user: User) -> MemoryQuerySet:
        """What a row of a list shows, bodies left out: author, bag, tags and the number of children."""
        rows = self.with_child_count(user).select_related("author", "parent").prefetch_related("tags")
        return rows.defer("body", "details", "retrieval_hints", *_unseen_in_rows())

    def for_lines(self) -> MemoryQuerySet:
        """What a short row shows: what it is and says, nothing of what is around it."""
        return self.defer("body", "details", "retrieval_hints")

    def for_page(self, user: User) -> MemoryQuerySet:
        """All that the page of one memory shows of it: its texts, and its bag where `user` may see that."""
        rows = self.with_child_count(user).select_related("author", "verified_by", "parent")
        return rows.prefetch_related("tags", "scopes")

    def newest_touched_first(self) -> MemoryQuerySet:
        """The order of recall within one weight."""
        return self.order_by("-touched_at", "number")

    def _tags(self) -> Any:
        from memories.models import Tag

        return Tag.objects.all()

    def _scopes(self) -> Any:
        from memories.models import ScopePath

        return ScopePath.objects.all()


@cache
def _unseen_in_rows() -> list[str]:
    """What no row says of a memory, its author or its bag, as names for `defer`."""
    from memories.models import Memory
    from projects.models import User

    own = ["uid", "duplicate_key", "summary_changed_at", "archived_at", "archive_reason"]

    shown: dict[type[models.Model], set[str]] = {
        User: {"id", "username"},
        Memory: {"id", "project", "number", "title", "status", "visibility", "author"},
    }
    return own + [
        f"{name}__{each.name}"
        for name, model in (("author", User), ("parent", Memory))
        for each in model._meta.concrete_fields
        if each.name not in shown[model]
    ]


class LinkQuerySet(models.QuerySet["Link"]):
    """Links between memories."""

    def visible_to(self, user: User) -> LinkQuerySet:
        """Those whose two ends `user` may both read."""
        return self.filter(readable_by(user, "source__"), readable_by(user, "target__"))

    def visible_to_staff(self) -> LinkQuerySet:
        """Those whose two ends the admin shows."""
        return self.filter(readable_by_staff("source__"), readable_by_staff("target__"))

    def visible_to_members(self) -> LinkQuerySet:
        """Those whose two ends every member of their project reads."""
        return self.filter(readable_by_members("source__"), readable_by_members("target__"))

    def in_project(self, project: Project) -> LinkQuerySet:
        """Those between memories of a project."""
        return self.filter(source__project=project)

    def standing(self) -> LinkQuerySet:
        """Not resolved."""
        return self.filter(resolved_at=None)

    def of(self, memory: Memory) -> LinkQuerySet:
        """Those that begin or end at the memory."""
        return self.of_any([memory])

    def of_any(self, memories: Iterable[Memory]) -> LinkQuerySet:
        """Those that begin or end at one of the memories."""
        ends = [memory.pk for memory in memories]
        return self.filter(Q(source__in=ends) | Q(target__in=ends))

    def holding(self) -> LinkQuerySet:
        """All but contradictions of what isn't in use any more."""
        from memories.models import Status

        in_use = Q(source__status=Status.ACTIVE, target__status=Status.ACTIVE)
        return self.filter(in_use | ~Q(type=self.model.Type.CONTRADICTS))

    def seen_from(self, memory: Memory) -> LinkQuerySet:
        """In the order of a memory's page: what it supersedes, what supersedes it, what contradicts it, the
        rest; each by the number of the other memory.
        """
        types = self.model.Type
        place = Case(
            When(type=types.SUPERSEDES, source=memory, then=Value(0)),
            When(type=types.SUPERSEDES, then=Value(1)),
            When(type=types.CONTRADICTS, then=Value(2)),
            default=Value(3),
            output_field=IntegerField(),
        )
        other = Case(When(source=memory, then=F("target__number")), default=F("source__number"))
        return self.annotate(place=place, other=other).order_by("place", "other", "pk")

    def after(self, place: int, other: int, pk: int) -> LinkQuerySet:
        """What follows a link in the order of `seen_from`."""
        later = Q(other__gt=other) | Q(other=other, pk__gt=pk)
        return self.filter(Q(place__gt=place) | Q(later, place=place))

    def said_on_pages(self) -> LinkQuerySet:
        """What a page says, with both ends but not their texts: all but who is not similar."""
        heavy = ("body", "details", "retrieval_hints")
        return (
            self.exclude(type=self.model.Type.NOT_SIMILAR)
            .select_related("source", "target")
            .defer(*(f"{end}__{name}" for end in ("source", "target") for name in heavy))
        )


class RevisionQuerySet(models.QuerySet["Revision"]):
    """Revisions of memories."""

    def visible_to(self, user: User) -> RevisionQuerySet:
        """Of memories that `user` may read, those that they might read when it was written.

        What was written in private is for its author alone, what was written shared for the members.
        """
        from memories.models import Visibility

        written_open = Q(visibility=Visibility.PUBLIC) | Q(
            visibility=Visibility.SHARED, memory__project__in=user.memberships.values("project")
        )
        return self.filter(readable_by(user, "memory__")).filter(Q(memory__author=user) | written_open)

    def visible_to_staff(self) -> RevisionQuerySet:
        """Of memories that the admin shows; what was written in private is not shown."""
        from memories.models import Visibility

        return self.filter(readable_by_staff("memory__")).exclude(visibility=Visibility.PRIVATE)

    def of(self, memory: Memory) -> RevisionQuerySet:
        return self.filter(memory=memory).with_names().order_by("-version")

    def with_names(self) -> RevisionQuerySet:
        """With who did it and who approved it, without what was proposed."""
        heavy = ("review__fields", "review__edits", "review__links", "review__reason")
        return self.select_related("actor", "review__decided_by").defer(*heavy)

    def carrying(self, review: Review) -> RevisionQuerySet:
        """Those that carried out a proposal, each with its memory."""
        rows = self.filter(review=review).select_related("memory").order_by("memory__number", "version")
        return rows.defer("fields", "memory__body", "memory__details")

    def current(self) -> RevisionQuerySet:
        """Of each memory the one that made it what it is."""
        return self.filter(version=F("memory__version"))

    def after(self, version: int) -> RevisionQuerySet:
        """Newer than that version."""
        return self.filter(version__gt=version)

    def before(self, version: int) -> RevisionQuerySet:
        """Older than that version."""
        return self.filter(version__lt=version)

    def of_versions(self, versions: Iterable[int]) -> RevisionQuerySet:
        return self.filter(version__in=list(versions))

    def in_project(self, project: Project) -> RevisionQuerySet:
        return self.filter(memory__project=project)

    def latest_first(self) -> RevisionQuerySet:
        """In the order of writing, newest first, each with its memory and actor."""
        rows = self.select_related("memory", "actor", "review__decided_by")
        heavy = ("memory__body", "memory__details", "review__fields", "review__edits")
        return rows.defer(*heavy).order_by("-pk")

    def without_values(self) -> RevisionQuerySet:
        """Who, when and why, without what: values may be long."""
        return self.defer("fields")

    def oldest_first(self) -> RevisionQuerySet:
        return self.order_by(F("version").asc())


class PartQuerySet(models.QuerySet[Any]):
    """Tags and scope paths: as visible as their memory."""

    def visible_to_staff(self) -> PartQuerySet:
        return self.filter(readable_by_staff("memory__"))
