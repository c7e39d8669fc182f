"""Leases: a piece of background work is done by one process at a time, whichever engine and however many.

A row with a holder and an end. Taking it is one conditional update, so of two at once one gets it; who
dies lets it lapse. No lock of a connection: PostgreSQL's are shared through a pool.
"""

from __future__ import annotations

import datetime as dt

from django.db.models import Q

from hygiene.models import Lease

# Who looked at the clock a moment before another took the lease isn't behind, nor the other ahead.
_A_MOMENT = dt.timedelta(minutes=1)


def take_lease(name: str, holder: str, *, at: dt.datetime, lasting: dt.timedelta) -> Lease | None:
    """Take or extend the lease; None while another holds it."""
    Lease.objects.bulk_create([Lease(name=name, until=at)], ignore_conflicts=True)
    # One that ends much later than any that begins now was taken by a clock that was ahead: it holds nobody
    # up.
    lapsed = Q(until__lte=at) | Q(until__gt=at + lasting + _A_MOMENT)
    free = Lease.objects.filter(lapsed | Q(holder=holder), name=name)
    if not free.update(holder=holder, until=at + lasting):
        return None
    return Lease.objects.get(name=name)


def note_done(name: str, holder: str, *, at: dt.datetime) -> None:
    """Remember when the work was done, while the lease is still held."""
    Lease.objects.filter(name=name, holder=holder).update(done_at=at)


def give_back(holder: str, *, at: dt.datetime) -> None:
    """Let everything go that this holder has."""
    Lease.objects.filter(holder=holder).update(holder="", until=at)
