"""An import that waits is one batch in the queue: seen as such, and decided together."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from memories.models import Link, Memory, Review
from memories.reviews import desk
from memories.services import add_memory, approve_review
from projects.models import Project, User
from tests.factories import agent, person
from tests.importing.bringing import imported
from tests.importing.shapes import context_folder, decision
from tests.memories.pages import read

pytestmark = pytest.mark.django_db

QUEUE = "/p/harbor/reviews/"
SESSION = "import-2026-11-30-abc"


@pytest.fixture
def batch(project: Project, bob: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Five proposals of an import, on pages of two; the address of the queue that is narrowed to them."""
    monkeypatch.setattr(desk, "PAGE", 2)
    project.review_policy = "agents"
    project.save()
    entries = [decision(f"dec-{n}", f"Choice {n}", related_to=["dec-1"]) for n in range(1, 6)]
    imported(context_folder(tmp_path, decisions=entries), project, bob, actor=agent(bob, SESSION))
    return f"{QUEUE}?session={SESSION}"


def test_the_whole_of_it_is_approved_in_one_go(
    client: Client, project: Project, rita: User, batch: str
) -> None:
    page = read(client, rita, batch)
    assert f"All 5 of session {SESSION}, on this page or not" in " ".join(page.split())
    sent = {"decision": "approve", "whole": "1"}
    response = client.post(f"{QUEUE}decide/?session={SESSION}", sent)
    assert "5 of 5 approved" in response.content.decode()
    assert [memory.origin for memory in Memory.objects.all()] == ["import"] * 5
    assert Link.objects.count() == 4


def test_what_comes_with_it_is_shown_before_it_is_approved(
    client: Client, project: Project, alice: User, bob: User, rita: User, batch: str, tmp_path: Path
) -> None:
    gone = [decision("dec-9", "Gone", status="deprecated", deprecated_reason="Never <b>built</b>.")]
    more = [*gone, decision("dec-2", "Choice 2", related_to=["dec-9"], tags=["more"])]
    imported(context_folder(tmp_path / "b", decisions=more), project, bob, actor=agent(bob, "import-2"))
    review = Review.objects.get(title="Gone")
    page = " ".join(read(client, rita, reverse("memories:review", args=["harbor", review.number])).split())
    assert "It keeps its days: made 2026-04-10, verified 2026-05-01." in page
    assert "It is archived at once: Never &lt;b&gt;built&lt;/b&gt;." in page
    assert "It is linked to 1 more of its import" in page
    approve_review(actor=person(rita), review=review)
    other = Review.objects.get(title="Choice 2", session="import-2")
    page = " ".join(read(client, rita, reverse("memories:review", args=["harbor", other.number])).split())
    assert "#1 Gone" in page
    assert "more of its import" not in page


def test_without_a_session_whole_means_nothing(client: Client, rita: User, batch: str) -> None:
    assert 'name="whole"' not in read(client, rita, QUEUE)
    assert client.post(f"{QUEUE}decide/", {"decision": "approve", "whole": "1"}).status_code == 422
    rejected = client.post(f"{QUEUE}decide/?session={SESSION}", {"decision": "reject", "whole": "1"})
    assert rejected.status_code == 422
    assert Review.objects.pending().count() == 5


def test_who_calls_a_session_the_same_is_not_approved_with_it(
    client: Client, project: Project, alice: User, rita: User, batch: str
) -> None:
    add_memory(actor=agent(alice, SESSION), project=project, kind="fact", title="Mine", summary="Not of it.")
    client.force_login(rita)
    sent = {"decision": "approve", "whole": "1"}
    refused = client.post(f"{QUEUE}decide/?session={SESSION}", sent)
    assert refused.status_code == 422
    assert "Several proposed under this name" in refused.content.decode()
    assert Review.objects.pending().count() == 6
    client.post(f"{QUEUE}decide/?session={SESSION}&proposer=user:bob", sent)
    assert [review.title for review in Review.objects.pending()] == ["Mine"]


def test_its_proposer_takes_all_of_it_back_and_a_member_decides_nothing(
    client: Client, bob: User, rick: User, batch: str
) -> None:
    address = f"{QUEUE}decide/?session={SESSION}"
    client.force_login(rick)
    client.post(address, {"decision": "approve", "whole": "1"})
    assert Review.objects.pending().count() == 5
    client.force_login(bob)
    client.post(address, {"decision": "approve", "whole": "1"})
    assert Review.objects.pending().count() == 5
    client.post(address, {"decision": "withdraw", "whole": "1"})
    assert {review.status for review in Review.objects.all()} == {"withdrawn"}
