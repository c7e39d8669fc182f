"""The daily upkeep of the hub: every project's, the tokens that expired long ago, and old calls."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils import timezone

from hygiene.services.tending import Stopped, Tended, tend
from projects.models import Project
from projects.services import prune_calls, prune_tokens

logger = logging.getLogger(__name__)


@dataclass
class Upkept:
    """What one run did."""

    projects: int = 0
    lowered: int = 0
    bagged: int = 0
    refused: int = 0
    failed: int = 0
    claims: int = 0
    tokens: int = 0
    calls: int = 0

    def add(self, done: Tended) -> None:
        self.projects += 1
        self.lowered += done.lowered
        self.bagged += done.bagged
        self.refused += done.refused
        self.claims += done.claims

    @property
    def summary(self) -> str:
        """One line for a log."""
        return (
            f"Upkeep: projects={self.projects} lowered={self.lowered} bagged={self.bagged} "
            f"refused={self.refused} failed={self.failed} claims_ended={self.claims} "
            f"tokens_pruned={self.tokens} calls_pruned={self.calls}"
        )


def keep_up(
    projects: Iterable[Project] | None = None,
    *,
    at: dt.datetime | None = None,
    stopped: Stopped = lambda: False,
    progress: Callable[[Project, Tended], None] = lambda project, done: None,
) -> Upkept:
    """The upkeep of these projects, or of all. One that fails is logged and doesn't hold up the rest."""
    at = at or timezone.now()
    total = Upkept()
    for project in list(Project.objects.order_by("slug")) if projects is None else projects:
        if stopped():
            return total
        try:
            done = tend(project, at=at, stopped=stopped)
        except Exception:
            logger.exception("the upkeep of %s failed", project.slug)
            total.failed += 1
            continue
        total.add(done)
        progress(project, done)
    total.tokens, total.calls = prune_tokens(at=at), prune_calls(at=at)
    return total
