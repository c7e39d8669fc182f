"""Pictures of the demo: those of the README, and with `--all FOLDER` every page, to be looked at.

`make pictures` writes docs/*.png. A new demo in a new folder is served for it, and goes with it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = {390: 844, 1024: 768, 1440: 900}
THEMES = ("light", "dark")
README = {"overview": "/p/lantern-shop/"}
# What the README's pictures measure.
WIDTH, HEIGHT = 1280, 800
# Somebody's own hub is not to be shown, nor written to.
NOT_THE_DEMOS = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "MEMORYHUB_URL", "ALLOWED_HOSTS")
# What no link leads to.
OTHERS = {
    "search": "/search/?q=recall",
    "nothing-found": "/p/lantern-shop/memories/?q=zeppelin",
    "not-here": "/p/lantern-shop/nowhere/",
}


@contextmanager
def demo() -> Iterator[tuple[str, str]]:
    """A served demo: its address, and its password."""
    with tempfile.TemporaryDirectory(prefix="memoryhub-pictures-") as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        free.close()
        given = {name: value for name, value in os.environ.items() if name not in NOT_THE_DEMOS}
        given |= {"MEMORYHUB_DATA": folder, "PORT": port, "PYTHONUNBUFFERED": "1"}
        server = subprocess.Popen(
            [sys.executable, "-m", "memoryhub.run"],
            cwd=ROOT,
            env=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield f"http://127.0.0.1:{port}", _password(server)
        finally:
            server.terminate()
            server.wait(30)


def _password(server: subprocess.Popen[str]) -> str:
    """What the server says of the demo, when it listens."""
    said, found = "", ""
    assert server.stdout is not None
    for line in server.stdout:
        said += line
        if match := re.search(r"password (\S+)", line):
            found = match[1]
        if "Booting worker" in line:
            return found
    sys.exit(f"The server didn't start:\n{said}")


def sign_in(page: Page, password: str) -> None:
    """As the demo's owner."""
    page.goto("/sign-in/")
    page.get_by_label("Name").fill("demo")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", level=1).wait_for()


def of_readme(page: Page) -> None:
    """What the README shows, in the light theme."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    for name, address in README.items():
        page.goto(address)
        page.screenshot(path=ROOT / "docs" / f"{name}.png")


def of_all(page: Page, folder: Path) -> None:
    """One page of every route, at every width and in both themes; their names are the routes'."""
    from tests.e2e.crawling import crawl

    folder.mkdir(parents=True, exist_ok=True)
    # The project with work in flight, and the one that needs a clean-up.
    for start in ("/p/memoryhub/", "/p/lantern-shop/"):
        for route, _ in crawl(page, start):
            _at_every_look(
                page, folder, re.sub(r"\W+", "-", re.sub("<.*?>/?", "", route)).strip("-") or "home"
            )
    for name, address in OTHERS.items():
        page.goto(address)
        _at_every_look(page, folder, name)


def _at_every_look(page: Page, folder: Path, name: str) -> None:
    while (folder / f"{name}-390-light.png").exists():
        name += "-one"
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.reload()
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True)


def main() -> None:
    """Take the pictures that were asked for."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--all", metavar="FOLDER", type=Path, help="every page, into this new folder")
    folder = asked.parse_args().all
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Pictures need Debian's chromium: apt install chromium.")
    with demo() as (url, password), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox"])
        page = browser.new_page(base_url=url, reduced_motion="reduce")
        sign_in(page, password)
        of_all(page, folder) if folder else of_readme(page)
        browser.close()


if __name__ == "__main__":
    main()
