"""What the doctor asks about what hygiene derives from memories. Reports, never repairs."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import F, Q

from hygiene.models import BagContents, SimilarPair
from memories.models import Visibility
from memoryhub.kernel.doctor import Finding
from projects.models import Project


def check_derived(project: Project) -> Iterator[Finding]:
    """Pairs stay in one project and never join what different people see."""
    pairs = SimilarPair.objects.filter(second__project=project)
    private_first = Q(first__visibility=Visibility.PRIVATE)
    private_second = Q(second__visibility=Visibility.PRIVATE)
    one_private = (private_first & ~private_second) | (~private_first & private_second)
    of_two_authors = private_first & private_second & ~Q(first__author=F("second__author"))
    wrong = pairs.filter(one_private | of_two_authors | ~Q(first__project=project)).count()
    if wrong:
        yield Finding.broken(f"{project.slug} compares {wrong} pairs of memories that different people see.")
    turned = pairs.filter(first__number__gt=F("second__number")).count()
    if turned:
        yield Finding.drifted(f"{project.slug} has {turned} similar pairs the wrong way round.")
    if BagContents.objects.filter(bag__project=project, bag__erased_at__isnull=False).exists():
        yield Finding.drifted(f"{project.slug} remembers what an erased bag held.")
