"""The documents say what runs."""

from __future__ import annotations

import re

import pytest

from memoryhub.reference import FOLDER, PAGES, ROOT


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_is_what_runs(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "Run `manage.py write_reference` and commit the page."


def test_every_setting_that_is_read_is_listed() -> None:
    sources = [*(ROOT / "memoryhub").glob("*.py")]
    read = {name for source in sources for name in re.findall(r'env_\w+\(\s*"([A-Z_]+)"', source.read_text())}
    listed = set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert read == listed


def test_every_link_between_documents_leads_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    broken = []
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken
