"""Imports over REST: a file in a form or a text in JSON, looked at first, by contributors."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from memories.models import Memory, Review
from memoryhub.importing import api
from projects.models import Project, User
from projects.services import archive_project
from tests.factories import token_for
from tests.importing.shapes import context_folder, decision, entity, zipped

pytestmark = pytest.mark.django_db

AT = "/api/v1/projects/harbor/imports"


def sent(user: User, project: Project, **form: Any) -> Any:
    """The answer to a form."""
    token = token_for(user, project)[1]
    return Client().post(AT, form, headers={"Authorization": f"Bearer {token}"})


def asked(user: User, project: Project, **body: Any) -> Any:
    """The answer to JSON."""
    token = token_for(user, project)[1]
    headers = {"Authorization": f"Bearer {token}"}
    return Client().post(AT, json.dumps(body), content_type="application/json", headers=headers)


def lines(*items: Any) -> SimpleUploadedFile:
    return SimpleUploadedFile("memory.jsonl", "\n".join(json.dumps(item) for item in items).encode())


def test_a_zip_is_looked_at_and_then_imported(project: Project, bob: User, tmp_path: Path) -> None:
    entries = [decision("dec-1", "One"), decision("dec-2", "Two", related_to=["dec-1"])]
    data = zipped(tmp_path / "a.zip", context_folder(tmp_path / "in", decisions=entries)).read_bytes()
    seen = sent(bob, project, file=SimpleUploadedFile("a.zip", data)).json()
    assert (seen["result"], seen["format"], seen["total"], seen["links"]) == (
        "planned",
        "context-keeper",
        2,
        1,
    )
    assert seen["counts"]["new"] == 2
    assert not Memory.objects.exists()
    done = sent(bob, project, file=SimpleUploadedFile("a.zip", data), dry_run="false").json()
    assert (done["result"], done["created"], done["links"]) == ("applied", [1, 2], 1)
    assert done["session"].startswith("import-")
    again = sent(bob, project, file=SimpleUploadedFile("a.zip", data), dry_run="false").json()
    assert (again["created"], again["counts"]["known"]) == ([], 2)
    assert again["items"][0] == {
        "file": ".context/decisions.json",
        "line": 3,
        "fate": "known",
        "title": "One",
        "number": 1,
    }


def test_a_text_in_json_and_what_waits(project: Project, bob: User) -> None:
    project.review_policy = "agents"
    project.save()
    context = {"session": "mine-1"}
    text = "# Guide\n\n## Tests\n\nRun them.\n"
    answer = asked(bob, project, name="CLAUDE.md", text=text, dry_run=False, write_context=context)
    assert answer.status_code == 202
    assert (answer.json()["result"], answer.json()["waiting"]) == ("pending_review", [1])
    assert Review.objects.get().session == "mine-1"
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "Send either a file"),
        ({"name": "a.txt", "text": "x"}, "holds nothing"),
        ({"name": "a.md", "text": "x", "format": "pdf"}, "Must be one of"),
        ({"name": "a.md", "text": "x", "visibility": "all"}, "Must be one of"),
        ({"name": "a.md", "text": "x", "dry_run": "maybe"}, "true or false"),
        ({"file": "x"}, "multipart/form-data"),
        ({"name": "a.md", "text": "x", "colour": "red"}, "Unknown argument"),
    ],
)
def test_what_is_wrong_is_said(project: Project, bob: User, body: dict[str, Any], says: str) -> None:
    answer = asked(bob, project, **body)
    assert answer.status_code == 422
    assert says in answer.json()["message"]


def test_a_form_that_is_none_and_a_file_that_lies(project: Project, bob: User) -> None:
    token = token_for(bob, project)[1]
    headers = {"Authorization": f"Bearer {token}"}
    broken = Client().post(AT, "x", content_type="multipart/form-data", headers=headers)
    assert broken.status_code == 400
    assert "can't be read" in broken.json()["message"]
    file = SimpleUploadedFile("../../etc/a.zip", b"PK\x03\x04 and nothing more")
    assert sent(bob, project, file=file).status_code == 422
    assert not Memory.objects.exists()


def test_more_than_a_request_takes_is_refused_before_anything_is_written(
    project: Project, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "ENTRIES_MAX", 1)
    items = [entity("One", "It is one."), entity("Two", "It is two.")]
    assert sent(bob, project, file=lines(*items)).json()["total"] == 2
    refused = sent(bob, project, file=lines(*items), dry_run="false")
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert not Memory.objects.exists()


def test_who_may_not_write_sends_nothing(
    project: Project, alice: User, bob: User, rick: User, charlie: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(self: io.BytesIO) -> bytes:
        raise AssertionError("the body of somebody who may not write was read")

    with monkeypatch.context() as patched:
        patched.setattr(api.FormParser, "parse", read)
        assert sent(rick, project, file=lines(entity("One", "It."))).status_code == 403
        token = token_for(bob, project, rights=("read",))[1]
        headers = {"Authorization": f"Bearer {token}"}
        assert Client().post(AT, {"file": lines()}, headers=headers).status_code == 403
        assert Client().post(AT, {"file": lines()}).status_code == 401
    archive_project(by=alice, project=project)
    assert sent(bob, project, file=lines(entity("One", "It."))).status_code in (403, 409, 422)
    assert not Memory.objects.exists()


def test_a_page_of_the_hub_sends_with_its_token(project: Project, bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    refused = client.post(AT, {"file": lines(entity("One", "It."))})
    assert refused.status_code == 403
    client.get("/p/harbor/")
    token = client.cookies["csrftoken"].value
    form = {"file": lines(entity("One", "It.")), "dry_run": "false"}
    done = client.post(AT, form, headers={"X-CSRFToken": token})
    assert done.json()["created"] == [1]
    assert Memory.objects.get().origin == "import"
