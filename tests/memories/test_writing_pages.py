"""Adding and editing in the browser: the form follows the kind, and keeps what was typed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.models import Kind, Memory, Review
from memories.services import Pending, add_memory
from memories.services.checks import DETAILS as FIELDS_OF_KINDS
from projects.models import Project, Role, User
from projects.services import archive_project
from tests.factories import DETAILS, MemoryFactory, member, person
from tests.memories.filling import NEW, browser, filled, send, text_of
from tests.memories.pages import HTMX
from tests.memories.verbs import now, revise, stored

pytestmark = pytest.mark.django_db

SAID = {"title": "Retries", "summary": "Idempotent calls retry three times."}
LONG = "It is long enough for what the rules of every kind ask for: more than sixty characters."


def edit(memory: Memory) -> str:
    return f"/p/harbor/memories/{memory.number}/edit/"


def typed_for(kind: str) -> dict[str, str]:
    """Something in every field of the kind."""
    names = FIELDS_OF_KINDS.get(Kind(kind), {})
    typed = {f"details.{name}": f"{name}: {LONG}" for name in names if name != "steps"}
    if kind == Kind.PIPELINE:
        typed |= {"steps.0.does": "Tag.", "steps.1.does": "Build.", "steps.1.depends_on": "The tag."}
    if kind == Kind.CONSTRAINT:
        typed |= {"hardness": "absolute", "scope_paths": "./db/migrations\r\nhooks/"}
    return typed


@pytest.mark.parametrize("kind", Kind.values)
def test_every_kind_is_added_and_edited_with_all_its_fields(alice: User, project: Project, kind: str) -> None:
    client, bag = browser(alice), MemoryFactory(project=project, title="A bag")
    other = MemoryFactory(project=project, title="Another", visibility="public")
    page = client.get(f"{NEW}?kind={kind}")
    there = set(filled(page))
    assert set(typed_for(kind)) <= there
    of_others = {name for one in Kind.values if one != kind for name in typed_for(one)}
    assert not (of_others - set(typed_for(kind))) & there
    rest = {
        "body": "# Body\r\n\r\nWith *Markdown*.",
        "tags": "http, Net-2",
        "retrieval_hints": "backoff\r\n429",
        "weight": "low",
        "visibility": "public",
        "parent": f"#{bag.number}",
        "related_to": f"{other.number}",
        "reason": "It was asked for.",
    }
    # A bag is as visible as what it holds.
    revise(alice, bag, visibility="public")
    response = client.post(NEW, {**filled(page), **SAID, **typed_for(kind), **rest})
    memory = Memory.objects.get(title="Retries")
    assert response["Location"] == f"/p/harbor/memories/{memory.number}/"
    said = text_of(client.get(response["Location"]))
    assert f"Stored as #{memory.number}." in said
    assert (memory.kind, memory.body, memory.weight) == (kind, "# Body\n\nWith *Markdown*.", "low")
    assert (memory.tag_names, memory.retrieval_hints) == (["http", "net-2"], ["backoff", "429"])
    assert memory.parent == bag
    assert [row.target for row in memory.links_out.all()] == [other]
    assert memory.revisions.get().reason == "It was asked for."
    for name, text in typed_for(kind).items():
        if name.startswith("details."):
            assert memory.details[name.removeprefix("details.")] == text
    if kind == Kind.PIPELINE:
        assert memory.details["steps"] == [{"does": "Tag."}, {"does": "Build.", "depends_on": "The tag."}]
    if kind == Kind.CONSTRAINT:
        assert (memory.hardness, memory.scope_paths) == ("absolute", ["db/migrations", "hooks"])
    # Sent again as it stands, nothing changes; then one field does, and nothing else.
    assert send(client, edit(memory)).status_code == 302
    assert now(memory).version == 1
    changed = next(iter(typed_for(kind)), "body")
    value = "advisory" if changed == "hardness" else f"{LONG} And more."
    send(client, edit(memory), **{changed: value})
    last = memory.revisions.order_by("-version").first()
    assert last is not None
    assert (last.version, list(last.fields)) == (2, [changed.partition(".")[0].replace("steps", "details")])


def test_another_kind_without_javascript_keeps_what_was_typed_for_each(alice: User, project: Project) -> None:
    client = browser(alice)
    typed = {**filled(client.get(f"{NEW}?kind=decision")), **SAID, "details.problem": "What was wrong"}
    page = client.post(NEW, {**typed, "kind": "constraint", "only": "kind"})
    assert page.status_code == 200
    assert "details.reason" in filled(page)
    typed = {**filled(page), "details.reason": LONG, "scope_paths": "db/"}
    back = filled(client.post(NEW, {**typed, "kind": "decision", "only": "kind"}))
    assert back["details.problem"] == "What was wrong"
    assert (back["details.reason"], back["scope_paths"]) == (LONG, "db/")
    # What belongs to another kind is kept in the form and stored with none.
    client.post(NEW, {**back, "kind": "note"})
    assert Memory.objects.get().details == {}
    fragment = client.post(NEW, {**typed, "kind": "pipeline", "only": "kind"}, headers=HTMX)
    assert text_of(fragment).strip().startswith("<div") or 'id="kind-fields"' in text_of(fragment)
    assert "<html" not in text_of(fragment)
    assert "Fields of this kind: Purpose, When to invoke, 2 steps.</p>" in text_of(fragment)
    note = text_of(client.post(NEW, {**SAID, "kind": "note", "only": "kind"}, headers=HTMX))
    assert 'hx-swap-oob="innerHTML">This kind has no fields of its own.</p>' in note


def test_more_steps_are_asked_for_up_to_a_hundred(alice: User, project: Project) -> None:
    client = browser(alice)
    typed = {**filled(client.get(f"{NEW}?kind=pipeline")), **SAID, "details.purpose": "To build."}
    typed["steps.1.does"] = "Build."
    assert re.search(
        rf'name="steps.1.does"[^>]* data-most="{Memory.DETAIL_MAX_LENGTH}"',
        text_of(client.get(f"{NEW}?kind=pipeline")),
    )
    page = filled(client.post(NEW, {**typed, "only": "steps"}))
    assert "steps.6.does" in page
    assert page["steps.1.does"] == "Build."
    most = filled(client.post(NEW, {**page, "steps.98.does": "Late.", "only": "steps"}))
    assert "steps.99.does" in most
    assert "steps.100.does" not in most
    client.post(NEW, most)
    assert Memory.objects.get().details["steps"] == [{"does": "Build."}, {"does": "Late."}]


def test_the_tags_used_most_are_shown_and_more_are_offered(alice: User, project: Project) -> None:
    names = [f"tag-{n:02}" for n in range(45)]
    for at in range(0, 45, 5):
        MemoryFactory(project=project, tags=names[at : at + 5])
    MemoryFactory(project=project, tags=[names[44]])
    page = text_of(browser(alice).get(NEW))
    assert re.findall(r'data-tag="([^"]+)"', page) == [names[44], *names[:39]]
    offered = page.partition('<datalist id="tag-list">')[2].partition("</datalist>")[0]
    assert re.findall(r'<option value="([^"]+)"', offered) == [names[44], *names[:44]]


def test_a_kind_is_changed_once_what_it_doesn_t_have_is_emptied(alice: User, project: Project) -> None:
    client = browser(alice)
    memory = MemoryFactory(project=project, kind="constraint", scope_paths=["db"], title="Additive")
    page = client.post(edit(memory), {**filled(client.get(edit(memory))), "kind": "note", "only": "kind"})
    assert "A note has no such field" in text_of(page)
    typed = filled(page)
    assert typed["details.reason"] == DETAILS["constraint"]["reason"]
    refused = client.post(edit(memory), typed)
    assert refused.status_code == 422
    assert now(memory).version == 1
    client.post(edit(memory), {**typed, "details.reason": "", "body": typed["details.reason"]})
    after = now(memory)
    assert (after.kind, after.details, after.hardness, after.scope_paths) == ("note", {}, "", [])


@pytest.mark.parametrize(
    ("name", "fits", "over"),
    [
        ("title", "😀" * 120, "😀" * 121),
        ("summary", "é" * 280, "é" * 281),
        ("body", "x\r\n" * 50_000, "x\r\n" * 50_000 + "x"),
        ("details.problem", "p" * 10_000, "p" * 10_001),
        ("reason", "r" * 1000, "r" * 1001),
        ("tags", "a, b, c, d, e", "a, b, c, d, e, f"),
        ("retrieval_hints", "\r\n".join("abcdef"), "\r\n".join("abcdefg")),
    ],
)
def test_limits_are_counted_as_the_server_counts_and_keep_what_was_typed(
    alice: User, project: Project, name: str, fits: str, over: str
) -> None:
    client = browser(alice)
    typed = {**filled(client.get(f"{NEW}?kind=decision")), **SAID, **typed_for("decision")}
    before = stored()
    refused = client.post(NEW, {**typed, name: over})
    assert refused.status_code == 422
    assert stored() == before
    kept = filled(refused)
    assert kept[name] == over
    assert "What you typed is still here" in text_of(refused)
    assert f'href="#id_{name}"' in text_of(refused)
    assert client.post(NEW, {**kept, name: fits}).status_code == 302


def test_every_bad_field_is_named_at_once_and_leads_to_it(alice: User, project: Project) -> None:
    client = browser(alice)
    page = send(client, f"{NEW}?kind=decision", summary="# no", tags="Not A Tag", parent="abc")
    text = text_of(page)
    # What can't be read is said first; then the services say the rest.
    assert "Must be a number such as 48" in text
    page = client.post(NEW, {**filled(page), "parent": "999", "title": "x"})
    for name in ("summary", "tags", "details.problem", "details.why_chosen"):
        assert f'href="#id_{name}"' in text_of(page), name
    assert "autofocus" in text_of(page)
    fine = {"summary": "Fine.", "tags": "", **typed_for("decision")}
    missing = client.post(NEW, {**filled(page), **fine})
    assert missing.status_code == 404
    assert "There is no memory #999 here that you can see." in text_of(missing)
    assert 'href="#id_parent"' in text_of(missing)


def test_a_secret_is_refused_without_being_repeated_and_stays_in_its_field(
    alice: User, project: Project
) -> None:
    secret = "ghp_" + "a1B2" * 9
    page = send(browser(alice), NEW, **SAID, body=f"One line.\r\ntoken: {secret}")
    assert page.status_code == 422
    assert "Line 2 looks like a secret" in text_of(page)
    assert text_of(page).count(secret) == 1
    assert secret in filled(page)["body"]
    assert not Memory.objects.exists()


def test_hostile_text_is_shown_and_kept_as_it_is(alice: User, project: Project) -> None:
    client = browser(alice)
    hostile = '</textarea><script>x</script>"><img src=x onerror=y>{{ 7*7 }}\u202e'
    typed = {"title": hostile, "summary": hostile, "body": f"\r\n\r\n{hostile}", "tags": hostile}
    page = send(client, NEW, **typed)
    assert "<script>x" not in text_of(page)
    kept = filled(page)
    assert {name: kept[name] for name in typed} == typed
    assert client.post(NEW, {**kept, "tags": ""}).status_code == 302
    memory = Memory.objects.get()
    # A control holds the mark itself; beside it stands what it would hide.
    assert "[U+202E]" in text_of(client.get(edit(memory)))
    # A line break at the beginning is the author's, too.
    assert memory.body == f"\n\n{hostile}"
    for address in ("edit/", "history/", "versions/1/", "act/?do=archive"):
        assert "<script>x" not in text_of(client.get(f"/p/harbor/memories/{memory.number}/{address}"))
    assert send(client, edit(memory)).status_code == 302
    assert now(memory).version == 1


def test_what_is_stored_already_is_a_duplicate_with_a_way_to_it(alice: User, project: Project) -> None:
    client, twin = browser(alice), MemoryFactory(project=project, kind="note", **SAID)
    page = send(client, NEW, **SAID)
    assert page.status_code == 409
    assert f'href="/p/harbor/memories/{twin.number}/">Open #{twin.number}' in text_of(page)


def test_an_import_s_thin_texts_stay_while_they_aren_t_touched(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="decision", title="Imported")
    Memory.objects.filter(pk=memory.pk).update(
        details={"problem": "thin", "origin": "old"}, summary="x" * 300
    )
    client = browser(alice)
    assert send(client, edit(memory), title="Renamed").status_code == 302
    after = now(memory)
    assert (after.title, after.details, len(after.summary)) == (
        "Renamed",
        {"problem": "thin", "origin": "old"},
        300,
    )


def test_a_field_that_isn_t_sent_stays_as_it_is(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="decision", body="B", tags=["a"], retrieval_hints=["h"])
    page = browser(alice).post(edit(memory), {"expected_version": "1", "title": "Renamed"})
    assert page.status_code == 302
    assert memory.revisions.get(version=2).fields == {"title": "Renamed"}


def test_a_new_one_may_begin_with_a_kind_a_bag_or_what_it_replaces(alice: User, project: Project) -> None:
    client = browser(alice)
    bag = MemoryFactory(project=project, author=alice, title="Mine", visibility="private")
    typed = filled(client.get(f"{NEW}?parent={bag.number}&kind=fact"))
    assert (typed["parent"], typed["visibility"], typed["kind"]) == (f"{bag.number}", "private", "fact")
    old = MemoryFactory(
        project=project, kind="decision", tags=["http"], weight="critical", title="Five times"
    )
    page = send(client, f"{NEW}?supersedes={old.number}", summary="Three times.", **typed_for("decision"))
    assert page.status_code == 302
    new = Memory.objects.get(summary="Three times.")
    assert (new.title, new.tag_names, new.weight) == ("Five times", ["http"], "critical")
    assert now(old).status == "superseded"
    assert client.get(f"{NEW}?parent=999").status_code == 404
    wrong = client.get(f"{NEW}?kind=nonsense&parent=x")
    assert wrong.status_code == 422
    assert "The address says kind" in text_of(wrong)


# --- who may, and what becomes of it ---------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "policy"),
    [
        (Role.CONTRIBUTOR, "none"),
        (Role.CONTRIBUTOR, "agents"),
        (Role.CONTRIBUTOR, "everyone"),
        (Role.REVIEWER, "agents"),
        (Role.OWNER, "everyone"),
    ],
)
def test_the_page_says_before_sending_whether_it_will_be_proposed(
    project: Project, role: Role, policy: str
) -> None:
    """The same as what then happens, for a new one and for each way that visibility can change."""
    user = member(project, "somebody", role)
    made = {
        before: MemoryFactory(project=project, author=user, title=before, visibility=before, kind="note")
        for before in ("private", "shared", "public")
    }
    Project.objects.update(review_policy=policy)
    client = browser(user)
    forms = {address: filled(client.get(address)) for address in (NEW, *map(edit, made.values()))}
    for after in ("private", "shared", "public"):
        for address, form in forms.items():
            change = {**SAID, "title": f"{address} {after}", "visibility": after}
            sent = {**form, **change}
            part = text_of(client.post(address, {**sent, "only": "sending"}, headers=HTMX))
            says = "This will be proposed" in part
            assert says == (">Propose<" in part)
            announced = part.partition('<p id="announcement" hx-swap-oob="innerHTML">')[2]
            assert announced.startswith("This will be proposed" if says else ("No reviewer", "Private:"))
            waiting, version = Review.objects.count(), Memory.objects.count()
            response = client.post(address, sent)
            assert response.status_code == 302, address
            assert (Review.objects.count() > waiting) == says, (address, change)
            assert "/reviews/R" in response["Location"] if says else Memory.objects.count() >= version
            for one in made.values():  # as each was
                Memory.objects.filter(pk=one.pk).update(
                    visibility=one.visibility, title=one.title, version=one.version
                )
                one.revisions.filter(version__gt=1).delete()


def test_a_reader_and_an_archived_project_are_told_before_anybody_types(
    alice: User, rick: User, project: Project
) -> None:
    memory = MemoryFactory(project=project)
    reader, owner = browser(rick), browser(alice)
    page = text_of(reader.get(f"/p/harbor/memories/{memory.number}/"))
    assert "/edit/" not in page
    assert "New memory" not in text_of(reader.get("/p/harbor/memories/"))
    assert "/edit/" in text_of(owner.get(f"/p/harbor/memories/{memory.number}/"))
    assert "New memory" in text_of(owner.get("/p/harbor/memories/"))
    typed = filled(owner.get(edit(memory)))
    archive_project(by=alice, project=project)
    for address in (NEW, edit(memory)):
        assert "The project is archived" in text_of(owner.get(address))
    refused = owner.post(edit(memory), {**typed, "body": "What I typed for an hour."})
    assert refused.status_code == 403
    # Also what is refused altogether isn't lost.
    assert "What I typed for an hour." in text_of(refused)


def test_private_stays_private_while_somebody_types(alice: User, bob: User, project: Project) -> None:
    """Neither tags, bags nor similar titles of others' private memories are suggested."""
    bag = MemoryFactory(project=project, author=bob, title="Secret bag", visibility="private")
    given = {"title": "Quarterly layoffs plan", "summary": "The plan of layoffs.", "tags": ["layoffs"]}
    MemoryFactory(project=project, author=bob, visibility="private", parent=bag, **given)
    asked = {"title": given["title"], "summary": "", "kind": "note", "tags": "", "visibility": "shared"}

    def seen_by(user: User, **more: str) -> str:
        client = browser(user)
        found = client.post("/p/harbor/memories/similar/", {**asked, **more}, headers=HTMX)
        return text_of(client.get(NEW)) + text_of(found)

    for word in ("Secret bag", "layoffs</", "Quarterly", "similar__list"):
        assert word not in seen_by(alice)
    mine = seen_by(bob, visibility="private")
    assert "Secret bag" in mine
    assert "Quarterly layoffs plan" in mine
    # Only its author makes one private.
    other = MemoryFactory(project=project, author=bob)
    assert 'value="private"' not in text_of(browser(alice).get(edit(other)))


def test_similar_memories_are_shown_while_the_title_is_typed(alice: User, project: Project) -> None:
    near = MemoryFactory(project=project, title="Retry policy for idempotent calls", kind="decision")
    for number in range(5):
        MemoryFactory(project=project, title=f"Unrelated {number}", summary=f"Of something else, {number}.")
    client, address = browser(alice), "/p/harbor/memories/similar/"
    typed = {"title": "A retry policy for calls", "kind": "decision", "visibility": "shared"}
    with CaptureQueriesContext(connection) as asked:
        page = client.post(address, typed, headers=HTMX)
    assert near.title in text_of(page)
    assert len(asked) <= 20
    assert near.title not in text_of(client.post(address, {**typed, "memory": str(near.number)}))
    for nothing in ({"title": ""}, {"title": "x" * 121}, {"summary": "It is ghp_" + "a1B2" * 9}):
        assert not text_of(client.post(address, {**typed, **nothing})).strip()


def test_a_preview_is_what_the_page_will_show(alice: User, project: Project) -> None:
    client = browser(alice)
    typed = {**filled(client.get(f"{NEW}?kind=decision")), **SAID, **typed_for("decision")}
    typed |= {"body": "# Why\n\n<script>x</script> *so*", "only": "preview"}
    page, part = client.post(NEW, typed), client.post(NEW, typed, headers=HTMX)
    for shown in (page, part):
        assert "<h3>Why</h3>" in text_of(shown)
        assert "<em>so</em>" in text_of(shown)
        assert "<script>x" not in text_of(shown)
        assert "Trade-offs" in text_of(shown)
    assert filled(page)["title"] == "Retries"
    assert 'name="title"' not in text_of(part)
    over = client.post(NEW, {**typed, "body": "x" * 100_001})
    assert "longer than is ever stored" in text_of(over)
    assert not Memory.objects.exists()


def test_pages_for_writing_take_few_queries_whatever_the_project_holds(alice: User, project: Project) -> None:
    client = browser(alice)
    memory = MemoryFactory(project=project, kind="decision", tags=["t0"])

    def many() -> list[int]:
        counts = []
        number, base = memory.number, "/p/harbor/memories"
        for at in ("edit/", "act/?do=archive", "history/", "history/?from=1&to=2", "versions/1/"):
            with CaptureQueriesContext(connection) as asked:
                assert client.get(f"{base}/{number}/{at}").status_code == 200
            counts.append(len(asked))
        for address in (NEW, f"{NEW}?supersedes={number}"):
            with CaptureQueriesContext(connection) as asked:
                client.get(address)
            counts.append(len(asked))
        typed = filled(client.get(f"{base}/{number}/edit/"))
        with CaptureQueriesContext(connection) as asked:  # a conflict, shown with both
            client.post(f"{base}/{number}/edit/", {**typed, "expected_version": "1", "title": "Mine"})
        return [*counts, len(asked)]

    for at in range(12):
        revise(alice, memory, title=f"Begun {at}", body=f"B {at}")
    few = many()
    for at in range(12):
        MemoryFactory(project=project, title=f"More {at}", tags=[f"t{at}"], related_to=[memory.number])
        revise(alice, memory, title=f"Title {at}", body=f"Body {at}")
    assert many() == few
    assert max(few) <= 20, few


def test_a_proposal_of_mine_that_was_rejected_leads_to_it(alice: User, bob: User, project: Project) -> None:
    from memories.services import reject_review

    Project.objects.update(review_policy="agents")
    project.refresh_from_db()
    result = add_memory(actor=person(bob), project=project, kind="note", **SAID)
    assert isinstance(result, Pending)
    client = browser(bob)
    page = send(client, NEW, **SAID)
    assert page.status_code == 409
    assert 'href="/p/harbor/reviews/R1/">Open R1' in text_of(page)
    reject_review(actor=person(alice), review=Review.objects.get(), note="Not so.")
    page = client.post(NEW, filled(page))
    assert "Not so." in text_of(page)
    said: dict[str, Any] = {**filled(page), "reason": "It is now."}
    assert client.post(NEW, said)["Location"] == "/p/harbor/reviews/R2/"
