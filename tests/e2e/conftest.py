"""A real browser on a live server. What a page logs as an error, or asks of another host, fails its test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from projects.attempts import attempts
from projects.models import User
from tests.e2e.store import Store, fill

# Playwright's sync API runs an event loop in this thread; Django would take it for async code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

_ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# What the browser and htmx report of every answer of 400 and up is the tests' own business; so is a request
# given up because the page is left.
_NO_PROBLEM = (
    "the server responded with a status of 4",
    "Response Status Error Code 4",
    "htmx:afterRequest,",
    "htmx:sendAbort,",
)
WIDTHS = {390: 844, 1024: 768, 1440: 900}
# Width and theme of the tests that look at what a page is only after something was done. The crawl looks at
# every page that links lead to, at each width and in both themes; here one is enough but for pictures.
LOOKS = [(390, "dark"), (1440, "light")] if os.environ.get("E2E_SHOTS") else [(390, "dark")]


@pytest.fixture(scope="session")
def shots() -> Path | None:
    """Where screenshots go, if somebody wants them: E2E_SHOTS."""
    named = os.environ.get("E2E_SHOTS")
    if named:
        Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named) if named else None


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's chromium."""
    chromium = shutil.which("chromium")
    assert chromium, "These tests need Debian's chromium: apt install chromium."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Hub:
    """The live server with its store, and a way to sit down before it."""

    url: str
    store: Store
    browser: Browser
    shots: Path | None
    contexts: list[BrowserContext] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def open(
        self, user: User | None = None, *, width: int = 1440, theme: str = "light", js: bool = True
    ) -> Page:
        """A new browser with its own cookies, signed in as `user`."""
        context = self.browser.new_context(
            viewport={"width": width, "height": WIDTHS.get(width, 900)},
            color_scheme=theme,  # type: ignore[arg-type]
            java_script_enabled=js,
            base_url=self.url,
            reduced_motion="reduce",
        )
        self.contexts.append(context)
        if user is not None:
            client = Client()
            client.force_login(user)
            cookie = client.cookies[settings.SESSION_COOKIE_NAME]
            context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": self.url}])
        page = context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", self._request)
        return page

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning") and not any(said in message.text for said in _NO_PROBLEM):
            self.problems.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.url).netloc:
            self.problems.append(f"request to elsewhere: {request.url}")

    def shot(self, page: Page, name: str, *, full_page: bool = True) -> None:
        """Keep a picture of the page, where they are wanted."""
        if self.shots:
            page.screenshot(path=self.shots / f"{name}.png", full_page=full_page)


@pytest.fixture
def hub(live_server: Any, browser: Browser, shots: Path | None) -> Iterator[Hub]:
    """A hub with a store; at the end nothing may have gone wrong in any of its pages."""
    attempts.clear()
    hub = Hub(live_server.url, fill(), browser, shots)
    yield hub
    for context in hub.contexts:
        context.close()
    assert not hub.problems, "\n".join(hub.problems)


@pytest.fixture
def axe() -> Callable[..., None]:
    """Fails a page that breaks a rule of axe-core; one rule alone where it is named.

    Without `preload` it reads no style sheets: of Django's it makes inline ones, which the policy refuses.
    """
    from axe_playwright_python.sync_playwright import Axe

    def check(page: Page, *rules: str, preload: bool = True) -> None:
        results = Axe().run(page, options={"preload": preload, **({"runOnly": list(rules)} if rules else {})})
        assert results.violations_count == 0, results.generate_report()

    return check
