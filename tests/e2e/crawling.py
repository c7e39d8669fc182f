"""Every page that links lead to: from Home on, one page a route, and of the rest only whether they open."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.urls import Resolver404, resolve
from playwright.sync_api import Page

# Where a browser shows no page of ours: a file to keep, a report for machines, and what is Django's own.
NO_PAGES = ("/admin/", "/static/", "/api/", "/clients/", "/healthz", "/readyz")
_HREFS = "() => [...document.querySelectorAll('a[href]')].map((one) => one.href)"


def links(page: Page) -> list[str]:
    """The addresses on this host that the page links to, as `/p/x/?q=y`, each once, in the page's order."""
    host, found = urlsplit(page.url).netloc, {}
    for href in page.evaluate(_HREFS):
        parts = urlsplit(href)
        if parts.netloc == host and not parts.path.startswith(NO_PAGES):
            found[parts.path + (f"?{parts.query}" if parts.query else "")] = True
    return list(found)


def route_of(address: str) -> str:
    """What the URL map calls an address, as `p/<slug:slug>/tasks/`; itself if it knows none."""
    try:
        return str(resolve(urlsplit(address).path).route)
    except Resolver404:
        return address


def crawl(page: Page, *starts: str) -> Iterator[tuple[str, str]]:
    """Open a page of every route that can be reached, and each of `starts`; (route, address) while it shows.

    Addresses that differ in their query alone are pages of one route. What is downloaded is passed over.
    """
    seen, opened = set(starts), set[str]()
    for start in starts:
        waiting = [start]
        while waiting:
            address = waiting.pop(0)
            route = route_of(address)
            if (route in opened and address != start) or route.endswith("/file/"):
                continue
            opened.add(route)
            page.goto(address)
            new = [one for one in links(page) if one not in seen]
            yield route, address
            seen.update(new)
            waiting += new
