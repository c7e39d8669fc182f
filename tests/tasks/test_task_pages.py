"""The pages of tasks: who sees and does what, what a row says, conflicts, how many queries."""

from __future__ import annotations

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoryhub.kernel.actor import Actor, Door, WriteContext
from projects.models import Project, User
from projects.services import archive_project
from tasks.models import Blocker, Task
from tasks.services import claim_task, revise_task
from tests.e2e.store import PAYLOADS
from tests.factories import (
    MembershipFactory,
    MemoryFactory,
    ProjectFactory,
    agent,
    member,
    person,
    receipt_in,
    task_in,
    token_for,
)
from tests.memories.pages import HTMX, read, rows
from tests.tasks.pages import TASKS, buttons, lapse, many_receipts, many_tasks, words

pytestmark = pytest.mark.django_db


def at(task: Task, more: str = "") -> str:
    return f"{TASKS}{task.number}/{more}"


def now(task: Task) -> Task:
    return Task.objects.get(pk=task.pk)


# --- the list -------------------------------------------------------------------------------


def test_the_list_stands_by_status_the_most_urgent_first(
    client: Client, project: Project, alice: User
) -> None:
    low, plain, high = (task_in(project, title=name, priority=name) for name in ("low", "normal", "high"))
    started, stuck, done = task_in(project), task_in(project), task_in(project)
    for task, status in ((started, "in_progress"), (stuck, "blocked"), (done, "done")):
        revise_task(actor=person(alice), task=task, expected_version=1, status=status)
    page = read(client, alice, TASKS)
    assert rows(page) == [task.number for task in (started, high, plain, low, stuck)]
    assert re.findall(r'<h2 id="status-(\w+)">', page) == ["in_progress", "open", "blocked"]
    said = words(page)
    assert "5 unfinished: 3 ready, 0 claimed" in said
    # At each status how many there are, under the other filters.
    for option in ("unfinished (5)", "open (3)", "done (1)", "any status (6)"):
        assert option in said
    said = words(read(client, alice, f"{TASKS}?status=done&tag=none"))
    assert "unfinished (0) open (0)" in said
    assert rows(read(client, alice, f"{TASKS}?status=done")) == [done.number]
    assert len(rows(read(client, alice, f"{TASKS}?status=any"))) == 6


def test_a_row_says_what_it_waits_for_its_parts_and_its_claim(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    whole = task_in(project, title="The whole")
    first, second = (task_in(project, title=name, parent=whole.number) for name in ("First", "Second"))
    after = task_in(project, title="After", blocked_by=[first.number, second.number], assignee="bob")
    revise_task(actor=person(alice), task=first, expected_version=1, status="done")
    claim_task(actor=agent(bob, "one", token_for(bob, project)[0]), task=second, minutes=90)
    gone = task_in(project, title="Gone")
    claim_task(actor=agent(bob), task=gone)
    lapse(gone)
    page = read(client, alice, TASKS)
    said = {
        number: words(row)
        for number, row in re.findall(
            r'<li class="row row--task[^>]*id="task-(\d+)">(.*?)</li>', page, re.DOTALL
        )
    }
    assert "1 of 2 sub-tasks finished" in said[str(whole.number)]
    assert f"waits for #{second.number}" in said[str(after.number)]
    assert f"#{first.number}" not in said[str(after.number)]
    assert "for bob" in said[str(after.number)]
    assert "bob's agent (laptop) , lapses in 1 hour" in said[str(second.number)]
    assert f"part of #{whole.number} The whole" in said[str(second.number)]
    assert "claim of bob's agent lapsed 5 minutes ago" in said[str(gone.number)]
    assert "ready" in said[str(gone.number)]
    assert " ready " not in said[str(second.number)]
    assert "2 ready, 1 claimed, 1 with a claim that lapsed" in words(page)


def test_the_address_narrows_the_list(client: Client, project: Project, alice: User, bob: User) -> None:
    tagged = task_in(project, title="Tagged", tags=["net", "api"])
    of_bob = task_in(project, title="Bob's", assignee="bob", blocked_by=[tagged.number])
    claimed = task_in(project, title="Claimed")
    claim_task(actor=agent(bob), task=claimed)
    client.force_login(bob)
    for query, found in {
        "tag=net": [tagged],
        "tag=net%2C+api": [tagged],
        "tag=none-such": [],
        "assignee=BOB": [of_bob],
        "mine=yes": [claimed, of_bob],
        "ready=yes": [tagged],
        "ready=no": [claimed, of_bob],
        "ready=no&assignee=bob": [of_bob],
    }.items():
        page = client.get(f"{TASKS}?{query}").content.decode()
        assert rows(page) == [task.number for task in found], query
        fragment = client.get(f"{TASKS}?{query}", headers=HTMX)
        assert "<html" not in fragment.content.decode()
        assert rows(fragment.content.decode()) == rows(page)
        assert fragment["HX-Push-Url"] == f"{TASKS}?{query}".replace("%2C+", "%2C+")
    for query in (
        "status=nonsense",
        "ready=1",
        "mine=1",
        "tag=" + "+".join("abcdefghijklmnopqrstuvw"),
        "tag=%00",
    ):
        response = client.get(f"{TASKS}?{query}")
        assert response.status_code == 422, query
        assert 'role="alert"' in response.content.decode()


def test_many_are_on_pages_of_one_reader(client: Client, project: Project, alice: User, bob: User) -> None:
    made = many_tasks(project, alice, 27)
    started = task_in(project)
    revise_task(actor=person(alice), task=started, expected_version=1, status="in_progress")
    page = read(client, alice, TASKS)
    assert rows(page) == [started.number, *(task.number for task in made[:2:-1])]
    following = html.unescape(re.findall(r'rel="next" href="([^"]+)"', page)[0])
    assert rows(read(client, alice, following)) == [task.number for task in made[2::-1]]
    assert rows(read(client, bob, following)) == rows(page)


def test_an_empty_list_says_the_next_step(client: Client, alice: User, rick: User) -> None:
    page = read(client, alice, TASKS)
    assert "Nothing is to be done." in page
    assert "New task" in buttons(page)
    assert "New task" not in buttons(read(client, rick, TASKS))


# --- a task ---------------------------------------------------------------------------------


def test_a_task_shows_what_is_around_it(client: Client, project: Project, alice: User, bob: User) -> None:
    whole = task_in(project, title="The whole", description="Do **this** first.")
    part = task_in(project, title="A part", parent=whole.number)
    ahead = task_in(project, title="Ahead")
    task_in(project, title="Behind", blocked_by=[whole.number])
    revise_task(
        actor=agent(bob, "s-1"),
        task=whole,
        expected_version=1,
        summary="So that all stores come over.",
        blocked_by=[ahead.number],
        tags=["import"],
        reason="It grew.",
    )
    naming = receipt_in(project, title="Names it", references={"numbers": [part.number, whole.number]})
    others = {"numbers": [part.number, 11, 21, 111], "branch": "[1]"}
    many_receipts(project, bob, 1, title="Names others", references=others)
    page = read(client, alice, at(whole))
    said = words(page)
    assert "<strong>this</strong>" in page
    for text in ("A part", "Behind", "Ahead", "Names it", "It grew.", "session s-1"):
        assert text in said, text
    assert "Names others" not in said
    assert f"/p/harbor/receipts/{naming.number}/" in page
    assert "<del> old</del>" in page
    assert "<ins> all</ins>" in page
    assert f"<ins>#{ahead.number}</ins>" in page
    assert "<ins>import</ins>" in page
    assert f"It waits for #{ahead.number}." in said


def test_the_number_of_something_else_leads_to_its_page(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    memory, task, receipt = MemoryFactory(project=project), task_in(project), receipt_in(project)
    hidden = MemoryFactory(project=project, author=bob, visibility="private")
    places = {
        memory.number: f"/p/harbor/memories/{memory.number}/",
        task.number: f"/p/harbor/tasks/{task.number}/",
        receipt.number: f"/p/harbor/receipts/{receipt.number}/",
    }
    client.force_login(alice)
    for number, place in places.items():
        for kind in ("memories", "tasks", "receipts"):
            response = client.get(f"/p/harbor/{kind}/{number}/")
            assert response.get("Location", f"/p/harbor/{kind}/{number}/") == place
    for kind in ("memories", "tasks", "receipts"):
        for number in (hidden.number, 9999, 2**31, 10**30):
            assert client.get(f"/p/harbor/{kind}/{number}/").status_code == 404


def test_a_history_goes_on_with_what_stood_before(client: Client, project: Project, alice: User) -> None:
    task = task_in(project, summary="Version 1 of it.", priority="low")
    for version in range(1, 13):
        task = revise_task(
            actor=person(alice), task=task, expected_version=version, summary=f"Version {version + 1} of it."
        ).task
    page = read(client, alice, at(task))
    assert re.findall(r'past__version">v(\d+)', page) == [str(version) for version in range(13, 3, -1)]
    assert "<del> 3</del>" in page
    older = html.unescape(re.findall(r'href="(\?before=\d+)#history"', page)[0])
    page = read(client, alice, at(task, older))
    assert re.findall(r'past__version">v(\d+)', page) == ["3", "2", "1"]
    assert "<del> 1</del>" in page


# --- who does what --------------------------------------------------------------------------


def test_what_each_may_do_is_what_is_offered(
    client: Client, project: Project, alice: User, bob: User, rita: User, rick: User, charlie: User
) -> None:
    task = task_in(project)
    free = ["Edit", "Add a sub-task", "Claim", "Start", "Mark blocked", "Done", "Cancel the task"]
    for user, offered in ((alice, free), (bob, free), (rick, [])):
        assert buttons(read(client, user, at(task))) == offered, user
    assert "You read here." in read(client, rick, at(task))
    claim_task(actor=person(bob), task=task)
    edits = free[:2]
    held = [*edits, "Extend the claim", "Release the claim", *free[3:]]
    assert buttons(read(client, bob, at(task))) == held
    assert buttons(read(client, rita, at(task))) == [*edits, "Release the claim"]
    assert buttons(read(client, member(project, "nina"), at(task))) == edits
    # An agent's claim is released by its user, who doesn't change the status under it.
    other = task_in(project)
    claim_task(actor=agent(bob, "one"), task=other)
    assert buttons(read(client, bob, at(other))) == [*edits, "Release the claim"]
    client.force_login(charlie)
    for address in (TASKS, f"{TASKS}new/", at(task), at(task, "edit/")):
        assert client.get(address).status_code == 404
    archive_project(by=alice, project=project)
    assert buttons(read(client, alice, at(task))) == []
    assert "archived" in read(client, alice, at(task))


def test_claiming_extending_and_releasing(client: Client, project: Project, bob: User, rita: User) -> None:
    task = task_in(project)
    client.force_login(bob)
    assert client.post(at(task, "claim/"), {"minutes": "30"})["Location"] == at(task)
    first = now(task).claim_until
    assert (now(task).claimant, now(task).claim_session) == ("bob", "")
    client.post(at(task, "claim/"), {"minutes": "240"})
    extended = now(task).claim_until
    assert first is not None
    assert extended is not None
    assert extended > first
    client.force_login(rita)
    response = client.post(at(task, "claim/"))
    assert response.status_code == 409
    assert f"#{task.number} is claimed by bob in another session" in words(response.content.decode())
    assert now(task).claimant == "bob"
    response = client.post(at(task, "release/"), headers=HTMX)
    text = response.content.decode()
    assert "<html" not in text
    assert f"#{task.number} is claimed by nobody." in text
    assert "Claim" in buttons(f"<main>{text}")
    assert now(task).claim_until is None
    for minutes in ("0", "1441", "-1", "x", "9" * 40):
        response = client.post(at(task, "claim/"), {"minutes": minutes})
        assert response.status_code == 422, minutes
        assert "Nothing was changed." in response.content.decode()


def test_the_status_is_changed_by_who_holds_the_claim(
    client: Client, project: Project, bob: User, rita: User
) -> None:
    task, after = task_in(project), None
    after = task_in(project, blocked_by=[task.number])
    claim_task(actor=person(bob), task=task)
    client.force_login(rita)
    sent = {"status": "done", "expected_version": "1", "reason": "It <b>works</b>."}
    response = client.post(at(task, "status/"), sent)
    assert response.status_code == 409
    client.force_login(bob)
    response = client.post(at(task, "status/"), sent, follow=True)
    said = words(response.content.decode())
    assert f"#{task.number} is done." in said
    assert f"#{after.number} is ready now." in said
    assert "It <b>works</b>." in said
    assert (now(task).status, now(task).claim_until) == ("done", None)
    # A page that was open all the while: said, and what was typed stays.
    response = client.post(at(task, "status/"), {**sent, "status": "cancelled"})
    assert response.status_code == 409
    assert "It &lt;b&gt;works&lt;/b&gt;.</textarea>" in response.content.decode()
    assert 'name="expected_version" value="2"' in response.content.decode()
    for wrong in ({"status": "finished"}, {"expected_version": "0"}, {"reason": "x" * 1001}):
        assert client.post(at(task, "status/"), {**sent, "expected_version": "2", **wrong}).status_code == 422
    assert (
        client.post(at(task, "status/"), {"status": "open", "expected_version": 2}, headers=HTMX).status_code
        == 200
    )
    assert now(task).status == "open"


# --- writing --------------------------------------------------------------------------------


def test_a_new_task_is_stored_by_the_service(client: Client, project: Project, bob: User) -> None:
    whole = task_in(project)
    client.force_login(bob)
    page = client.get(f"{TASKS}new/?parent={whole.number}").content.decode()
    assert f'name="parent" value="{whole.number}"' in page
    sent = {
        "title": "Write it",
        "summary": "So that it is known.",
        "description": "Line one\r\nLine two ",
        "priority": "high",
        "assignee": "bob",
        "tags": "One, two\nTHREE",
        "parent": f"#{whole.number}",
        "blocked_by": f"{whole.number}",
        "reason": "Asked for.",
    }
    response = client.post(f"{TASKS}new/", sent)
    made = Task.objects.latest("number")
    assert response["Location"] == at(made)
    assert (made.description, made.tag_names) == ("Line one\nLine two ", ["one", "two", "three"])
    assert (made.parent, made.assignee, made.author) == (whole, bob, bob)
    assert made.revisions.get().reason == "Asked for."
    # How it will read stores nothing; nor does what comes back from a lapsed sign-in.
    part = client.post(f"{TASKS}new/", {**sent, "only": "preview", "description": "As **is**."}, headers=HTMX)
    assert "<strong>is</strong>" in part.content.decode()
    assert "<html" not in part.content.decode()
    again = client.post(at(made, "edit/"), {**sent, "only": "again", "expected_version": "1"})
    assert "your sign-in had lapsed" in again.content.decode()
    assert Task.objects.latest("number") == made
    assert now(made).version == 1


def test_what_is_wrong_stands_at_its_field_and_the_rest_is_kept(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    task = task_in(project)
    client.force_login(bob)
    good = {"title": "Mine", "summary": "Mine it is.", "priority": "normal"}
    for wrong, said in (
        ({"title": "", "summary": "# no"}, ["Is empty. Fill it in.", "A summary must be plain text"]),
        ({"parent": "99"}, ["There is no task #99 here"]),
        ({"blocked_by": "98, 97"}, ["There is no task #97 here"]),
        ({"parent": "x"}, ["Must be a number such as 48"]),
        ({"tags": "no spaces here"}, ["Not a tag"]),
        ({"assignee": "charlie"}, ["Select a valid choice"]),
        (
            {"description": "The key is AKIAIOSFODNN7EXAMPLQ."},
            ["looks like a secret"],
        ),
        ({"description": "x" * 100_001}, ["at most 100000"]),
        ({"title": "\x00"}, ["Null characters"]),
    ):
        for address in (f"{TASKS}new/", at(task, "edit/")):
            response = client.post(address, {**good, "expected_version": "1", **wrong})
            text = html.unescape(response.content.decode())
            assert response.status_code == 422, wrong
            for sentence in said:
                assert sentence in text, (address, wrong)
            assert "Mine it is." in text or "summary" in wrong
    assert Task.objects.count() == 1
    assert now(task).version == 1
    response = client.post(at(task, "edit/"), {**good, "blocked_by": f"{task.number}", "expected_version": 1})
    assert "would wait for itself" in response.content.decode()
    response = client.post(at(task, "edit/"), {**good, "expected_version": ""})
    assert "The page has lost the version" in response.content.decode()


def test_a_conflict_shows_both_and_loses_neither(
    client: Client, project: Project, alice: User, bob: User
) -> None:
    task = task_in(project, title="Old title", summary="Old summary.", tags=["one"])
    page = read(client, bob, at(task, "edit/"))
    assert 'name="expected_version" value="1"' in page
    revise_task(
        actor=person(alice),
        task=task,
        expected_version=1,
        title="Her title",
        description="Hers alone.",
        tags=["one", "two"],
    )
    mine = {
        "title": "My title",
        "summary": "My summary.",
        "description": "",
        "tags": "one",
        "priority": "normal",
        "expected_version": "1",
    }
    response = client.post(at(task, "edit/"), mine)
    text = response.content.decode()
    assert response.status_code == 409
    assert now(task).version == 2
    assert "<del>Her</del><ins>My</ins>" in text
    assert 'value="My title"' in text
    assert "My summary.</textarea>" in text
    # What she alone changed comes into the form; what bob alone changed is no conflict.
    assert "<ins>Hers alone.</ins>" in text
    assert "Hers alone.</textarea>" in text
    assert 'name="tags" value="one, two"' in text
    assert "Old summary" not in text
    assert 'name="expected_version" value="2"' in text
    sent = {**mine, "description": "Hers alone.", "tags": "one\ntwo", "expected_version": "2"}
    assert client.post(at(task, "edit/"), sent)["Location"] == at(task)
    after = now(task)
    assert (after.title, after.summary, after.description) == ("My title", "My summary.", "Hers alone.")
    assert after.tag_names == ["one", "two"]


def test_saving_what_stands_changes_nothing(client: Client, project: Project, bob: User) -> None:
    task = task_in(project, summary=" Spaces at both ends ", tags=["b", "a"], description="x\n")
    page = read(client, bob, at(task, "edit/"))
    names = dict(re.findall(r'<input type="(?:text|hidden)" name="(\w+)" value="([^"]*)"', page))
    areas = re.findall(r'<textarea name="(\w+)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    sent = {
        **names,
        **{name: html.unescape(text) for name, text in areas},
        "priority": "normal",
        "assignee": "",
    }
    response = client.post(at(task, "edit/"), sent, follow=True)
    assert "Nothing was changed." in response.content.decode()
    assert now(task).version == 1


# --- hostile text, speed --------------------------------------------------------------------


def test_hostile_text_is_text(client: Client, project: Project, rita: User, bob: User) -> None:
    script, image, _, _, mark = PAYLOADS
    context = WriteContext(session=image[:80], client=script, model=image, branch=script, commit="<b>")
    actor = Actor(bob, Door.MCP, None, context)
    token, _ = token_for(bob, project)
    task = task_in(
        project, title=f"{image}{mark}", summary=f"{script} {image}", description="\n\n".join(PAYLOADS)
    )
    revise_task(actor=actor, task=task, expected_version=1, summary=f"{image} then", reason=f"{script}{mark}")
    claim_task(actor=Actor(bob, Door.MCP, token, context), task=task)
    client.force_login(rita)
    texts = [client.get(address).content.decode() for address in (TASKS, at(task), "/p/harbor/")]
    texts.append(client.get(at(task, "edit/")).content.decode())
    texts.append(
        client.post(
            at(task, "edit/"), {"title": image, "summary": script, "expected_version": 1}
        ).content.decode()
    )
    texts.append(client.post(at(task, "claim/")).content.decode())
    for text in texts:
        assert "<script>window" not in text
        assert "<img" not in text
        assert 'href="javascript:' not in text
        # A form keeps what is stored as it is.
        assert "\u202e" not in re.sub(r"<textarea.*?</textarea>|<input[^>]*>", "", text, flags=re.DOTALL)
        assert "49" not in re.findall(r"<p>\{\{.*", text)


def filled(slug: str, user: User, many: int) -> tuple[Project, Task]:
    """A project with so many tasks of every relation to one, and receipts that name it."""
    project = ProjectFactory(slug=slug)
    MembershipFactory(project=project, user=user)
    middle = task_in(project, user)
    others = (
        many_tasks(project, user, many, claim_user=user, claim_until=None)
        if False
        else many_tasks(project, user, many)
    )
    Task.objects.filter(pk__in=[task.pk for task in others[::3]]).update(parent=middle)
    Blocker.objects.bulk_create(Blocker(task=task, blocker=middle) for task in others[1::3])
    Blocker.objects.bulk_create(Blocker(task=middle, blocker=task) for task in others[2::3])
    many_receipts(project, user, many, references={"numbers": [middle.number]})
    revise_task(actor=agent(user), task=middle, expected_version=1, tags=["one"], summary="Now this.")
    claim_task(actor=agent(user), task=others[0])
    return project, middle


def test_every_list_beside_a_task_goes_on_and_says_how_much_follows(
    client: Client, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.beside.PAGE", 2)
    _, middle = filled("few", bob, 9)
    here = f"/p/few/tasks/{middle.number}/"
    first = read(client, bob, here)
    for name, heading in (
        ("parts", "parts"),
        ("blocks", "blocks"),
        ("blocked_by", "blocked-by"),
        ("receipts", "receipts"),
    ):
        page, seen = first, []
        while len(seen) < 9:
            part = page.partition(f'id="{heading}"')[2].partition("</section>")[0]
            seen.append(rows(part))
            following = re.search(rf'href="{here}\?{name}=([^"#]+)#{heading}"', part)
            if not following:
                break
            page = read(client, bob, here, **{name: following.group(1)})
        many = 9 if name == "receipts" else 3
        assert f"2 shown, {many - 2} more" in first.partition(f'id="{heading}"')[2]
        assert [len(each) for each in seen] == [2] * (many // 2) + [1]
        found = [number for each in seen for number in each]
        assert found == sorted(set(found), reverse=True)
    # A cursor is a place in its own list alone.
    following = re.search(r'href="[^"?]*\?parts=([^"#]+)#parts"', first)
    assert following
    page = read(client, bob, here, blocks=following.group(1), receipts="nonsense")
    assert not {"First blocked tasks", "First receipts"} & set(buttons(page))
    assert "First sub-tasks" in buttons(read(client, bob, here, parts=following.group(1)))


def test_pages_take_as_many_queries_for_many(client: Client, bob: User) -> None:
    client.force_login(bob)
    taken: dict[str, list[int]] = {}
    for slug, many in (("few", 3), ("many", 300)):
        _, middle = filled(slug, bob, many)
        taken[slug] = []
        for more in (
            "",
            f"{middle.number}/",
            f"{middle.number}/edit/",
            "?status=any&ready=no&tag=one&mine=yes",
        ):
            with CaptureQueriesContext(connection) as queries:
                response = client.get(f"/p/{slug}/tasks/{more}")
            assert response.status_code == 200
            assert len(response.content) < 150_000, more
            taken[slug].append(len(queries))
    assert taken["few"] == taken["many"]
    assert max(taken["many"]) <= 20, taken
