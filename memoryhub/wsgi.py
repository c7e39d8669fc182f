"""The WSGI door: `memoryhub.wsgi:application`."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")

application = get_wsgi_application()
# What the addresses lead to is loaded now, before workers are forked off: one that dies is replaced in
# a moment, and no caller waits for the first look at a page.
get_resolver().url_patterns  # noqa: B018
