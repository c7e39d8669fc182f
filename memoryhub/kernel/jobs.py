"""Background work that apps register: `manage.py work` does it, one process at a time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

# Asked between pieces of work: whether to leave the rest for the next time.
Stopped = Callable[[], bool]


@dataclass(frozen=True)
class Job:
    """A piece of work; `run` answers one line for the log, or none.

    Without `every` it is done once a UTC day.
    """

    name: str
    run: Callable[[Stopped], str]
    every: dt.timedelta | None = None

    def is_due(self, last: dt.datetime | None, at: dt.datetime) -> bool:
        """Whether it is to be done at this moment, having been done `last`."""
        # Done at a moment that is still to come: the clock was ahead then, and this one doesn't wait for it.
        if last is None or last > at:
            return True
        if self.every is not None:
            return last + self.every <= at
        return last.astimezone(dt.UTC).date() < at.astimezone(dt.UTC).date()


_jobs: dict[str, Job] = {}


def register_job(job: Job) -> None:
    """Add a job at start-up."""
    _jobs[job.name] = job


def all_jobs() -> list[Job]:
    return list(_jobs.values())
