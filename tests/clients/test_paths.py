"""Which rules cover what is edited, on every system; what `--check` says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients.running import Desk

RULES = {
    "rules": [
        [1, "absolute", "[#1] hooks", ["hooks"]],
        [2, "advisory", "[#2] one file", ["src/a.py"]],
        [3, "advisory", "[#3] nothing", []],
        [4, "advisory", "[#4] another", ["Src/Umlaut ä"]],
    ]
}


@pytest.fixture
def here(desk_at: Callable[..., Desk]) -> Desk:
    """A desk with rules from an earlier start, and no hub."""
    desk = desk_at("http://127.0.0.1:1")
    desk.state.mkdir(mode=0o700)
    (desk.state / f"rules.127.0.0.1_1.harbor.{desk.token[3:11]}.json").write_text(json.dumps(RULES))
    return desk


def told(desk: Desk, tool_input: Any, **event: Any) -> list[int]:
    """What the client finds for an edit, in this process: the same functions, without starting Python."""
    names: dict[str, Any] = {"__name__": "connect", "__file__": str(desk.client)}
    exec(compile(desk.client.read_bytes(), str(desk.client), "exec"), names)
    place = names["PLACE"]
    place.folder = str(desk.state)
    place.url, place.project, place.token = desk.url, "harbor", desk.token
    place.event = {"cwd": str(desk.repository), **event}
    place.repository = names["top_of"](place.event["cwd"])
    return [rule[0] for rule in names["covering"](names["edited_paths"](tool_input))]


@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("hooks/a.py", [1]),
        ("./hooks//a.py", [1]),
        ("hooks", [1]),
        ("webhooks/a.py", []),
        ("hooks2/a.py", []),
        ("x/hooks/a.py", []),
        ("x/../hooks/a.py", [1]),
        ("../hooks/a.py", []),
        ("src/a.py", [2]),
        ("src/a.pyc", []),
        ("src\\a.py", [2]),
        ("Src/Umlaut ä/é.py", [4]),
        ("", []),
    ],
)
def test_a_path_is_covered_by_whole_components(here: Desk, path: str, rules: list[int]) -> None:
    assert told(here, {"file_path": path}) == rules
    if path and not path.startswith(".."):
        assert told(here, {"file_path": f"{here.repository}/{path}"}) == rules


def test_a_path_of_windows_is_matched(here: Desk) -> None:
    for cwd in ("C:\\repo", "c:/Repo/", "/c/repo"):
        assert told(here, {"file_path": "C:\\repo\\src\\a.py"}, cwd=cwd) == [2]
        assert told(here, {"file_path": "C:\\repo2\\src\\a.py"}, cwd=cwd) == []
        assert told(here, {"file_path": "D:\\repo\\src\\a.py"}, cwd=cwd) == []


def test_neither_locale_nor_backslashes_hide_a_rule(here: Desk) -> None:
    here.env |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert "[#4] another" in here.run("before-edit", tool_input={"file_path": "Src\\Umlaut ä\\é.py"}).out
    edit = {"tool_input": {"file_path": "C:\\repo\\src\\a.py"}}
    assert "[#2] one file" in here.run("before-edit", cwd="C:\\repo", **edit).out


def test_a_folder_below_and_a_link_are_the_same_repository(here: Desk, tmp_path: Path) -> None:
    (here.repository / "src").mkdir()
    assert told(here, {"file_path": "a.py"}, cwd=str(here.repository / "src")) == [2]
    link = tmp_path / "link"
    link.symlink_to(here.repository)
    assert told(here, {"file_path": f"{link}/src/a.py"}) == [2]


@pytest.mark.parametrize(
    "tool_input",
    [
        {"notebook_path": "hooks/a.ipynb"},
        {"edits": [{"file_path": "hooks/a.py"}]},
        {"files": ["x.py", "hooks/a.py"]},
        {"command": "*** Begin Patch\n*** Update File: hooks/a.py\n@@\n-a\n+b\n*** End Patch"},
        {"command": ["apply_patch", "*** Begin Patch\n*** Add File: hooks/a.py\n+b\n*** End Patch"]},
        "*** Begin Patch\n*** Delete File: hooks/a.py\n*** End Patch",
    ],
)
def test_every_hosts_way_to_name_a_path_is_read(here: Desk, tool_input: Any) -> None:
    assert told(here, tool_input) == [1]


@pytest.mark.parametrize("tool_input", [None, 7, [], {"file_path": 7}, {"edits": "x"}, {"files": [None, 3]}])
def test_what_names_no_path_is_covered_by_nothing(here: Desk, tool_input: Any) -> None:
    assert told(here, tool_input) == []


def test_after_an_edit_the_rules_are_told_where_no_hook_came_before(here: Desk) -> None:
    edit = {"tool_name": "write_file", "tool_input": {"file_path": "hooks/a.py"}}
    out = here.run("after-tool", host="gemini-cli", hook_event_name="AfterTool", **edit).value
    assert "[#1]" in out["hookSpecificOutput"]["additionalContext"]
    assert not here.run("after-tool", **edit).out


def test_the_check_says_what_is_wrong(here: Desk, tmp_path: Path) -> None:
    (here.repository / ".memoryhub.json").write_text('{"token": "x"}')
    ran = here.run("--check")
    assert ran.code == 1
    for said in ("can't be reached", "which is never read from there", "No host's settings", "git runs"):
        assert said in ran.out
    assert here.token not in ran.out


def test_the_check_says_what_works(desk: Desk) -> None:
    settings = desk.repository / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": "python3 .memoryhub/connect.py session-start"}')
    ran = desk.run("--check")
    assert (ran.code, "All is well." in ran.out) == (0, True)
    for said in ("where you are owner", "reads and writes", "session-start", "The spool is empty"):
        assert said in ran.out
    desk.token = desk.token[:-1]
    ran = desk.run("--check")
    assert ran.code == 1
    assert "doesn't know the token" in ran.out


def test_the_checkpoints_file_never_lies_outside(here: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("# Current State\n\n## Objective\nSecret\n")
    (here.repository / "link.md").symlink_to(secret)
    for named in ("../secret", "link.md", str(secret), "C:/x", 7):
        (here.repository / ".memoryhub.json").write_text(json.dumps({"state_file": named}))
        here.run("before-compaction")
    assert "Secret" not in "".join(path.read_text() for path in here.spooled)
