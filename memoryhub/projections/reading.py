"""What a projection may say: what every member reads, or what one reader does, with their private ones."""

from __future__ import annotations

from collections.abc import Iterator

from memories.models import Kind, Link, Memory
from memories.querysets import LinkQuerySet, MemoryQuerySet
from projects.models import Project, User


def memories_of(project: Project, reader: User | None) -> MemoryQuerySet:
    """In the order of their numbers, so that what is new comes last and a difference is short."""
    there = Memory.objects.in_project(project).order_by("number")
    return there.visible_to_members() if reader is None else there.visible_to(reader)


def successions(project: Project, reader: User | None) -> Iterator[Link]:
    """What replaced a decision or was replaced by one, as far as both may be read, in a fixed order."""
    seen = Link.objects.visible_to_members() if reader is None else Link.objects.visible_to(reader)
    return iter(_of_decisions(seen, project))


def _of_decisions(links: LinkQuerySet, project: Project) -> LinkQuerySet:
    replacing = links.standing().filter(type=Link.Type.SUPERSEDES, target__project=project)
    about = replacing.filter(target__kind=Kind.DECISION) | replacing.filter(source__kind=Kind.DECISION)
    return (
        about.order_by("source__number", "target__number")
        .select_related("source", "target")
        .only(
            "reason",
            "type",
            *(f"{end}__{name}" for end in ("source", "target") for name in ("number", "title")),
        )
    )
