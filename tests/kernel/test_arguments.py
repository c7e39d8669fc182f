"""Arguments: read leniently, meant strictly, everything wrong named at once; numbers as people write them."""

from __future__ import annotations

import datetime as dt
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import (
    Argument,
    Arguments,
    Choice,
    Context,
    Count,
    Details,
    Flag,
    Moment,
    Number,
    Numbers,
    ReviewNumber,
    Text,
    Unreadable,
    Version,
    Whole,
    Words,
)
from memoryhub.kernel.errors import Invalid, Problems, SecretDetected
from memoryhub.kernel.refs import MAX_NUMBER, read_number

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
EVERY_ARGUMENT = (
    Argument(),
    Text(),
    Number(),
    Number(or_zero=True),
    ReviewNumber(),
    Count(),
    Version(),
    Whole(),
    Flag(),
    Choice(options=("a", "b")),
    Words(),
    Words(options=("a", "b")),
    Numbers(),
    Moment(),
    Details(),
)


@pytest.mark.parametrize("value", [12, "12", "R12", "r12", " R12 ", "R 12", "#12"])
def test_a_review_however_it_is_written(value: object) -> None:
    assert ReviewNumber().read(value) == 12


@pytest.mark.parametrize("value", ["RR12", "R", "R0", 0, "R-1", "12R", True, None, ["R12"], "R12,R13"])
def test_what_is_no_review(value: object) -> None:
    with pytest.raises(Unreadable, match="R12"):
        ReviewNumber().read(value)


@pytest.mark.parametrize("value", [48, "48", "#48", " #48 ", "# 48", 48.0, "048"])
def test_a_number_however_it_is_written(value: object) -> None:
    assert read_number(value) == 48
    assert Number().read(value) == 48


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1,
        1.5,
        "",
        "#",
        "x",
        "4 8",
        "48.",
        "4,8",
        "R48",
        "##48",
        "-48",
        "+48",
        "1e3",
        "٤٨",
        "４８",
        MAX_NUMBER + 1,
        str(MAX_NUMBER + 1),
        "9" * 5000,
        float("inf"),
        float("nan"),
        1e300,
        [48],
        {"n": 48},
        b"48",
    ],
)
def test_what_is_no_number(value: object) -> None:
    assert read_number(value) is None
    with pytest.raises(Unreadable):
        Number().read(value)


def test_zero_is_a_number_only_where_it_means_none() -> None:
    assert Number(or_zero=True).read("0") == 0
    with pytest.raises(Unreadable):
        Number().read(0)


@pytest.mark.parametrize("value", ["R12", "r12", "#12", "12", 12])
def test_reviews_are_also_written_with_an_r(value: object) -> None:
    assert read_number(value, review=True) == 12


@pytest.mark.parametrize(("value", "count"), [(5, 5), ("5", 5), (" 5 ", 5), (5.0, 5), (100, 100), (101, 100)])
def test_a_count_is_lowered_to_the_most(value: object, count: int) -> None:
    assert Count(most=100).read(value) == count


@pytest.mark.parametrize("value", [10**9, "9" * 20, 1e15, 2**80])
def test_a_huge_count_is_lowered_too(value: object) -> None:
    assert Count(most=100).read(value) == 100


@pytest.mark.parametrize(
    "value", [0, -1, "0", "-5", "", "x", True, False, 1.5, "1.5", None, [], {}, float("nan")]
)
def test_what_is_no_count_is_refused(value: object) -> None:
    with pytest.raises(Unreadable):
        Count(most=100).read(value)


@pytest.mark.parametrize("value", [1, "1", 1440, "1440", 60.0])
def test_a_whole_number_in_its_range_is_read(value: object) -> None:
    assert Whole(most=1440).read(value) == int(float(str(value)))


@pytest.mark.parametrize("value", [0, -1, 1441, "1441", 10**30, "9" * 40, 1.5, True, "many", [], None])
def test_a_whole_number_outside_of_its_range_is_refused_and_not_lowered(value: object) -> None:
    with pytest.raises(Unreadable, match="from 1 to 1440"):
        Whole(most=1440).read(value)


@pytest.mark.parametrize(
    ("value", "flag"), [(True, True), (False, False), ("true", True), (" False ", False)]
)
def test_a_flag(value: object, flag: bool) -> None:
    assert Flag().read(value) is flag


@pytest.mark.parametrize("value", [1, 0, "yes", "", "1", None, [], "truely"])
def test_what_is_no_flag_is_refused(value: object) -> None:
    with pytest.raises(Unreadable):
        Flag().read(value)


@pytest.mark.parametrize("value", ["A", " a", "", "c", 1, None, ["a"], {"a": 1}, True])
def test_an_unknown_choice_is_never_rewritten(value: object) -> None:
    with pytest.raises(Unreadable) as refusal:
        Choice(options=("a", "b")).read(value)
    assert "a, b" in str(refusal.value)


@pytest.mark.parametrize("value", [["a", "b"], '["a", "b"]', ' ["a","b"] ', "a,b", "a, b", " a , b ,,"])
def test_words_as_list_json_or_commas(value: object) -> None:
    assert Words().read(value) == ["a", "b"]


@pytest.mark.parametrize("value", ["", "[]", [], " , "])
def test_nothing_is_an_empty_list(value: object) -> None:
    assert Words().read(value) == []
    assert Numbers().read(value) == []


@pytest.mark.parametrize(
    "value", [True, {"a": 1}, [1], ["a", None], [["a"]], "[1]", '["a"', "[" * 5000, None, 5]
)
def test_what_is_no_list_of_words_is_refused(value: object) -> None:
    with pytest.raises(Unreadable):
        Words().read(value)


@pytest.mark.parametrize("value", [[48, 52], "48,52", "#48, #52", "[48, 52]", '["#48", 52]', ["48", 52.0]])
def test_numbers_as_list_json_or_commas(value: object) -> None:
    assert Numbers().read(value) == [48, 52]
    assert Numbers().read(48) == [48]


@pytest.mark.parametrize("value", [True, [True], [0], [-1], "x", "48 52", [None], [[48]], {"a": 48}, [1.5]])
def test_what_is_no_list_of_numbers_is_refused(value: object) -> None:
    with pytest.raises(Unreadable):
        Numbers().read(value)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-03-12", dt.datetime(2026, 3, 12, tzinfo=dt.UTC)),
        (" 2026-03-12 ", dt.datetime(2026, 3, 12, tzinfo=dt.UTC)),
        ("2026-03-12T21:00:00Z", dt.datetime(2026, 3, 12, 21, tzinfo=dt.UTC)),
        ("2026-03-12T21:00:00+10:00", dt.datetime(2026, 3, 12, 11, tzinfo=dt.UTC)),
    ],
)
def test_moments_are_dates_or_have_a_zone(value: str, moment: dt.datetime) -> None:
    assert Moment().read(value) == moment


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-12T21:00:00",
        "2026-03-12 21:00",
        "20260312",
        "yesterday",
        "",
        "2026-02-30",
        "2026-3-1",
        0,
        None,
        True,
        "٢٠٢٦-٠٣-١٢",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
        "�",
        [],
        1773349200,
    ],
)
def test_naive_and_senseless_moments_are_refused(value: object) -> None:
    with pytest.raises(Unreadable):
        Moment().read(value)


@pytest.mark.parametrize("argument", EVERY_ARGUMENT, ids=lambda argument: type(argument).__name__)
@given(value=json_values)
def test_any_json_is_read_or_refused_and_nothing_else(argument: Argument, value: Any) -> None:
    with suppress(Unreadable):
        argument.read(value)


def _read(given: dict[str, Any], **arguments: Argument) -> tuple[dict[str, Any], dict[str, str]]:
    problems = Problems()
    return Arguments(arguments).read(given, problems), problems.fields


def test_everything_wrong_is_named_at_once() -> None:
    _, wrong = _read(
        {"ref": "x", "limit": 0, "colour": "red", "tags": 5},
        ref=Number(required=True),
        limit=Count(),
        tags=Words(),
        query=Text("Words", required=True),
    )
    assert set(wrong) == {"ref", "limit", "colour", "tags", "query"}
    assert wrong["query"] == "Required. Words."
    assert "ref, limit, tags, query" in wrong["colour"]


def test_null_and_absent_are_not_given_and_empty_is() -> None:
    values, wrong = _read({"a": None, "b": "", "c": []}, a=Text(), b=Text(), c=Words(), d=Text())
    assert values == {"b": "", "c": []}
    assert not wrong


def test_a_required_null_is_missing() -> None:
    assert set(_read({"a": None}, a=Text(required=True))[1]) == {"a"}


@pytest.mark.parametrize("name", ["\ud800", "\x00", "\u202e", "a" * 500, ""])
def test_an_unknown_name_is_safe_to_repeat(name: str) -> None:
    _, wrong = _read({name: 1}, a=Text())
    (field,) = wrong
    json.dumps(wrong, ensure_ascii=False).encode()
    assert field.isprintable()
    assert len(field) <= 40


def _context(given: Any) -> tuple[Any, dict[str, str]]:
    values, wrong = _read({"write_context": given}, write_context=Context())
    return values.get("write_context"), wrong


def test_a_write_context_says_where_a_write_comes_from() -> None:
    given = {
        "session": "s" * 80,
        "client": "c" * 80,
        "model": "m" * 80,
        "branch": "b" * 200,
        "commit": "f" * 64,
    }
    context, wrong = _context(given)
    assert not wrong
    assert context == WriteContext(**given)
    assert _context(json.dumps(given))[0] == context
    assert _context({"session": "s", "model": None})[0] == WriteContext(session="s")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, {"session"}),
        ({"session": ""}, {"session"}),
        ({"session": "  "}, {"session"}),
        ({"session": None}, {"session"}),
        ({"session": 5}, {"session"}),
        ({"session": "s" * 81}, {"session"}),
        ({"session": "a\nb"}, {"session"}),
        ({"session": "a\x00"}, {"session"}),
        (
            {"session": "s", "branch": "b" * 201, "commit": "f" * 65, "client": ["x"]},
            {"branch", "commit", "client"},
        ),
        ({"session": "s", "colour": 1}, {"colour"}),
        ({"session": "s", "\ud800": 1}, {"?"}),
    ],
)
def test_a_bad_write_context_names_its_fields(given: dict[str, Any], named: set[str]) -> None:
    _, wrong = _context(given)
    assert set(wrong) == {f"write_context.{name}" for name in named}
    json.dumps(wrong, ensure_ascii=False).encode()


@pytest.mark.parametrize("given", ["x", "[]", [], 5, True, "null"])
def test_what_is_no_object_is_no_write_context(given: object) -> None:
    assert set(_context(given)[1]) == {"write_context"}


def test_a_secret_outranks_other_problems_and_all_are_named() -> None:
    problems = Problems()
    problems.add("title", "Is empty.")
    problems.add_secret("body", 3, "a key")
    problems.add("title", "Another thing.")
    with pytest.raises(SecretDetected) as refusal:
        problems.raise_if_any()
    assert refusal.value.details["field"] == "body"
    assert refusal.value.details["line"] == 3
    assert set(refusal.value.details["fields"]) == {"title", "body"}
    assert refusal.value.details["fields"]["title"] == "Is empty."


def test_problems_raise_only_when_there_are_some() -> None:
    Problems().raise_if_any()
    problems = Problems()
    problems.add("title", None)
    problems.raise_if_any()
    problems.add("title", "Is empty.")
    with pytest.raises(Invalid):
        problems.raise_if_any()
