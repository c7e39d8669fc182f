"""A project goes out whole and comes in whole, on and across both engines."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.models import Memory
from memories.search.upkeep import drift
from memories.services import add_memory
from memoryhub.exchange import importing, table
from memoryhub.kernel.doctor import all_checks
from memoryhub.kernel.errors import DomainError
from projects.models import Project, Role
from tasks.services import claim_task, create_task, revise_task, save_checkpoint, write_handoff
from tests.exchange.other_engine import OTHER
from tests.exchange.rich import bring, content, packed, rich_project, wipe
from tests.factories import ProjectFactory, agent, member, person
from tests.memories.verbs import archive, merge, restore, revise, supersede

pytestmark = pytest.mark.django_db
OURS = ("projects", "memories", "tasks", "hygiene", "exchange", "memoryhub")


def test_export_wipe_import_export_gives_the_same() -> None:
    project = rich_project()
    before, data = content(project), packed(project)
    wipe(project)
    plan = bring(data)
    back = Project.objects.get(slug="harbor")
    assert content(back).decode().splitlines() == before.decode().splitlines()
    assert plan.attributions == []
    findings = [finding.sentence for check in all_checks().values() for finding in check(back)]
    assert not [sentence for sentence in findings if "checkpoint" not in sentence]


def test_words_of_very_many_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes anew, and what is changed by what comes: the index and its counts are as ever."""
    monkeypatch.setattr(importing, "COUNTED_EACH", 0)
    told: list[Project] = []
    whole = importing.counted_together
    monkeypatch.setattr(importing, "counted_together", lambda project: told.append(project) or whole(project))
    project = rich_project()
    data = packed(project)
    wipe(project)
    bring(data)
    back = Project.objects.get(slug="harbor")
    assert told == [back]
    assert not drift(back)
    changed = Memory.objects.filter(project=back, status="active", visibility="shared").first()
    assert changed is not None
    revise(member(back, "ina", Role.OWNER), changed, title="Quite another title")
    newer = packed(back)
    wipe(back)
    bring(data)
    bring(newer)
    back = Project.objects.get(slug="harbor")
    assert Memory.objects.get(uid=changed.uid).title == "Quite another title"
    assert not drift(back)


@pytest.mark.skipif(os.environ.get("TEST_ENGINE") == "postgres", reason="there and back is both ways")
def test_the_other_engine_gives_the_same(tmp_path: Path) -> None:
    project = rich_project()
    there, back = tmp_path / "there.json.gz", tmp_path / "back.json.gz"
    there.write_bytes(packed(project))
    before = content(project)
    done = subprocess.run(
        [sys.executable, "-m", "tests.exchange.other_engine", str(there), str(back)],
        env={**os.environ, "TEST_ENGINE": OTHER[os.environ.get("TEST_ENGINE", "sqlite")]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # Nobody has an account there: the names came through.
    lines = gzip.decompress(back.read_bytes()).splitlines(keepends=True)
    assert b"".join([lines[0], *lines[2:]]) == before
    wipe(project)
    bring(back.read_bytes())
    assert content(Project.objects.get(slug="harbor")) == before


def test_every_column_is_exported_or_left_out_with_a_reason() -> None:
    kinds = {kind.model: kind for kind in table.KINDS}
    for model in apps.get_models():
        if model._meta.app_label not in OURS or model._meta.label in table.STAYS:
            continue
        kind = kinds.get(model)
        assert kind is not None, f"{model._meta.label} is neither exported nor left out with a reason."
        columns = {field.name for field in model._meta.concrete_fields}
        named = {*kind.columns, *kind.left_out}
        assert columns == named, f"{model._meta.label}: {sorted(columns ^ named)}"
        assert all(kind.left_out.values())


# --- whatever was done with it -----------------------------------------------------------

texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=30
).filter(str.strip)
tags = st.lists(st.sampled_from(["http", "db", "ci", "a-b", "x1"]), unique=True, max_size=4)
acts = st.tuples(
    st.sampled_from(["add", "revise", "bag", "archive", "restore", "supersede", "merge", "link"]),
    st.integers(0, 30),
    st.integers(0, 30),
    texts,
    tags,
)
works = st.tuples(
    st.sampled_from(["task", "revise", "claim", "block", "receipt", "save"]),
    st.integers(0, 9),
    st.integers(0, 9),
    texts,
    tags,
)


class _Player:
    """Does what examples say with a project; what a rule refuses isn't done."""

    def __init__(self) -> None:
        self.project = ProjectFactory(slug="harbor")
        self.user = member(self.project, "alice", Role.OWNER)
        self.tasks: list[Any] = []

    def act(self, verb: str, one: int, other: int, text: str, tags: list[str]) -> None:
        user, summary = self.user, f"About {text}".replace("*", "x")
        here = list(Memory.objects.in_project(self.project).order_by("number").select_related("project"))
        if verb == "add" or not here:
            visibility = ("shared", "private", "public")[one % 3]
            add_memory(
                actor=(person, agent)[other % 2](user),
                project=self.project,
                kind="fact",
                title=text,
                summary=summary,
                tags=tags,
                body=text * other,
                visibility=visibility,
            )
            return
        memory, second = here[one % len(here)], here[other % len(here)]
        if verb == "revise":
            revise(user, memory, title=text, tags=tags, reason=text)
        elif verb == "bag":
            revise(user, memory, parent=second.number)
        elif verb == "link":
            revise(user, memory, related_to=[second.number], reason=text)
        elif verb == "supersede":
            supersede(user, memory, second)
        elif verb == "merge":
            merge(user, memory, second)
        else:
            (archive if verb == "archive" else restore)(user, memory)

    def work(self, verb: str, one: int, other: int, text: str, tags: list[str]) -> None:
        actor, summary = agent(self.user, session=f"s{one % 2}"), f"About {text}".replace("*", "x")
        if verb == "save":
            save_checkpoint(
                actor=actor,
                project=self.project,
                stream=f"s{one % 2}",
                objective=text,
                key_decisions=[text] * (other % 3),
            )
        elif verb == "receipt":
            write_handoff(actor=actor, project=self.project, summary=summary, tags=tags, done=text)
        elif verb == "task" or not self.tasks:
            done = create_task(actor=actor, project=self.project, title=text, summary=summary, tags=tags)
            self.tasks.append(done.task)
        else:
            task, second = self.tasks[one % len(self.tasks)], self.tasks[other % len(self.tasks)]
            if verb == "claim":
                claim_task(actor=actor, task=task, minutes=other + 1)
            elif verb == "block":
                revise_task(actor=actor, task=task, expected_version=None, blocked_by=[second.number])
            else:
                status = ("open", "in_progress", "done", "blocked")[other % 4]
                revise_task(
                    actor=actor, task=task, expected_version=None, status=status, parent=second.number
                )


def _same_again(doing: list[tuple[Any, ...]], working: list[tuple[Any, ...]]) -> None:
    with transaction.atomic():
        player = _Player()
        for play, given_acts in ((player.act, doing), (player.work, working)):
            for verb, *values in given_acts:
                try:
                    with transaction.atomic():
                        play(verb, *values)
                except DomainError:
                    continue
        project = player.project
        before, data = content(project), packed(project)
        assert bring(data).changes == 0
        assert content(project) == before
        wipe(project)
        bring(data)
        assert content(Project.objects.get(slug="harbor")) == before
        transaction.set_rollback(True)


any_history = given(st.lists(acts, min_size=8, max_size=25), st.lists(works, min_size=3, max_size=12))


@pytest.mark.slow
def test_any_history_goes_out_and_comes_in_the_same(scale: int) -> None:
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    settings(max_examples=4 * scale, suppress_health_check=quiet)(any_history(_same_again))()
