"""What agents are told in a repository names only what there is."""

from __future__ import annotations

import re

import pytest
import yaml
from django.test import Client

from memoryhub.kernel.tools import all_tools
from projects.guides import section, skill
from tasks.current_state import HEADINGS, parse
from tests.projects.test_hosts import MOMENTS

# Of the hub's words, those that look like tools and are fields or answers.
WORDS = {"pending_review", "already_claimed", "next_steps"}
COMMANDS = {"--check", "checkpoint", "hand-off", *MOMENTS}


@pytest.mark.parametrize("text", [section(), skill()], ids=["section", "skill"])
def test_it_names_only_tools_and_commands_that_exist(text: str) -> None:
    named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)) - WORDS - {"write_context"}
    tools = {tool.name for tool in all_tools()}
    assert named <= tools, f"There is no {named - tools}."
    assert {"memory_recall", "checkpoint_save", "handoff_write", "memory_search", "memory_add"} <= named
    asked = set(re.findall(r"connect\.py (\S+?)[`\s]", text))
    assert asked
    assert asked <= COMMANDS


def test_the_form_in_it_is_the_checkpoint_s() -> None:
    (form,) = re.findall(r"```\n(# Current State\n.*?)```", section(), re.DOTALL)
    read = parse(form)
    assert (read.missing, read.problems, read.sections) == ([], {}, [])
    assert set(read.fields) == set(HEADINGS)
    assert read.updated_at is not None


def test_the_skill_begins_with_what_hosts_read_first() -> None:
    _, front, body = skill().split("---\n", 2)
    said = yaml.safe_load(front)
    assert said["name"] == "memoryhub"
    assert set(said) == {"name", "description"}
    assert 100 < len(said["description"]) <= 1024
    assert body.lstrip().startswith("# ")


def test_the_hub_serves_both_to_anybody(client: Client) -> None:
    assert client.get("/clients/guide/AGENTS.md").content.decode() == section()
    assert client.get("/clients/guide/SKILL.md").content.decode() == skill()
    assert client.get("/clients/guide/OTHER.md").status_code == 404
