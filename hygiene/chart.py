"""The score as it is drawn: a ring, and its history as a line with a table behind it.

Numbers for the attributes of an SVG; words for whoever doesn't look at it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from hygiene.models import Score
from projects.models import Project

DAYS = 90
# The box that the line is drawn in: a unit a point of the score, four a day.
A_DAY = 4
WIDTH, HEIGHT = A_DAY * DAYS, 100
# Of the ring, at which its arc is whole.
RADIUS = 48
AROUND = 302


@dataclass(frozen=True)
class Ring:
    """A score beside the project's threshold."""

    score: int
    threshold: int

    @property
    def arc(self) -> int:
        """How much of the ring is drawn."""
        return AROUND * self.score // 100

    @property
    def is_low(self) -> bool:
        return self.score < self.threshold

    @property
    def says(self) -> str:
        """The state in words."""
        return "Needs a clean-up" if self.is_low else "In good shape"


@dataclass(frozen=True)
class Day:
    """The score at the end of one day, and how much it changed since the entry before."""

    day: dt.date
    score: int
    change: int | None = None


@dataclass(frozen=True)
class History:
    """The last days that have an entry, oldest first."""

    days: Sequence[Day]
    today: dt.date
    threshold: int

    @property
    def path(self) -> str:
        """The line as the `d` of an SVG path. A single day is a short stroke at its place."""
        points = [(self._x(day.day), HEIGHT - day.score) for day in self.days]
        if not points:
            return ""
        (x, y), *others = points
        return f"M{max(x - 4, 0)} {y}H{x}" + "".join(f"L{x} {y}" for x, y in others)

    @property
    def threshold_y(self) -> int:
        return HEIGHT - self.threshold

    @property
    def says(self) -> str:
        """What the line shows, in words."""
        if not self.days:
            return "No history yet"
        first, last = self.days[0], self.days[-1]
        if len(self.days) == 1:
            return f"Score {last.score} on {last.day}"
        return f"Score from {first.score} on {first.day} to {last.score} on {last.day}"

    @property
    def days_below(self) -> int:
        """For how many days the score has been below the threshold without a break."""
        since = None
        for day in reversed(self.days):
            if day.score >= self.threshold:
                break
            since = day.day
        return (self.today - since).days if since else 0

    @property
    def newest_first(self) -> Sequence[Day]:
        return self.days[::-1]

    def _x(self, day: dt.date) -> int:
        return WIDTH - A_DAY * (self.today - day).days


def history_of(project: Project, score: int, today: dt.date) -> History:
    """The history up to today, whose score is the given one: it may not be stored yet. One query."""
    first = today - dt.timedelta(days=DAYS)
    rows = Score.objects.of(project).since(first).last_of_each_day()
    scores = {row.day: row.score for row in rows if row.day <= today} | {today: score}
    days: list[Day] = []
    for day in sorted(scores):
        before = days[-1].score if days else None
        days.append(Day(day, scores[day], scores[day] - before if before is not None else None))
    return History(days, today, project.hygiene_threshold)
