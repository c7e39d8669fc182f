"""What every template shows: ages, exact times, and marks written out."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone
from django.utils.html import conditional_escape, format_html

from memoryhub.templatetags.hub import age, exact, moment, shown, thousands, told

NOW = dt.datetime(2026, 3, 12, 12, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("ago", "told"),
    [
        ({"seconds": 0}, "just now"),
        ({"seconds": 59}, "just now"),
        ({"seconds": 60}, "1 minute ago"),
        ({"minutes": 59}, "59 minutes ago"),
        ({"hours": 1}, "1 hour ago"),
        ({"hours": 47}, "1 day ago"),
        ({"days": 29}, "29 days ago"),
        ({"days": 65}, "2 months ago"),
        ({"days": 800}, "2 years ago"),
        ({"seconds": -20}, "in a moment"),
        ({"days": -3}, "in 3 days"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(ago: dict[str, int], told: str) -> None:
    assert age(NOW - dt.timedelta(**ago), NOW) == told


def test_a_moment_carries_the_exact_time_in_the_readers_zone() -> None:
    with timezone.override("Australia/Melbourne"):
        html = moment(NOW)
    assert 'datetime="2026-03-12T12:00:00Z"' in html
    assert 'title="2026-03-12 23:00 Australia/Melbourne"' in html


def test_no_moment_is_nothing() -> None:
    assert moment(None) == exact(None) == ""


def test_marks_are_written_out_and_left_for_the_template_to_escape() -> None:
    assert shown("a\u202eb <b>") == "a[U+202E]b <b>"


def test_thousands_stand_apart() -> None:
    assert thousands(12345) == "12,345"
    assert thousands("") == ""


def test_what_was_done_is_html_only_where_it_was_made_as_such() -> None:
    assert conditional_escape(told("<b>\u202egnp")) == "&lt;b&gt;[U+202E]gnp"
    link = format_html('<a href="{}">#1</a>', "/x/")
    assert conditional_escape(told(link)) == '<a href="/x/">#1</a>'
