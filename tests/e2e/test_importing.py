"""A file comes in by the browser: chosen, looked at, followed while it is worked on, imported."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from memories.models import Memory
from memoryhub.exchange import uploading
from memoryhub.exchange.models import Upload
from tests.e2e.conftest import Hub

pytestmark = pytest.mark.django_db(transaction=True)

Check = Callable[[Page], None]
TEXT = b"# Harbor\n\n## Moorings\n\nBoats that stay over night lie at the northern quay.\n"
FILE = {"name": "CLAUDE.md", "mimeType": "text/markdown", "buffer": TEXT}


def test_a_file_is_looked_at_followed_and_imported(hub: Hub, axe: Check) -> None:
    page = hub.open(hub.store.owner, width=390, theme="dark")
    said = page.locator("#announcement")

    def fine(name: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        hub.shot(page, f"import-{name}-390-dark")
        axe(page)

    page.goto("/p/harbor/exchange/")
    page.get_by_label("Drop a file here").set_input_files([FILE])  # type: ignore[list-item]
    fine("chosen")
    page.get_by_role("button", name="Preview the import").click()
    expect(page.get_by_text("Nothing is changed yet. 1 of 1 entries would be created.")).to_be_visible()
    expect(page.get_by_label("One by one")).to_contain_text("Moorings (CLAUDE.md, line 3)")
    fine("planned")
    # A large file is looked at by a thread of the server: what that says of itself is told here.
    upload = Upload.objects.get()
    Upload.objects.update(status=Upload.Status.LOOKING)
    uploading._say_how_far(upload, "Comparing", 1, 4)
    page.reload()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "25")
    fine("working")
    uploading._say_how_far(upload, "Comparing", 5, 8)
    expect(said).to_have_text("Comparing: 50 %.")
    expect(page.get_by_text("Comparing: 62 %.")).to_be_visible()
    Upload.objects.update(status=Upload.Status.PLANNED)
    expect(said).to_have_text("Nothing is changed yet. 1 of 1 entries would be created.")
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_text("Imported. 1 created, 0 links.")).to_be_visible()
    fine("imported")
    page.get_by_role("link", name="To the memories").click()
    expect(page.get_by_role("link", name=re.compile("Moorings"))).to_be_visible()
    assert Memory.objects.get(title="Moorings").origin == "import"
