"""What goes out in the browser and over REST is what whoever asks may see, and nothing tells of the rest."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memories.models import Memory, Origin, Revision
from memories.services import erase_memory
from memoryhub.exchange.files import lines
from memoryhub.exchange.importing import bring_snapshot
from memoryhub.exchange.plan import Outcome
from memoryhub.exchange.seeing import seen_by
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.errors import DomainError, Forbidden
from projects.models import Project, Role, User
from tests.exchange.rich import bring, content, packed, rich_project, wipe
from tests.factories import MemoryFactory, agent, member, person, receipt_in, token_for
from tests.memories.verbs import revise

pytestmark = pytest.mark.django_db


def seen(reader: User, project: Project) -> list[tuple[str, dict[str, Any]]]:
    return list(seen_by(reader, project))


def as_file(reader: User, project: Project) -> bytes:
    return gzip.compress(b"".join(lines(seen_by(reader, project))))


def test_nothing_of_what_is_hidden_goes_out() -> None:
    project = rich_project()
    alice, bob = (User.objects.get(username=name) for name in ("alice", "bob"))
    own = MemoryFactory(project=project, author=bob, visibility="private", title="Bob's secret plan")
    shown = MemoryFactory(project=project, author=bob, title="Shown", related_to=[own.number])
    # What was shared when a history named it, and is hidden now.
    hides = MemoryFactory(project=project, author=bob, title="Later hidden")
    revise(bob, shown, related_to=[hides.number])
    revise(bob, shown, parent=hides.number)
    revise(bob, shown, parent=0)
    receipt_in(project, alice, references={"numbers": [hides.number]})
    revise(bob, hides, visibility="private")
    last = MemoryFactory(project=project, author=bob, visibility="private", title="Nobody's to know")
    text = json.dumps(seen(alice, project))
    for hidden in (
        "secret plan",
        "Bob's own",
        "Later hidden",
        str(own.uid),
        str(hides.uid),
        "to be forgotten",
    ):
        assert hidden not in text
    rows = seen(alice, project)
    numbers = {values["number"] for kind, values in rows if kind in ("memory", "task", "receipt")}
    assert not {own.number, hides.number} & numbers
    for _, values in rows:
        assert not {own.number, hides.number} & _numbers(values), values
    (about,) = [values for kind, values in rows if kind == "project"]
    assert about["last_number"] == max(numbers) < last.number
    assert {values["user"] for kind, values in rows if kind == "checkpoint"} == {"alice"}
    assert not [values for kind, values in rows if kind == "memory" and values["erased_at"]]
    # Bob proposed, alice reviews; a reader sees no proposal at all.
    rick = member(project, "rick", Role.READER)
    assert not [values for kind, values in seen(rick, project) if kind == "review"]
    assert [values for kind, values in seen(alice, project) if kind == "review"]


def _numbers(values: dict[str, Any]) -> set[int]:
    """Every whole number in what an entry says of others."""
    found: set[int] = set()

    def walk(value: Any) -> None:
        if isinstance(value, bool):
            return
        if isinstance(value, int):
            found.add(value)
        elif isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    for name in ("fields", "references", "links", "edits", "other"):
        walk(values.get(name))
    return found


def test_what_a_reader_took_along_comes_in_again_and_changes_nothing() -> None:
    project = rich_project()
    bob = User.objects.get(username="bob")
    before, data = content(project), as_file(bob, project)
    assert bring(data).changes == 0
    assert content(project) == before
    plan = bring(data, slug="elsewhere")
    assert plan.total(Outcome.CREATED) == len([1 for kind, _ in seen(bob, project) if kind in _COUNTED])


_COUNTED = ("memory", "review", "link", "commit", "task", "receipt", "checkpoint")


# --- bringing in at a door ------------------------------------------------------------------


def at_door(user: User, data: bytes, project: Project, door: Door = Door.WEB, **given: Any) -> Any:
    actor = Actor(user=user, door=door, token=given.pop("token", None))
    return bring_snapshot(actor=actor, file=io.BytesIO(data), slug=project.slug, apply=True, **given)


def test_an_owner_puts_no_words_into_somebody_elses_mouth(project: Project, alice: User) -> None:
    bob = member(project, "bob")
    MemoryFactory(project=project, author=bob, title="Bob's", actor=agent(bob))
    MemoryFactory(project=project, author=alice, title="Alice's")
    data = packed(project)
    wipe(project)
    back = Project.objects.create(slug="harbor", name="Harbor API", review_policy="none")
    back.memberships.create(user=alice, role=Role.OWNER)
    plan = at_door(alice, data, back)
    authors = dict(Memory.objects.filter(project=back).values_list("title", "author__username"))
    assert authors == {"Bob's": "bob (imported)", "Alice's": "alice"}
    assert plan.attributions == ["bob"]
    assert set(Memory.objects.values_list("origin", flat=True)) == {Origin.IMPORT}


def test_an_import_never_reaches_what_its_importer_cannot_see(project: Project, alice: User) -> None:
    bob = member(project, "bob")
    memory = MemoryFactory(project=project, author=bob, title="Was shared")
    data = packed(project)
    revise(bob, memory, visibility="private", body="hers alone")
    before = Memory.objects.filter(pk=memory.pk).values().get()
    plan = at_door(alice, data, project)
    assert Memory.objects.filter(pk=memory.pk).values().get() == before
    # As if nothing were here: it comes as another memory, and the second time it is known.
    assert plan.total(Outcome.CREATED) == 1
    assert at_door(alice, data, project).changes == 0


def test_a_tombstone_holds_against_an_owner_too(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, author=alice, body="leaked")
    data = packed(project)
    erase_memory(actor=person(alice), memory=memory)
    assert at_door(alice, data, project).changes == 0
    assert not Revision.objects.filter(fields__body="leaked").exists()


def test_only_owners_bring_in_and_agents_only_where_nothing_waits(project: Project, alice: User) -> None:
    rita, bob = member(project, "rita", Role.REVIEWER), member(project, "bob")
    MemoryFactory(project=project, author=alice, title="One")
    data = packed(project)
    for user in (rita, bob):
        with pytest.raises(DomainError) as refusal:
            at_door(user, data, project)
        assert refusal.value.code == "forbidden"
    token, _ = token_for(alice, project)
    wipe(project)
    back = Project.objects.create(slug="harbor", name="Harbor", review_policy="agents")
    back.memberships.create(user=alice, role=Role.OWNER)
    with pytest.raises(Forbidden, match="waits for a reviewer"):
        at_door(alice, data, back, Door.REST, token=token)
    assert not Memory.objects.exists()
    Project.objects.filter(pk=back.pk).update(review_policy="none")
    assert at_door(alice, data, back, Door.REST, token=token).total(Outcome.CREATED) == 1
    MemoryFactory(project=back, author=alice, title="Public", visibility="public")
    public = packed(back)
    Memory.objects.filter(title="Public").update(uid="6f7c3b3a-0d0e-4c57-9a5e-2a4f0f1b7f11")
    with pytest.raises(Forbidden, match="public"):
        at_door(alice, public, back, Door.REST, token=token)


# --- REST -----------------------------------------------------------------------------------


def test_rest_gives_a_snapshot_and_takes_one(project: Project, alice: User) -> None:
    MemoryFactory(project=project, author=alice, title="One")
    _, text = token_for(alice, project)
    client, path = Client(headers={"Authorization": f"Bearer {text}"}), "/api/v1/projects/harbor/snapshot"
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/gzip")
    assert answer["Cache-Control"] == "no-store"
    data = answer.getvalue()
    assert json.loads(gzip.decompress(data))["counts"] == {"memory": 1, "project": 1, "revision": 1}
    wipe(project)
    back = Project.objects.create(slug="harbor", name="Harbor", review_policy="none")
    back.memberships.create(user=alice, role=Role.OWNER)
    _, text = token_for(alice, back)
    client = Client(headers={"Authorization": f"Bearer {text}"})
    dry = client.post(path, data, content_type="application/gzip").json()
    assert (dry["applied"], dry["counts"]) == (False, {"memory": {"created": 1}})
    assert not Memory.objects.exists()
    done = client.post(f"{path}?apply=true", data, content_type="application/gzip").json()
    assert (done["applied"], Memory.objects.get().title) == (True, "One")
    assert client.post(path, b"nonsense", content_type="application/gzip").status_code == 422


def test_rest_takes_more_than_other_bodies_and_no_more_than_its_limit(
    project: Project, alice: User, settings: Any
) -> None:
    settings.IMPORT_MAX_BYTES = 3 * 1024 * 1024
    _, text = token_for(alice, project)
    client, path = Client(headers={"Authorization": f"Bearer {text}"}), "/api/v1/projects/harbor/snapshot"
    sent = {
        size: client.post(path, b"x" * size, content_type="application/gzip")
        for size in (2_500_000, 4_000_000)
    }
    assert {size: answer.status_code for size, answer in sent.items()} == {2_500_000: 422, 4_000_000: 413}
    other = client.post(f"{path}s", b"x" * 2_500_000, content_type="application/gzip")
    assert other.status_code == 413


def test_a_page_gives_what_its_reader_sees(project: Project, alice: User) -> None:
    rick = member(project, "rick", Role.READER)
    MemoryFactory(project=project, author=alice, title="Hers", visibility="private")
    client = Client()
    client.force_login(rick)
    answer = client.get(reverse("exchange:snapshot", args=["harbor"]))
    assert "harbor-" in answer["Content-Disposition"]
    assert json.loads(gzip.decompress(answer.getvalue()))["counts"] == {"project": 1}
