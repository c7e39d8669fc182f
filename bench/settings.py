"""The product's settings with two things of the bench: the floor's address, and a counter of queries."""

from __future__ import annotations

from memoryhub.settings import *  # noqa: F403
from memoryhub.settings import MIDDLEWARE

ROOT_URLCONF = "bench.floor"
MIDDLEWARE.insert(0, "bench.queries.QueryCountMiddleware")
