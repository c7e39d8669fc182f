"""Times in the reader's zone: it is active while their request is answered."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from memoryhub.kernel.middleware import wants_json
from projects.zones import known_zones


class TimeZoneMiddleware:
    """Activates the zone of whoever is signed in; the threads of the server are used again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Programs get UTC, and without a session nobody is signed in: neither costs a query.
        if wants_json(request) or settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return self.get_response(request)
        name = getattr(request.user, "time_zone", "") or "UTC"
        zone = zoneinfo.ZoneInfo(name if name in known_zones() else "UTC")
        with timezone.override(zone):
            return self.get_response(request)
