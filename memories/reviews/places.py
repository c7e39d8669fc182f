"""Where one stands: before the queue of a project, or before that of all projects one is in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.urls import reverse

from memories.errors import NoSuchReview
from memories.models import Review
from memories.reviews.listing import the_review
from memories.reviews.querysets import ReviewQuerySet
from memories.reviews.rights import reviews_in
from memoryhub.kernel.refs import read_number
from projects.loading import project_of
from projects.models import Project, Role, User

_REF = re.compile(r"(?:([a-z0-9-]{1,60})/)?(\d{1,10})")


@dataclass(frozen=True)
class Place:
    """The queue of one project, or that of `projects` together, each with the reader's `role`.

    It knows the addresses, and how a proposal is called in a form: by its number, or by project and number.
    """

    projects: Sequence[Project]
    project: Project | None = None

    @classmethod
    def of(cls, user: User, slug: str = "") -> Place:
        """That of the project at this address, or without one of all that aren't archived: what is archived
        decides nothing any more. Raises NoSuchProject.
        """
        if slug:
            project = project_of(user, slug)
            return cls([project], project)
        return cls(list(Project.objects.with_role_of(user).current().order_by("slug")))

    @property
    def is_everywhere(self) -> bool:
        return self.project is None

    @property
    def queue(self) -> str:
        return self._address("reviews")

    @property
    def news(self) -> str:
        return self._address("review_news")

    @property
    def several(self) -> str:
        """Where several are decided at once."""
        return self._address("review_decide_several")

    def review(self, review: Review) -> str:
        return self._address("review", review)

    def decide(self, review: Review) -> str:
        return self._address("review_decide", review)

    def edit(self, review: Review) -> str:
        return self._address("review_edit", review)

    def _address(self, name: str, review: Review | None = None) -> str:
        if self.project is not None:
            of_review = (review.number,) if review else ()
            return reverse(f"memories:{name}", args=(self.project.slug, *of_review))
        one = (review.project.slug, review.number) if review else ()
        return reverse(f"memories:every_{name}", args=one)

    def ref(self, review: Review) -> str:
        """What boxes and hidden fields call it."""
        return f"{review.project.slug}/{review.number}" if self.is_everywhere else str(review.number)

    def name(self, review: Review) -> str:
        """What people call it here: where several projects meet, with its project's name."""
        return f"{review.ref} of {review.project.name}" if self.is_everywhere else review.ref

    def read_ref(self, text: object) -> tuple[str, int] | None:
        """Slug and number of what a form calls so; None for what can't be one here. Never raises."""
        found = _REF.fullmatch(str(text or "").strip())
        if found is None:
            return None
        slug = self.project.slug if self.project is not None else found[1]
        number = read_number(found[2])
        if not slug or not number or (found[1] and self.project is not None):
            return None
        return slug, number

    def with_refs(self, refs: Iterable[tuple[str, int]]) -> ReviewQuerySet:
        """Of all proposals in this place those that are called so; the caller says who reads."""
        return Review.objects.in_projects(self.projects).with_refs(refs)

    def role_in(self, project: Project) -> Role | None:
        """The reader's role in a project of this place."""
        return self._roles.get(project.pk)

    @cached_property
    def _roles(self) -> dict[int, Role]:
        return {project.pk: Role(project.role) for project in self.projects}  # type: ignore[attr-defined]

    def the_review(self, user: User, slug: str, number: int) -> Review:
        """A proposal of this place, whole. Raises NoSuchReview."""
        for project in self.projects:
            if project.slug == slug:
                return the_review(project, user, number)
        raise NoSuchReview(number)

    @property
    def decides(self) -> bool:
        """Whether the reader is a reviewer in some project here that still changes."""
        return any(reviews_in(project, self.role_in(project)) for project in self.projects)

    @property
    def only_proposes(self) -> bool:
        """Whether he is none in some project here."""
        return not all(reviews_in(project, self.role_in(project)) for project in self.projects)
