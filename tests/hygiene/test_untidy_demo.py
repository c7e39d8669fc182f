"""The demo: two projects, one in shape and one that isn't, loaded once however often."""

from __future__ import annotations

import pytest

from hygiene.models import Score
from hygiene.rules import readers_of_memories
from hygiene.services import report_of, tend
from memories.models import Memory
from memoryhub.demo.lantern import SLUG as UNTIDY
from memoryhub.demo.loading import SLUG, Demo, load_demo
from memoryhub.kernel.doctor import all_checks
from projects.models import Project

pytestmark = pytest.mark.django_db


def test_one_project_is_in_shape_and_the_other_has_something_for_every_rule(demo: Demo) -> None:
    assert demo.stored == Memory.objects.count()
    tidy, untidy = (report_of(Project.objects.get(slug=slug)) for slug in (SLUG, UNTIDY))
    assert tidy.score >= 70
    assert untidy.score < 60
    assert set(untidy.counts) == {each.rule.name for each in readers_of_memories()}


def test_its_history_falls_day_by_day_as_it_was_written(demo: Demo) -> None:
    project = Project.objects.get(slug=UNTIDY)
    scores = list(Score.objects.of(project).order_by("day").values_list("score", flat=True))
    assert len(scores) > 10
    assert scores[0] > 90
    assert scores[-1] == report_of(project).score == min(scores)


def test_it_is_still_untidy_after_its_first_upkeep(demo: Demo) -> None:
    project = Project.objects.get(slug=UNTIDY)
    assert tend(project).lowered
    project.refresh_from_db()
    assert report_of(project).score < 60


def test_loading_it_again_stores_nothing(demo: Demo) -> None:
    many = Memory.objects.count()
    assert load_demo().stored == 0
    assert Memory.objects.count() == many


def test_the_doctor_finds_it_sound(demo: Demo) -> None:
    for project in Project.objects.all():
        for name, check in all_checks().items():
            # Where work stands there is told on purpose: a result that nobody heard of, and so on.
            assert name == "checkpoints" or list(check(project)) == []
