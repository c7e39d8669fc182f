"""The admin's door to memories: it agrees with the services, shows no private memory, loses nothing typed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from memories.models import Link, Memory, Revision, ScopePath, Tag
from memories.services import revise_memory
from projects.models import Project, User
from projects.services import archive_project
from tests.admin_client import act, errors, fill, grant, signed_in, staff, url
from tests.factories import DETAILS, MemoryFactory, person

ADD = reverse("admin:memories_memory_add")


def page(memory: Memory, name: str = "change") -> str:
    return url(Memory, name, memory.pk)


@pytest.fixture
def memory(project: Project, alice: User) -> Memory:
    return MemoryFactory(project=project, title="Ports", summary="The API listens on 8080.", body="One\nTwo")


def new(project: Project, **more: Any) -> dict[str, Any]:
    return {
        "project": project.pk,
        "title": "Ports",
        "summary": "The API listens on 8080.",
        "kind": "fact",
        **more,
    }


# --- adding and changing -------------------------------------------------------------


def test_a_memory_is_added_through_the_service(admin: Client, project: Project, root: User) -> None:
    details = json.dumps({"reason": DETAILS["constraint"]["reason"]})
    more = {
        "kind": "constraint",
        "details": details,
        "hardness": "absolute",
        "scope_paths": "src/api\r\n./hooks/\r\n",
        "tags": "api, ports\r\nhttp",
        "retrieval_hints": "which port, exactly\r\n\r\n listening address ",
        "body": "# Ports\r\n\r\n8080",
        "weight": "critical",
        "reason": "Asked twice.",
    }
    response = fill(admin, ADD, **new(project, **more))
    assert errors(response) == {}
    memory = Memory.objects.get(title="Ports")
    assert (memory.number, memory.author, memory.origin, memory.version) == (1, root, "user", 1)
    assert memory.body == "# Ports\n\n8080"
    assert memory.tag_names == ["api", "ports", "http"]
    assert memory.scope_paths == ["src/api", "hooks"]
    assert memory.retrieval_hints == ["which port, exactly", " listening address "]
    revision = memory.revisions.get()
    assert (revision.door, revision.actor, revision.reason) == ("admin", root, "Asked twice.")


def test_allowed_text_is_stored_exactly(admin: Client, project: Project) -> None:
    body = "\n  indented\n\ttab \u202e \u200b 漢字 \U0001f9e0 <script>alert(1)</script> {{ x }} \n "
    title = "  A \u202etitle  "
    assert errors(fill(admin, ADD, **new(project, body=body.replace("\n", "\r\n"), title=title))) == {}
    memory = Memory.objects.get()
    assert (memory.body, memory.title) == (body, title)
    # Opened and saved without a change, it stays what it is.
    assert errors(fill(admin, page(memory))) == {}
    memory.refresh_from_db()
    assert (memory.body, memory.version) == (body, 1)


def test_a_change_names_only_what_was_changed(admin: Client, memory: Memory) -> None:
    Memory.objects.filter(pk=memory.pk).update(summary="")  # as an import may leave it
    assert errors(fill(admin, page(memory), title="Ports of the API")) == {}
    memory.refresh_from_db()
    assert (memory.title, memory.summary, memory.version) == ("Ports of the API", "", 2)
    assert set(memory.revisions.first().fields) == {"title"}


def test_details_that_were_thin_before_stay_accepted(admin: Client, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="decision")
    thin = {"problem": "Thin.", "why_chosen": memory.details["why_chosen"], "tradeoffs": "Some."}
    Memory.objects.filter(pk=memory.pk).update(details=thin)
    changed = {**thin, "tradeoffs": "None."}
    assert errors(fill(admin, page(memory), details=json.dumps(changed))) == {}
    memory.refresh_from_db()
    assert memory.details == changed
    assert "details" in errors(
        fill(admin, page(memory), details=json.dumps({**changed, "problem": "Thinner"}))
    )


def test_details_lose_a_key_that_was_taken_out(admin: Client, project: Project) -> None:
    details = {**DETAILS["decision"], "tradeoffs": "Some."}
    memory = MemoryFactory(project=project, kind="decision", details=details)
    assert errors(fill(admin, page(memory), details=json.dumps(DETAILS["decision"]))) == {}
    memory.refresh_from_db()
    assert memory.details == DETAILS["decision"]


def test_a_memory_goes_into_a_bag_and_out_and_is_linked(
    admin: Client, project: Project, memory: Memory
) -> None:
    bag, older, other = (MemoryFactory(project=project) for _ in range(3))
    changed = {"parent": f"#{bag.number}", "supersedes": f"{older.number}", "related_to": f"#{other.number}"}
    assert errors(fill(admin, page(memory), **changed)) == {}
    memory.refresh_from_db()
    older.refresh_from_db()
    assert memory.parent == bag
    assert older.status == "superseded"
    assert set(memory.links_out.values_list("target", flat=True)) == {older.pk, other.pk}
    gone = {"parent": "", "unlink": str(other.number), "reason": "Not related after all."}
    assert errors(fill(admin, page(memory), **gone)) == {}
    memory.refresh_from_db()
    assert memory.parent is None
    assert memory.links_out.standing().count() == 1


def test_a_conflict_keeps_what_was_typed_and_shows_what_is_stored(
    admin: Client, memory: Memory, alice: User
) -> None:
    form = admin.get(page(memory)).context["adminform"].form
    assert form["expected_version"].value() == 1
    revise_memory(actor=person(alice), memory=memory, expected_version=1, summary="It listens on 9090.")
    sent = {"expected_version": 1, "summary": "It listens on 7070.", "body": "Mine"}
    response = fill(admin, page(memory), **sent)
    found = errors(response)
    assert "version 2, you edited version 1" in found["__all__"][0]
    assert found["summary"] == ["Is now: It listens on 9090."]
    assert b"It listens on 7070." in response.content
    assert b"Mine" in response.content
    memory.refresh_from_db()
    assert (memory.summary, memory.body, memory.version) == ("It listens on 9090.", "One\nTwo", 2)
    # And once more the same: nobody overwrites by pressing the button again.
    assert "__all__" in errors(fill(admin, page(memory), **sent))


@pytest.mark.parametrize("version", ["", "x", "0", "-1", "99999999999999999999", None])
def test_a_form_without_a_good_version_writes_nothing(admin: Client, memory: Memory, version: Any) -> None:
    found = errors(fill(admin, page(memory), expected_version=version, title="New"))
    assert "Open the memory again" in found["__all__"][0]
    memory.refresh_from_db()
    assert memory.version == 1


BAD = [
    ({"title": ""}, {"title"}),
    ({"title": " \t "}, {"title"}),
    ({"title": "x" * 121}, {"title"}),
    ({"title": "a\x00b"}, {"title"}),
    ({"title": "a\x07b"}, {"title"}),
    ({"title": "a\r\nb"}, {"title"}),
    ({"summary": ""}, {"summary"}),
    ({"summary": "x" * 281}, {"summary"}),
    ({"summary": "one\r\ntwo"}, {"summary"}),
    ({"summary": "# Heading"}, {"summary"}),
    ({"summary": "**bold** words"}, {"summary"}),
    ({"summary": "see [this](x)"}, {"summary"}),
    ({"body": "x" * 100_001}, {"body"}),
    ({"body": "a\x9bb"}, {"body"}),
    ({"body": "key AKIA" + "IOSFODNN7EXAMPLQ"}, {"body"}),
    ({"kind": "thought"}, {"kind"}),
    ({"kind": ""}, {"kind"}),
    ({"weight": "heavy"}, {"weight"}),
    ({"visibility": "private"}, {"visibility"}),
    ({"visibility": ""}, {"visibility"}),
    ({"hardness": "hard"}, {"hardness"}),
    ({"hardness": "absolute"}, {"hardness"}),
    ({"kind": "constraint", "hardness": ""}, {"hardness", "details"}),
    ({"kind": "decision", "details": '{"problem": "short"}'}, {"details"}),
    ({"details": "{"}, {"details"}),
    ({"details": "[1]"}, {"details"}),
    ({"details": '"text"'}, {"details"}),
    ({"details": '{"reason": 1}'}, {"details"}),
    ({"details": "[" * 100_000}, {"details"}),
    ({"kind": "pipeline", "details": '{"purpose": "a\\ud800b"}'}, {"details"}),
    ({"kind": "pipeline", "details": '{"purpose": "a\\u0000b"}'}, {"details"}),
    ({"kind": "pipeline", "details": '{"purpose": NaN}'}, {"details"}),
    ({"tags": "No Tag!"}, {"tags"}),
    ({"tags": "a,b,c,d,e,f"}, {"tags"}),
    ({"tags": "x" * 31}, {"tags"}),
    ({"retrieval_hints": "\r\n".join("abcdefg")}, {"retrieval_hints"}),
    ({"retrieval_hints": "x" * 121}, {"retrieval_hints"}),
    ({"scope_paths": "../up"}, {"scope_paths"}),
    ({"scope_paths": "src/*.py"}, {"scope_paths"}),
    ({"scope_paths": "src"}, {"scope_paths"}),
    ({"parent": "none"}, {"parent"}),
    ({"parent": "-1"}, {"parent"}),
    ({"parent": "99999999999"}, {"parent"}),
    ({"related_to": "1, two"}, {"related_to"}),
    ({"reason": "x" * 1001}, {"reason"}),
    ({"reason": "a\x00b"}, {"reason"}),
    (
        {"title": "", "summary": "x" * 281, "tags": "No!", "details": "{", "parent": "x"},
        {"title", "summary", "tags", "details", "parent"},
    ),
]


@pytest.mark.parametrize(("typed", "fields"), BAD)
def test_bad_input_names_every_bad_field_and_writes_nothing(
    admin: Client, project: Project, memory: Memory, typed: dict[str, Any], fields: set[str]
) -> None:
    before = (Memory.objects.count(), Revision.objects.count(), LogEntry.objects.count())
    for address, good in ((ADD, new(project, title="Other")), (page(memory), {})):
        sent = {**good, **typed}
        response = fill(admin, address, **sent)
        assert set(errors(response)) == fields, (address, errors(response))
        shown = response.context["adminform"].form
        for name, value in typed.items():
            assert shown[name].value() == value
    assert (Memory.objects.count(), Revision.objects.count(), LogEntry.objects.count()) == before
    memory.refresh_from_db()
    assert memory.version == 1


def test_a_secret_is_named_by_field_and_line_and_never_repeated_in_the_error(
    admin: Client, project: Project
) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    response = fill(admin, ADD, **new(project, body=f"one\r\n{secret}"))
    found = errors(response)
    assert set(found) == {"body"}
    assert "Line 2" in found["body"][0]
    assert secret not in str(found)


def test_a_refusal_of_the_service_stands_on_its_field(
    admin: Client, project: Project, memory: Memory
) -> None:
    bag = MemoryFactory(project=project)
    child = MemoryFactory(project=project, parent=bag)
    found = errors(fill(admin, page(memory), parent=str(child.number)))
    assert "bags have one level" in found["parent"][0]
    found = errors(fill(admin, page(child), weight="critical"))
    assert "stays at the top level" in found["parent"][0]
    found = errors(fill(admin, ADD, **new(project, summary="THE API  listens on 8080.", body="one two")))
    assert "says exactly this already" in found["__all__"][0]
    assert Memory.objects.count() == 3


def test_a_number_that_is_not_there_is_refused(admin: Client, project: Project, memory: Memory) -> None:
    found = errors(fill(admin, page(memory), parent="999", title="New"))
    assert "no memory #999" in found["__all__"][0]
    memory.refresh_from_db()
    assert memory.version == 1


def test_an_archived_project_refuses(admin: Client, project: Project, memory: Memory, alice: User) -> None:
    archive_project(by=alice, project=project)
    assert "archived" in errors(fill(admin, page(memory), title="New"))["__all__"][0]
    assert "project" in errors(fill(admin, ADD, **new(project)))


# --- who ------------------------------------------------------------------------------


def test_staff_need_the_permission_and_the_role(project: Project, memory: Memory, bob: User) -> None:
    outsider = staff("outsider", "memories.change_memory", "memories.view_memory")
    assert "role" in errors(fill(signed_in(outsider), page(memory), title="New"))["__all__"][0]
    grant(bob, "memories.view_memory")
    bob.is_staff = True
    bob.save()
    assert signed_in(bob).post(page(memory), {"title": "New"}).status_code == 403
    grant(bob, "memories.change_memory")
    assert errors(fill(signed_in(bob), page(memory), title="New")) == {}
    assert memory.revisions.first().actor == bob


def test_nothing_is_deleted(admin: Client, memory: Memory) -> None:
    assert admin.get(page(memory, "delete")).status_code == 403
    assert admin.post(page(memory, "delete"), {"post": "yes"}).status_code == 403
    act(admin, Memory, "delete_selected", memory)
    assert Memory.objects.filter(pk=memory.pk).exists()


@pytest.mark.parametrize("model", [Revision, Link, Tag, ScopePath])
def test_records_are_read_only(admin: Client, project: Project, memory: Memory, model: Any) -> None:
    details = DETAILS["constraint"]
    MemoryFactory(
        project=project,
        kind="constraint",
        details=details,
        tags=["a"],
        scope_paths=["src"],
        related_to=[memory.number],
    )
    row = model.objects.first()
    assert admin.get(url(model, "changelist")).status_code == 200
    assert admin.get(url(model, "change", row.pk)).status_code == 200
    assert admin.post(url(model, "change", row.pk), {"name": "b"}).status_code == 403
    assert admin.get(url(model, "add")).status_code == 403
    assert admin.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    act(admin, model, "delete_selected", row)
    assert model.objects.filter(pk=row.pk).exists()
