"""What the files say, and to whom."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.models import Memory
from memories.services import archive_memory, supersede_memory
from memoryhub.projections.decisions import render_decisions
from memoryhub.projections.rules import file_name, refusal, render_rules
from projects.models import Project, User
from tests.factories import DETAILS, MemoryFactory, ProjectFactory, person

pytestmark = pytest.mark.django_db


def decision(project: Project, title: str, **given: Any) -> Memory:
    return MemoryFactory(project=project, kind="decision", title=title, **given)


def constraint(project: Project, title: str, *scopes: str, **given: Any) -> Memory:
    return MemoryFactory(project=project, kind="constraint", title=title, scope_paths=list(scopes), **given)


def store_scope(memory: Memory, *paths: str) -> None:
    """As an older store may have had it: writers are refused."""
    memory.scopes.all().delete()
    for position, path in enumerate(paths):
        memory.scopes.create(path=path, position=position)


def test_decisions_stand_in_order_and_what_replaced_one_is_named(project: Project, alice: User) -> None:
    first = decision(project, "Use *Redis*", tags=["queue"], body="# Not a heading\n\n<h1>Nor this</h1>")
    second = decision(project, "Use PostgreSQL", weight="critical")
    third = decision(project, "Use a file")
    MemoryFactory(project=project, title="A fact")
    actor = person(alice)
    supersede_memory(
        actor=actor, memory=first, successor=second.number, expected_version=1, reason="One thing\nless."
    )
    archive_memory(actor=actor, memory=third, expected_version=1, reason="Never built.")
    text = render_decisions(project)
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == [
        "# Decisions of Harbor API",
        "## In force",
        "### #2: Use PostgreSQL",
        "## No longer in force",
        "### #1: Use \\*Redis\\*",
        "### #3: Use a file",
    ]
    assert text.startswith("<!-- memoryhub:decisions harbor -->\n")
    assert "**Superseded by** #2 Use PostgreSQL: One thing less." in text
    assert "Replaces #1 Use \\*Redis\\*" in text
    today = third.created_at.strftime("%Y-%m-%d")
    assert f"**Archived on {today}.** Never built." in text
    assert f"_Decided on {today} · tags queue_" in text
    assert "weight critical" in text
    assert f"**Why this was chosen**\n\n> {DETAILS['decision']['why_chosen']}\n" in text
    assert "> \\# Not a heading\n>\n> \\<h1>Nor this\\</h1>" in text
    assert "A fact" not in text
    assert render_decisions(project) == text


def test_private_memories_are_for_the_one_who_is_named(project: Project, alice: User, bob: User) -> None:
    other = ProjectFactory(slug="other")
    shared = decision(project, "A shared one", author=alice)
    public = decision(project, "A public one", author=alice, visibility="public")
    mine = decision(project, "A private one", author=bob, visibility="private")
    MemoryFactory(project=other, kind="decision", title="Elsewhere", visibility="public")
    supersede_memory(actor=person(bob), memory=mine, successor=shared.number, expected_version=1)
    rule = constraint(project, "A private rule", "src", author=bob, visibility="private")
    everybody, bobs, alices = (render_decisions(project, reader) for reader in (None, bob, alice))
    assert everybody == alices
    assert public.title in everybody
    assert "A private one" not in everybody
    assert "Replaces" not in everybody
    assert "_Decided on" in bobs
    assert "· private_" in bobs
    assert "Replaces #3 A private one" in bobs
    assert "Elsewhere" not in bobs
    assert render_rules(project).files == () == render_rules(project, alice).files
    assert [file.numbers for file in render_rules(project, bob).files] == [(rule.number,)]
    Memory.objects.filter(pk=shared.pk).update(erased_at=shared.created_at)
    assert "A shared one" not in render_decisions(project)


def test_each_scope_has_a_file_of_its_constraints(project: Project, alice: User) -> None:
    advisory = constraint(project, "Weigh it", "src/api", hardness="advisory", body="Long.")
    both = constraint(project, "Never log bodies", "src/api/", "hooks")
    everywhere = constraint(project, "Ask first\u202e<b>")
    gone = constraint(project, "Old", "old")
    archive_memory(actor=person(alice), memory=gone, expected_version=1, reason="Old.")
    folder = render_rules(project)
    assert [(file.scope, file.numbers) for file in folder.files] == [
        ("", (everywhere.number,)),
        ("hooks", (both.number,)),
        ("src/api", (advisory.number, both.number)),
    ]
    assert folder.refused == ()
    anywhere, _, api = folder.files
    assert api.name == file_name("src/api")
    assert api.name.startswith("src-api-")
    lines = api.content.split("\n")
    assert lines[:5] == ["---", "paths:", '  - "src/api/**"', '  - "src/api"', "---"]
    assert lines[5] == "<!-- memoryhub:rules harbor -->"
    assert api.paths == ["src/api/**", "src/api"]
    headings = [line for line in lines if line.startswith("#")]
    assert headings == ["# Rules for src/api and all below it", "## #2: Never log bodies", "## #1: Weigh it"]
    assert "**Advisory: weigh it.** What it says, in a line." in api.content
    assert f"**Reason**\n\n> {DETAILS['constraint']['reason']}" in api.content
    assert "More of it: `memory_get 1`." in api.content
    assert "Long." not in api.content
    assert anywhere.name == "all-paths.md"
    assert anywhere.paths == []
    assert anywhere.content.startswith("<!-- memoryhub:rules harbor -->\n\n# Rules for all paths\n")
    assert "## #3: Ask first[U+202E]\\<b>" in anywhere.content.replace("\\[", "[").replace("\\]", "]")


_ODD = ["a[b]", "a]b", "{a}", "a}b", "a*", "a?", 'a"b', "a\tb", "a\nb", "a\x00b", "a\u2028b", "a\u202eb"]


@pytest.mark.parametrize("scope", [*_ODD, "a,b", "!a", "#a"])
def test_a_scope_that_would_be_a_pattern_is_refused_and_listed(scope: str) -> None:
    assert refusal(scope)


def test_what_is_refused_is_told_with_its_numbers(project: Project) -> None:
    odd = constraint(project, "In a route", "app/[id]", "src/it's (fine) & ok")
    folder = render_rules(project)
    assert [(one.scope, one.numbers) for one in folder.refused] == [("app/[id]", (odd.number,))]
    assert [file.scope for file in folder.files] == ["src/it's (fine) & ok"]
    store_scope(odd, 'say "it"')
    assert [one.scope for one in render_rules(project).refused] == ['say "it"']


def test_names_are_safe_and_differ() -> None:
    scopes = [
        "src/api",
        "src-api",
        "SRC/API",
        "Src/Api",
        "src/äpi",
        "..",
        "con",
        "a" * 300,
        "日本",
        "all-paths",
    ]
    names = [file_name(scope) for scope in scopes]
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
        assert len(name) < 80
        assert name.count(".") == 1
        assert not name.startswith((".", "-"))
        assert name != "all-paths.md"


def test_the_queries_dont_depend_on_how_much_there_is(project: Project, alice: User) -> None:
    def queries() -> tuple[int, int]:
        found = []
        for render in (render_decisions, render_rules):
            with CaptureQueriesContext(connection) as asked:
                render(project)
            found.append(len(asked))
        return found[0], found[1]

    decision(project, "One", tags=["a"])
    constraint(project, "One rule", "src")
    few = queries()
    for n in range(5):
        old = decision(project, f"Old {n}", tags=["a", "b"])
        new = decision(project, f"New {n}")
        supersede_memory(actor=person(alice), memory=old, successor=new.number, expected_version=1)
        constraint(project, f"Rule {n}", f"src/{n}", "lib")
    assert queries() == few
