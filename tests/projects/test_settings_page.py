"""The settings page: what each means, the recall that it would make, two owners at once, archiving."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from memories.models import Memory
from memories.recall import recall, tried_recall
from memoryhub.kernel.errors import Conflict
from projects.errors import ProjectArchived, SettingsMoved
from projects.forms_settings import SettingsForm
from projects.models import Project, User
from projects.services import archive_project, change_settings, restore_project
from projects.settings_words import GROUPS, LABELS, MEANS
from tests.access.looking import store, written
from tests.admin_client import signed_in, typed
from tests.factories import MemoryFactory, ProjectFactory, agent, token_for
from tests.mcp_client import Agent
from tests.reviews.asking import policy, propose
from tests.threads import at_once, errors

pytestmark = pytest.mark.django_db

SETTINGS = "/p/harbor/settings/"
PREVIEW = f"{SETTINGS}preview/"


def sent(project: Project, **changed: Any) -> dict[str, Any]:
    """What the page sends: its values, what it showed, and what somebody typed."""
    said = {**typed(SettingsForm(instance=project)), **changed}
    return {name: value for name, value in said.items() if value is not None}


def text(response: Any) -> str:
    return response.content.decode()


def test_every_setting_has_its_words_and_stands_once() -> None:
    fields = [name for group in GROUPS for name in group.fields]
    assert sorted(fields) == sorted(("name", *Project.SETTINGS)) == sorted(LABELS) == sorted(MEANS)
    assert all(says.endswith(".") for says in MEANS.values())


def test_members_read_and_owners_change(
    project: Project, alice: User, rita: User, bob: User, rick: User, charlie: User
) -> None:
    assert signed_in(charlie).get(SETTINGS).status_code == 404
    for user in (rita, bob, rick):
        client = signed_in(user)
        page = text(client.get(SETTINGS))
        assert MEANS["recall_mode"] in page
        assert page.count(" disabled") == len(MEANS)
        for address in (SETTINGS, PREVIEW, f"{SETTINGS}archive/", f"{SETTINGS}restore/"):
            assert client.post(address, sent(project, recall_budget=9000)).status_code == 403
    owner = signed_in(alice)
    page = text(owner.get(SETTINGS))
    assert " disabled" not in page
    response = owner.post(SETTINGS, sent(project, recall_budget=9000, review_needs_second_person="on"))
    assert response["Location"] == SETTINGS
    project.refresh_from_db()
    assert (project.recall_budget, project.review_needs_second_person) == (9000, True)
    owner.post(SETTINGS, sent(project, review_needs_second_person=None))
    project.refresh_from_db()
    assert not project.review_needs_second_person
    before = project.change_counter
    assert "Nothing was changed" in text(owner.post(SETTINGS, sent(project), follow=True))
    project.refresh_from_db()
    assert project.change_counter == before


def test_bad_values_are_all_named_and_stay_typed(project: Project, alice: User) -> None:
    bad = {"recall_budget": "499", "critical_target": "many", "name": "", "recall_mode": "x"}
    response = signed_in(alice).post(SETTINGS, sent(project, **bad, stale_after_days=5))
    assert response.status_code == 422
    assert set(response.context["form"].errors) == set(bad)
    assert 'value="499"' in text(response)
    project.refresh_from_db()
    assert (project.recall_budget, project.stale_after_days) == (6000, 90)


def test_two_owners_at_once_overwrite_nothing(project: Project, alice: User) -> None:
    """Different settings don't collide, equal changes agree, and a collision shows both values."""
    opened = sent(project)
    change_settings(by=None, project=project, fields={"recall_budget": 9000, "stale_after_days": 30})
    owner = signed_in(alice)
    assert owner.post(SETTINGS, {**opened, "critical_target": 9, "stale_after_days": 30}).status_code == 302
    project.refresh_from_db()
    assert (project.recall_budget, project.critical_target) == (9000, 9)
    mine = {**opened, "recall_budget": "7000", "hygiene_threshold": 50}
    refused = owner.post(SETTINGS, mine)
    assert refused.status_code == 409
    page = text(refused)
    assert "Somebody changed it meanwhile; it is now: 9000." in page
    assert 'value="7000"' in page
    project.refresh_from_db()
    assert (project.recall_budget, project.hygiene_threshold) == (9000, 70)
    # What the page sends now has seen both: it is meant.
    seen = dict(re.findall(r'name="(initial-\w+)" value="([^"]*)"', page))
    assert seen["initial-recall_budget"] == "9000"
    assert owner.post(SETTINGS, {**mine, **seen}).status_code == 302
    project.refresh_from_db()
    assert (project.recall_budget, project.hygiene_threshold) == (7000, 50)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_change_the_same_setting_at_once_one_is_told(transactional_db: None) -> None:
    for n in range(5):
        place = ProjectFactory()
        results = at_once(
            2,
            lambda m, p=place: change_settings(
                by=None, project=p, fields={"recall_budget": 7000 + m}, seen={"recall_budget": 6000}
            ),
        )
        (refused,) = errors(results)
        assert isinstance(refused, SettingsMoved), n
        assert isinstance(refused, Conflict)
        place.refresh_from_db()
        assert refused.now == {"recall_budget": place.recall_budget}


# --- the preview ----------------------------------------------------------------------------


@pytest.fixture
def busy(project: Project, alice: User, bob: User) -> Project:
    """With bags' worth of memories, something critical, and something that waits."""
    for n in range(30):
        MemoryFactory(project=project, title=f"Fact {n}", weight="critical" if n < 9 else "normal")
    policy(project, "agents")
    # One that alice may decide, and one of her own, which she may where no second person is asked for.
    for user in (bob, alice):
        propose(agent(user), project, title=f"Of {user}", summary="Q.")
    return Project.objects.with_role_of(alice).get(pk=project.pk)


CHOSEN = [
    {"recall_budget": 700},
    {"recall_mode": "flat"},
    {"recall_mode": "grouped", "recall_budget": 20_000},
    {"grouping_threshold": 500},
    {"critical_target": 2, "hygiene_threshold": 100},
    {"hygiene_threshold": 100},
    {"stale_after_days": 1},
    {"name": "Pier"},
    {"review_needs_second_person": True},
]


def test_the_preview_is_what_recall_would_be_and_keeps_nothing(busy: Project, alice: User) -> None:
    """Each is tried, found to be kept neither in the store nor in this process, and then saved."""
    for chosen in CHOSEN:
        before, text_before = store(), recall(busy, alice).text
        tried = SettingsForm(sent(busy, **chosen), instance=busy)
        tried.is_valid()
        previewed = tried_recall(tried.chosen(busy), alice).text
        assert recall(busy, alice).text == text_before, chosen
        assert not {name for name in written(before) if not name.startswith("hygiene.")}, chosen
        change_settings(by=None, project=busy, fields=chosen)
        busy.refresh_from_db()
        assert recall(busy, alice).text == previewed, chosen


def test_the_preview_changes_with_what_is_chosen_and_writes_nothing(busy: Project, alice: User) -> None:
    owner, htmx = signed_in(alice), {"HX-Request": "true"}
    owner.get(SETTINGS)
    before = store()
    fragment = text(owner.post(PREVIEW, sent(busy, recall_budget=700), headers=htmx))
    assert fragment.lstrip().startswith('<div class="stack stack--tight" id="settings-preview">')
    assert "700</span> characters" in fragment
    assert "2 proposals wait, whatever policy is chosen" in fragment
    whole = owner.post(PREVIEW, sent(busy, recall_budget=700))
    assert whole.status_code == 200
    assert "A preview: nothing is saved yet." in text(whole)
    assert 'value="700"' in text(whole)
    wrong = owner.post(PREVIEW, sent(busy, recall_budget=7, grouping_threshold="x"), headers=htmx)
    assert wrong.status_code == 200
    assert "Not all of these values can be" in text(wrong)
    assert 'of <span class="figure">6,000' in text(wrong)
    assert not written(before)


@pytest.mark.parametrize("many", [3, 27])
def test_the_pages_take_as_many_queries_for_many_memories(
    project: Project, alice: User, many: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(many):
        MemoryFactory(project=project, title=f"Fact {n}")
    owner = signed_in(alice)
    with django_assert_max_num_queries(20):
        page = owner.get(SETTINGS)
    assert len(page.content) < 150_000
    with django_assert_max_num_queries(20):
        owner.post(PREVIEW, sent(project, recall_budget=900))
    with django_assert_max_num_queries(16):
        owner.post(PREVIEW, sent(project, recall_budget=900), headers={"HX-Request": "true"})


# --- archiving ------------------------------------------------------------------------------


def test_an_archived_project_is_read_and_refuses_every_write_with_a_sentence(
    project: Project, alice: User, bob: User, charlie: User
) -> None:
    memory = MemoryFactory(project=project, title="Pelican")
    _, secret = token_for(bob, project)
    owner, theirs = signed_in(alice), Agent(secret, path="/mcp/p/harbor")
    assert "An archived project is read as before" in text(owner.get(SETTINGS))
    assert owner.post(f"{SETTINGS}archive/")["Location"] == SETTINGS
    page = text(owner.get(SETTINGS))
    assert "Restore the project" in page
    assert page.count(" disabled") == len(MEANS)
    # Reads go on, for people and agents.
    assert "Pelican" in text(owner.get(f"/p/harbor/memories/{memory.number}/"))
    assert "Pelican" in theirs.call("memory_recall").text
    assert "archived" in text(owner.get("/"))
    before = store()
    sentence = "The project is archived; nothing in it changes. An owner can restore it."
    for name, arguments in (
        ("memory_add", {"title": "New", "summary": "What.", "kind": "note"}),
        ("memory_verify", {"ref": memory.number}),
        ("task_create", {"title": "New", "summary": "What."}),
        ("checkpoint_save", {"objective": "Go on."}),
        ("handoff_write", {"summary": "Done."}),
    ):
        refused = theirs.write(name, **arguments)
        assert (refused.code, sentence in refused.text) == ("forbidden", True), name
    with pytest.raises(ProjectArchived):
        change_settings(by=alice, project=project, fields={"critical_target": 9})
    refused = owner.post(SETTINGS, sent(project, critical_target=9))
    assert refused.status_code == 403
    assert sentence in text(refused)
    assert not {name for name in written(before) if not name.startswith("hygiene.")}
    # Who reads it is still governed.
    assert owner.post("/p/harbor/members/", {"user": "charlie", "role": "reader"}).status_code == 302
    when = Project.objects.get().archived_at
    assert archive_project(by=alice, project=project).archived_at == when
    owner.post(f"{SETTINGS}restore/")
    assert not theirs.write("memory_verify", ref=memory.number).is_error
    assert restore_project(by=alice, project=project).archived_at is None
    assert Memory.objects.count() == 1
