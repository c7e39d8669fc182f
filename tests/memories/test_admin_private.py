"""Private memories in the admin: nobody's, whatever is asked."""

from __future__ import annotations

import pytest
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse

from memories.models import Link, Memory, Revision, ScopePath, Tag
from memories.services import revise_memory
from projects.models import Project, User
from tests.access.looking import plain
from tests.admin_client import act, errors, fill, url
from tests.factories import MemoryFactory, person

LIST = reverse("admin:memories_memory_changelist")


def page(memory: Memory, name: str = "change") -> str:
    return url(Memory, name, memory.pk)


@pytest.fixture
def memory(project: Project, alice: User) -> Memory:
    return MemoryFactory(project=project, title="Ports", summary="The API listens on 8080.", body="One\nTwo")


CANARY = "pelican"


@pytest.fixture
def hidden(project: Project, memory: Memory, bob: User) -> Memory:
    """Bob's private memory inside alice's shared bag, linked with it, that was never seen by staff."""
    link = {"related_to": [memory.number], "tags": [f"{CANARY}-tag"]}
    return MemoryFactory(
        project=project,
        author=bob,
        title=CANARY,
        summary=f"{CANARY} summary.",
        body=CANARY,
        visibility="private",
        parent=memory,
        **link,
    )


def pages_of(memory: Memory) -> list[str]:
    return [page(memory, name) for name in ("change", "history", "delete", "erase")]


def test_no_page_shows_a_private_memory(
    admin: Client, project: Project, memory: Memory, hidden: Memory
) -> None:
    revise_memory(actor=person(memory.author), memory=memory, expected_version=1, title="Bag")
    looked = [
        LIST,
        page(memory),
        page(memory, "history"),
        f"{LIST}?q={CANARY}",
        f"{LIST}?q={hidden.number}",
        f"{LIST}?tag={CANARY}-tag",
        f"{LIST}?bag=yes",
        reverse("admin:index"),
        *(url(model, "changelist") for model in (Revision, Link, Tag, ScopePath)),
        *(f"{url(model, 'changelist')}?q={CANARY}" for model in (Revision, Link, Tag, ScopePath)),
        f"{url(Revision, 'changelist')}?memory={hidden.pk}",
    ]
    for address in looked:
        response = admin.get(address)
        assert response.status_code == 200, address
        # What was asked for stands in the page itself, as typed and in addresses.
        shown = response.content.decode()
        for asked in (
            f'value="{CANARY}"',
            f'value="{CANARY}-tag"',
            f"q={CANARY}",
            f"q%3D{CANARY}",
            f"tag={CANARY}-tag",
            f"tag%3D{CANARY}-tag",
            f">{CANARY}-tag<",
            f"{CANARY}-tag</a>",
        ):
            shown = shown.replace(asked, "")
        assert CANARY not in shown, address
        assert f"#{hidden.number}" not in shown, address


def test_what_is_private_and_what_is_not_there_answer_alike(
    admin: Client, memory: Memory, hidden: Memory
) -> None:
    nothing = Memory(pk=hidden.pk + 1000)
    for private, missing in zip(pages_of(hidden), pages_of(nothing), strict=True):
        for ask in (admin.get, admin.post):
            one, other = ask(private), ask(missing)
            assert one.status_code == other.status_code, private
            assert one.status_code in (302, 403, 404), private
    tag, link, revision = Tag.objects.get(), Link.objects.get(), hidden.revisions.get()
    for row in (tag, link, revision):
        for name in ("change", "history"):
            assert admin.get(url(type(row), name, row.pk)).status_code in (302, 404), (row, name)


def test_a_bag_of_private_memories_is_no_bag_in_the_admin(
    admin: Client, memory: Memory, hidden: Memory
) -> None:
    rows = admin.get(LIST).context["cl"].result_list
    assert [(row.pk, row.child_count) for row in rows] == [(memory.pk, 0)]
    assert list(admin.get(f"{LIST}?bag=yes").context["cl"].result_list) == []
    assert b"nothing" in admin.get(page(memory)).content
    # It's not refused either: a memory with hidden children alone goes into a bag.
    other = MemoryFactory(project=memory.project)
    assert errors(fill(admin, page(memory), parent=str(other.number))) == {}


@pytest.mark.parametrize(
    "lookup",
    [
        "children__isnull=0",
        "children=1",
        "links_in__isnull=0",
        "children__title__startswith=p",
        "revisions=1",
        "author__access_tokens__digest__startswith=a",
        "project__memories=1",
        "title__startswith=P",
        "pk=1",
    ],
)
def test_no_lookup_asks_about_what_is_not_shown(admin: Client, hidden: Memory, lookup: str) -> None:
    assert admin.get(f"{LIST}?{lookup}").status_code == 400


def test_bulk_actions_do_not_reach_private_memories(admin: Client, memory: Memory, hidden: Memory) -> None:
    for action in ("archive", "verify", "lower_weight", "into_bag", "not_similar"):
        answer = act(admin, Memory, action, hidden)
        assert CANARY not in answer.content.decode()
    hidden.refresh_from_db()
    assert (hidden.version, hidden.verified_at) == (1, None)


@pytest.mark.parametrize("field", ["parent", "supersedes", "related_to", "contradicts", "unlink"])
def test_naming_a_private_memory_is_naming_none(
    admin: Client, memory: Memory, hidden: Memory, field: str
) -> None:
    sentences = []
    for number in (hidden.number, 999):
        found = errors(fill(admin, page(memory), **{field: str(number), "reason": "Because."}))
        sentences.append(
            {name: [text.replace(str(number), "N") for text in all_] for name, all_ in found.items()}
        )
    assert sentences[0] == sentences[1] != {}


def test_pickers_offer_no_private_memory(admin: Client, memory: Memory, hidden: Memory) -> None:
    for model, field in (("memory", "parent"), ("tag", "memory"), ("link", "source"), ("revision", "memory")):
        asked = {"app_label": "memories", "model_name": model, "field_name": field, "term": ""}
        response = admin.get(reverse("admin:autocomplete"), asked)
        if response.status_code == 200:
            assert [row["id"] for row in response.json()["results"]] == [str(memory.pk)]
        else:
            assert response.status_code in (403, 404)


def test_view_on_site_confirms_nothing(admin: Client, memory: Memory, hidden: Memory) -> None:
    kind = ContentType.objects.get_for_model(Memory)
    said_of = set()
    for pk in (hidden.pk, hidden.pk + 999):
        address = reverse("admin:view_on_site", args=(kind.pk, pk))
        answer = admin.get(address)
        said_of.add((answer.status_code, plain(answer, address)))
    assert len(said_of) == 1
    assert said_of.pop()[0] == 404


def test_revisions_from_a_private_time_stay_hidden(admin: Client, project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, title=CANARY, visibility="private", tags=[CANARY])
    shared = {"visibility": "shared", "title": "Fit for all"}
    revise_memory(actor=person(alice), memory=memory, expected_version=1, **shared)
    response = admin.get(f"{url(Revision, 'changelist')}?memory={memory.pk}")
    assert [row.version for row in response.context["cl"].result_list] == [2]
    assert admin.get(url(Revision, "change", memory.revisions.get(version=1).pk)).status_code == 302


def test_a_revision_does_not_name_private_memories(admin: Client, project: Project, alice: User) -> None:
    private = MemoryFactory(project=project)
    other = MemoryFactory(project=project)
    shared = MemoryFactory(project=project, related_to=[private.number, other.number], parent=private)
    # Made private, it lets go of what is more visible.
    revise_memory(actor=person(alice), memory=private, expected_version=1, visibility="private")
    response = admin.get(url(Revision, "change", shared.revisions.get(version=1).pk))
    text = response.content.decode()
    kept = response.context["original"].fields
    assert (kept["related_to"], kept["parent"]) == ([private.number, other.number], private.number)
    changed = text[text.index("<pre>") : text.index("</pre>")]
    assert "related_to" in changed
    assert "parent" not in changed
    assert f"    {private.number}\n" not in changed.replace(",", "")
    assert f"    {other.number}\n" in changed
