"""A file on its way through the page: received, looked at, confirmed, imported, dropped."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memories.models import Memory
from memories.services import erase_memory
from memoryhub.exchange import uploading
from memoryhub.exchange.models import Conflict, Upload
from memoryhub.exchange.paging import CONFLICTS, UPLOADS
from memoryhub.exchange.plan import LISTED_MAX, Outcome, Plan
from memoryhub.exchange.snapshot_kind import report_of
from memoryhub.exchange.uploading import drop_old_uploads, file_of
from projects.models import Project, Role, User
from tests.exchange.rich import packed
from tests.factories import MemoryFactory, ProjectFactory, member, person
from tests.tasks.pages import many_tasks

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.UPLOADS_DIR = tmp_path / "uploads"
    return tmp_path / "uploads"


@pytest.fixture
def data(project: Project, alice: User) -> bytes:
    """The snapshot of another project, with one memory."""
    other = ProjectFactory(slug="other")
    MemoryFactory(project=other, title="Brought <b>along</b>")
    return packed(other)


ANNOUNCED = 'id="announcement" hx-swap-oob="innerHTML">'


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def send(client: Client, data: bytes, name: str = "other.json.gz") -> HttpResponse:
    return client.post("/p/harbor/exchange/", {"file": SimpleUploadedFile(name, data)})


def test_a_file_is_shown_first_and_imported_once_confirmed(alice: User, data: bytes, folder: Path) -> None:
    client = browser(alice)
    page = client.get(send(client, data)["Location"])
    assert b"What would happen" in page.content
    assert b"memories" in page.content
    assert not Memory.objects.filter(project__slug="harbor").exists()
    upload = Upload.objects.get()
    assert file_of(upload).stat().st_mode & 0o777 == 0o600
    done = client.post(reverse("exchange:apply", args=["harbor", upload.uid]), follow=True)
    assert b"Imported." in done.content
    assert Memory.objects.get(project__slug="harbor").title == "Brought <b>along</b>"
    brought = Memory.objects.select_related("project").get(project__slug="harbor")
    erase_memory(actor=person(alice), memory=brought)
    assert Upload.objects.get().report == {}
    # The file has gone, and it isn't imported again.
    assert list(folder.iterdir()) == []
    assert client.post(reverse("exchange:apply", args=["harbor", upload.uid])).status_code == 409


def test_what_is_no_file_for_it_is_refused_and_leaves_nothing(alice: User, data: bytes, folder: Path) -> None:
    client = browser(alice)
    assert send(client, b"just text", "notes.bin").status_code == 422
    assert send(client, b"").status_code == 422
    assert client.post("/p/harbor/exchange/").status_code == 422
    assert not Upload.objects.exists()
    assert not folder.exists() or list(folder.iterdir()) == []
    refused = client.get(send(client, data[:-50])["Location"])
    assert b"is cut" in refused.content
    assert b"Import it" not in refused.content


def test_a_file_over_the_limit_is_refused(alice: User, data: bytes, settings: Any) -> None:
    settings.IMPORT_MAX_BYTES = 100_000
    client = browser(alice)
    assert send(client, b"\x1f\x8b" + b"x" * 120_000).status_code == 413
    assert send(client, b"\x1f\x8b" + b"x" * 3_000_000).status_code == 413


def test_a_hostile_name_stays_inside_its_folder(alice: User, data: bytes, folder: Path) -> None:
    client = browser(alice)
    for name in ("../../etc/passwd.gz", "...gz", "a\\b\\..\\c.gz", ".progress", "x" * 300 + ".gz"):
        send(client, data, name)
    for upload in Upload.objects.all():
        assert file_of(upload).resolve().is_relative_to(folder.resolve() / upload.uid.hex)
        assert file_of(upload).is_file()


def test_an_upload_is_its_owners_alone(project: Project, alice: User, data: bytes) -> None:
    send(browser(alice), data)
    upload = Upload.objects.get()
    olga = member(project, "olga", Role.OWNER)
    for name in ("upload", "apply", "discard"):
        path = reverse(f"exchange:{name}", args=["harbor", upload.uid])
        other = browser(olga)
        assert (other.get(path) if name == "upload" else other.post(path)).status_code == 404
    assert b"other.json.gz" not in browser(olga).get("/p/harbor/exchange/").content
    Project.objects.get(pk=project.pk).memberships.filter(user=alice).update(role=Role.REVIEWER)
    assert browser(alice).get(reverse("exchange:upload", args=["harbor", upload.uid])).status_code == 403


def test_a_file_without_the_pages_token_is_refused(alice: User, data: bytes) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert send(client, data).status_code == 403
    assert not Upload.objects.exists()


def test_a_page_asks_again_while_a_file_is_worked_on(alice: User, data: bytes) -> None:
    client = browser(alice)
    send(client, data)
    upload = Upload.objects.get()
    Upload.objects.update(status="applying")
    uploading._say_how_far(upload, "Imported", 30, 120)
    path = reverse("exchange:upload", args=["harbor", upload.uid])
    part = client.get(path, headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 1s"' in part
    assert ANNOUNCED in part
    # What was said already isn't said every second.
    assert "?told=Imported%3A%2025%20%25" in part
    asked = {"told": "Imported: 25 %"}
    assert ANNOUNCED not in client.get(path, asked, headers={"HX-Request": "true"}).content.decode()
    uploading._say_how_far(upload, "Imported", 60, 120)
    again = client.get(path, asked, headers={"HX-Request": "true"}).content.decode()
    assert f"{ANNOUNCED}Imported: 50 %." in again
    assert ANNOUNCED not in client.get(path).content.decode()
    assert "25 %" in part
    assert "<html" not in part
    assert client.post(reverse("exchange:discard", args=["harbor", upload.uid])).status_code == 409
    # Its server went: it says so instead of waiting for ever.
    uploading._sign(upload).unlink()
    Upload.objects.update(updated_at=timezone.now() - dt.timedelta(hours=1))
    ended = client.get(path, asked, headers={"HX-Request": "true"}).content.decode()
    assert "interrupted" in ended
    assert f"{ANNOUNCED}Nothing was imported. The page says why." in ended


def test_old_files_go_and_another_makes_room(alice: User, data: bytes, folder: Path) -> None:
    client = browser(alice)
    for _ in range(uploading.KEPT_MAX + 2):
        send(client, data)
    assert Upload.objects.count() == len(list(folder.iterdir())) == uploading.KEPT_MAX
    Upload.objects.update(updated_at=timezone.now() - dt.timedelta(days=2))
    drop_old_uploads()
    assert (Upload.objects.count(), list(folder.iterdir())) == (0, [])


def test_conflicts_stand_on_the_page_for_reviewers(project: Project, alice: User, bob: User) -> None:
    memory = MemoryFactory(project=project, author=alice, title="Retries")
    at = {"kept_at": memory.created_at, "lost_at": memory.created_at}
    both = {"kept": {"body": "stands <i>"}, "lost": {"body": "lost <i>"}}
    Conflict.objects.create(project=project, memory=memory, lost_by="here", digest="x", **at, **both)
    page = browser(alice).get("/p/harbor/exchange/").content.decode()
    assert "lost &lt;i&gt;" in page
    assert "lost &lt;i&gt;" not in browser(bob).get("/p/harbor/exchange/").content.decode()


def test_what_a_page_does_not_hold_is_on_the_next(project: Project, alice: User, bob: User) -> None:
    kept = {"project": project, "user": alice, "size": 1, "status": "applied"}
    names = [f"file-{n}.md" for n in range(2 * UPLOADS + 1)]
    Upload.objects.bulk_create(Upload(name=name, **kept) for name in names)
    tasks = many_tasks(project, alice, 2 * CONFLICTS + 1)
    at = {"kept_at": tasks[0].created_at, "lost_at": tasks[0].created_at, "met_at": tasks[0].created_at}
    Conflict.objects.bulk_create(
        Conflict(project=project, task=task, lost_by="here", digest=f"{task.number}", **at) for task in tasks
    )
    subjects = [f"#{task.number}" for task in tasks]
    client, other = browser(alice), browser(member(project, "olga", Role.OWNER))

    def rows(client: Client, address: str, link: str) -> list[str]:
        return re.findall(link, client.get(address).content.decode())

    for query, most, link, wanted in (
        ("uploads", UPLOADS, r'line__text" href="[^"]*">([^<]*)<', names[::-1]),
        ("conflicts", CONFLICTS, r'conflict__head"><a class="link" href="[^"]*">([^<]*)<', subjects[::-1]),
    ):
        addresses = ["/p/harbor/exchange/"]
        while more := re.search(
            rf'href="(\?{query}=[^"#]+)#{query}"', client.get(addresses[-1]).content.decode()
        ):
            addresses.append(addresses[0] + more[1])
        assert [rows(client, address, link) for address in addresses] == [
            wanted[start : start + most] for start in (0, most, 2 * most)
        ]
        assert f'href="{addresses[0]}#{query}">Newest' in client.get(addresses[-1]).content.decode()
        # Made up, or of another reader, a cursor opens the first page.
        assert rows(client, f"{addresses[0]}?{query}=abc", link) == wanted[:most]
        assert rows(other, addresses[-1], link) == ([] if query == "uploads" else wanted[:most])
        assert "Nothing more." not in other.get(addresses[-1]).content.decode()


def test_rows_of_a_snapshot_beyond_the_first_are_counted() -> None:
    plan = Plan("harbor", is_new=False)
    for n in range(LISTED_MAX):
        plan.note("memory", Outcome.TAKEN, f"#{n}")
    assert report_of(plan).more == 0
    plan.note("memory", Outcome.SAME, "#7")
    plan.note("memory", Outcome.ERASED, "#8")
    assert (len(report_of(plan).lines), report_of(plan).more) == (LISTED_MAX, 1)
