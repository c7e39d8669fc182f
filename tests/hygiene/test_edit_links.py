"""A finding that takes an edit of the text leads to the form, at the field where it is mended."""

from __future__ import annotations

import pytest

from memories.models import Memory
from projects.models import Project, User
from tests.factories import MemoryFactory
from tests.memories.filling import browser, text_of

pytestmark = pytest.mark.django_db


def test_a_finding_leads_to_the_field_where_it_is_mended(alice: User, rick: User, project: Project) -> None:
    garbled = MemoryFactory(project=project, title="CafÃ© opening hours", tags=["a"])
    broken = MemoryFactory(project=project, title="Links", body="See [the plan]().", tags=["a"])
    bare = MemoryFactory(project=project, title="Bare", tags=["a"])
    untagged = MemoryFactory(project=project, title="Without a tag")
    Memory.objects.filter(pk=bare.pk).update(summary="")
    leads = {
        f"/p/harbor/memories/{garbled.number}/edit/#id_title": "quality",
        f"/p/harbor/memories/{broken.number}/edit/#id_body": "quality",
        f"/p/harbor/memories/{bare.number}/edit/#id_summary": "missing_summary",
    }
    for address, rule in leads.items():
        page = text_of(browser(alice).get("/p/harbor/hygiene/", {"rule": rule}))
        assert f'href="{address}"' in page
        where, _, anchor = address.partition("#")
        assert f'id="{anchor}"' in text_of(browser(alice).get(where))
        assert f'href="{address}"' not in text_of(browser(rick).get("/p/harbor/hygiene/", {"rule": rule}))
    page = text_of(browser(alice).get("/p/harbor/hygiene/", {"rule": "quality"}))
    assert f"/memories/{untagged.number}/edit/" not in page
