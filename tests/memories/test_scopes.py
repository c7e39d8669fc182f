"""Scope paths: relative to the repository, covering by whole components; one place for every surface."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.models import Memory
from memories.scopes import covering_paths, normalise_path, normalise_scopes
from memoryhub.kernel.errors import Invalid
from projects.models import Project, User
from tests.factories import MemoryFactory
from tests.memories.verbs import now, revise

part = st.text("abcAB .-_[]é日#", min_size=1, max_size=6).filter(
    lambda p: p.strip() == p and p not in (".", "..")
)
paths = st.lists(part, min_size=1, max_size=5).map("/".join)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("hooks", "hooks"),
        ("hooks/", "hooks"),
        ("./hooks//a.py", "hooks/a.py"),
        ("hooks\\sub\\a.py", "hooks/sub/a.py"),
        (".\\hooks\\", "hooks"),
        (" hooks ", "hooks"),
        ("a/./b", "a/b"),
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx"),
        ("a..b/...", "a..b/..."),
        (".github", ".github"),
        ("My Folder/a b", "My Folder/a b"),
        ("__init__.py", "__init__.py"),
        ("x" * 300, "x" * 300),
        ("", ""),
        (".", ""),
        ("./", ""),
    ],
)
def test_a_path_is_normalised(given: str, kept: str) -> None:
    assert normalise_path(given) == kept


@pytest.mark.parametrize(
    "path",
    [
        "/a",
        "\\a",
        "//a",
        "C:\\a",
        "c:/a",
        "..",
        "../a",
        "a/../b",
        "a/..",
        "a\\..\\b",
        "*",
        "*.py",
        "a/**/b",
        "a?",
        "a\nb",
        "a\x00",
        "\ud800",
        "a\u2028b",
        "x" * 301,
    ],
    ids=ascii,
)
def test_what_is_no_path_of_the_repository_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"\.$") as refusal:
        normalise_path(path)
    assert str(refusal.value).isprintable()
    with pytest.raises(ValueError, match=r"\.$"):
        covering_paths(path)


def test_scopes_are_kept_once_and_global_covers_no_path() -> None:
    assert normalise_scopes(["b", "./b/", "a", "GLOBAL", " global ", "", "."]) == ["b", "a"]
    assert normalise_scopes([]) == []


@pytest.mark.parametrize("path", ["global/", "./global", "Global\\"])
def test_a_folder_that_reads_as_global_is_refused_rather_than_lost(path: str) -> None:
    with pytest.raises(ValueError, match="covers no path"):
        normalise_scopes([path])
    assert normalise_scopes(["global/x"]) == ["global/x"]


def test_a_path_is_covered_by_itself_and_the_folders_above() -> None:
    assert covering_paths("hooks/sub/a.py") == ["hooks", "hooks/sub", "hooks/sub/a.py"]
    assert covering_paths("hooks/") == ["hooks"]
    assert covering_paths("") == covering_paths(".") == []


@given(paths, paths)
def test_covering_goes_by_whole_components(scope: str, path: str) -> None:
    below = f"{scope}/{path}"
    assert normalise_path(scope) in covering_paths(below)
    parts, above = normalise_path(path).split("/"), normalise_path(scope).split("/")
    assert (normalise_path(scope) in covering_paths(path)) == (parts[: len(above)] == above)
    assert normalise_path(normalise_path(path)) == normalise_path(path)


def test_scopes_of_a_constraint(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="constraint", scope_paths=["b\\c", "a", "./a", "global"])
    assert now(memory).scope_paths == ["b/c", "a"]
    revise(alice, memory, scope_paths=["z", "b/c"])
    assert now(memory).scope_paths == ["z", "b/c"]
    assert revise(alice, memory, scope_paths=["./z/", "b/c"]).memory.version == 2
    revise(alice, memory, scope_paths=[])
    assert now(memory).scope_paths == []


def test_a_constraint_has_at_most_ten_scopes(alice: User, project: Project) -> None:
    memory = MemoryFactory(project=project, kind="constraint", scope_paths=[f"d{n}" for n in range(10)])
    with pytest.raises(Invalid) as refused:
        revise(alice, memory, scope_paths=[f"d{n}" for n in range(11)])
    assert set(refused.value.details["fields"]) == {"scope_paths"}
    revise(alice, memory, scope_paths=[*(f"e{n}" for n in range(10)), "./e1", "global"])
    assert len(now(memory).scope_paths) == 10


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("hooks/a.py", {"hooks", "hooks/a.py"}),
        ("hooks", {"hooks"}),
        ("webhooks/a.py", set()),
        ("src/hooks/a.py", set()),
        ("hooks2", set()),
        ("HOOKS/a.py", set()),
        ("./hooks\\a.py", {"hooks", "hooks/a.py"}),
        ("hooks/a.py/x", {"hooks", "hooks/a.py"}),
        ("hook_", set()),
        ("hook%", set()),
        (".", set()),
    ],
)
def test_constraints_are_found_by_the_paths_they_cover(
    project: Project, path: str, covered: set[str]
) -> None:
    for scope in (["hooks"], ["hooks/a.py"], ["hookX"], []):
        MemoryFactory(project=project, kind="constraint", title=(scope or ["global"])[0], scope_paths=scope)
    found = Memory.objects.covering(covering_paths(path))
    assert {memory.title for memory in found} == covered
