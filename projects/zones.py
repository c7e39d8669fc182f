"""The time zones that people can choose."""

from __future__ import annotations

import zoneinfo
from functools import cache


@cache
def known_zones() -> frozenset[str]:
    """Every name of the IANA data base, such as Australia/Melbourne.

    Read once: it walks a folder of 600 files, and pages ask with each request.
    """
    return frozenset(zoneinfo.available_timezones())
