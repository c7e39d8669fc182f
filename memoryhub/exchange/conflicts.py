"""Keeping what lost, and dropping it with what is erased."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q

from memories.models import Visibility
from memoryhub.exchange.models import Conflict, Side, Upload, UploadStatus
from memoryhub.exchange.values import encoded, to_line
from projects.models import Project


@dataclass(frozen=True)
class Version:
    """One side's version of something: what it says, and when it came to say so."""

    said: dict[str, Any]
    at: dt.datetime

    @property
    def digest(self) -> str:
        """Equal for equal versions, in every store."""
        return hashlib.sha256(to_line(self.said)).hexdigest()

    def wins_over(self, other: Version) -> bool:
        """The later one; of two at once the one with the larger digest."""
        return (self.at, self.digest) > (other.at, other.digest)


def said(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Of an entry's values those that a version is made of, as JSON has them."""
    return {name: encoded(values[name]) for name in names}


def keep_conflict(
    project: Project, about: dict[str, Model], *, kept: Version, lost: Version, lost_by: Side
) -> bool:
    """Put what lost on the list of conflicts; False where the same stands there already."""
    shown = [version.said.get("visibility", Visibility.SHARED) for version in (kept, lost)]
    _, created = Conflict.objects.get_or_create(
        digest=lost.digest,
        **about,
        defaults={
            "project": project,
            "visibility": min(shown, key=lambda one: Visibility(one).rank),
            "lost_by": lost_by,
            "kept_at": kept.at,
            "lost_at": lost.at,
            "kept": kept.said,
            "lost": lost.said,
        },
    )
    return bool(created)


def forget_conflicts(project: Project) -> None:
    """Nothing is kept of what was erased."""
    erased = (
        Q(memory__erased_at__isnull=False)
        | Q(task__erased_at__isnull=False)
        | Q(review__erased_at__isnull=False)
        | Q(review__memory__erased_at__isnull=False)
    )
    Conflict.objects.filter(erased, project=project).delete()
    # Reports name titles; which of them is the erased one's isn't kept.
    Upload.objects.filter(project=project, status=UploadStatus.APPLIED).update(report={})
