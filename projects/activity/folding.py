"""What the operator's commands did in one go, as one: else upkeep buries what people and agents did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils import timezone

from projects.activity.sources import Event


@dataclass(frozen=True)
class Run:
    """Events that stand together, newest first; most are one alone."""

    events: Sequence[Event]

    @property
    def newest(self) -> Event:
        return self.events[0]

    @property
    def is_folded(self) -> bool:
        return len(self.events) > 1


def folded(events: Iterable[Event]) -> Iterator[Run]:
    """Neighbours that the operator did in the same session on the same day of the reader as one row."""
    for _, together in groupby(enumerate(events), key=lambda each: _kind_of(*each)):
        yield Run([event for _, event in together])


def _kind_of(at: int, event: Event) -> tuple[object, ...]:
    if event.who.person:
        return (at,)
    return ("operator", event.who.door, event.who.session, timezone.localdate(event.at))
