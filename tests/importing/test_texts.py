"""Bytes and texts: what was damaged is repaired only where that is certain, and no word is lost."""

from __future__ import annotations

import contextlib
import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.models import Memory
from memoryhub.importing.candidates import Candidate, Place, as_moment
from memoryhub.importing.encodings import decode, mended, storable_text
from memoryhub.importing.fitting import Fitted, fit
from memoryhub.kernel.text import collapsed, summary_problem, text_problem

PLACE = Place("a.json", 1)


HOLES = {byte: chr(byte) for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
WINDOWS = {byte: HOLES.get(byte) or bytes([byte]).decode("cp1252") for byte in range(256)}


def damaged(text: str, page: str, times: int = 1) -> str:
    for _ in range(times):
        data = text.encode()
        text = "".join(WINDOWS[byte] for byte in data) if page == "cp1252" else data.decode(page)
    return text


@pytest.mark.parametrize("page", ["cp1252", "latin-1", "mac_roman", "cp437"])
@pytest.mark.parametrize(
    "text", ["drop LR 2e-5 → 1e-5 — at once", "naïve café — résumé", "日本語のメモ", "it’s 🎉"]
)
def test_what_was_misread_is_made_whole(text: str, page: str) -> None:
    broken = damaged(text, page)
    assert mended(f"{broken}\nplain\n{broken}") == f"{text}\nplain\n{text}"


def test_misread_twice_and_with_the_holes_of_windows() -> None:
    assert mended(damaged("a — b", "latin-1", times=2)) == "a — b"
    assert mended("she said â€œhiâ€\x9d") == "she said “hi”"


@pytest.mark.parametrize(
    "text",
    [
        "château, Æther, São Paulo, ÉTÉ…",
        "He wrote CAFÉ” and left",
        "a — b",
        "foo ─┐ bar",
        "└── src\n├── a.py",
        "Привет, мир: это проверка",
        "â€” beside a real —",
        "cut short: caf\xc3",
        "日本語",
        "10…°C",
    ],
)
def test_what_is_meant_stays(text: str) -> None:
    assert mended(text) == text


# What UTF-8 looks like when it is misread, and what it is taken for.
ALPHABET = "aÃâÂ€\u201d\u2122œ©°\x9d\x80\x94Γ\u00c7\u00f6—é "


@settings(max_examples=100)
@given(st.text(ALPHABET, max_size=12))
def test_a_repair_can_be_taken_back(text: str) -> None:
    better = {mended(text)}
    for _ in range(3):
        if text in better:
            return
        better = {was for now in better for was in _damages(now)}
    assert text in better


def _damages(text: str) -> set[str]:
    """What a text becomes in each way of misreading it."""
    found = {"".join(WINDOWS[byte] for byte in text.encode())}
    for page in ("latin-1", "mac_roman", "cp437", "cp1251"):
        with contextlib.suppress(UnicodeError):
            found.add(text.encode().decode(page))
    return found


@pytest.mark.parametrize(
    ("data", "text", "noted"),
    [
        ("é—".encode(), "é—", False),
        (b"\xef\xbb\xbf# Title", "# Title", False),
        ("é—".encode("utf-16"), "é—", False),
        ("plain text".encode("utf-16-le"), "plain text", False),
        ("é—".encode("utf-32"), "é—", False),
        (b"caf\xe9 \x96 na\xefve", "café – naïve", True),
        ("é".encode() + b" cut \xe2\x80", "é cut \ufffd", True),
        (b"\xff\xfe\x00", "\ufffd", True),
    ],
)
def test_bytes_are_read_as_what_they_are(data: bytes, text: str, noted: bool) -> None:
    decoded = decode(data)
    assert (decoded.text, bool(decoded.note)) == (text, noted)


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    text, _ = storable_text(decode(data).text)
    assert text_problem(text, most=10_000) is None


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=400)
TEXTS = st.one_of(WORDS, st.builds("\n".join, st.lists(WORDS, max_size=3)))


@settings(max_examples=60)
@given(TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=8), st.lists(TEXTS, max_size=3), TEXTS)
def test_no_word_is_lost(
    title: str, summary: str, body: str, tags: list[str], lines: list[str], why: str
) -> None:
    candidate = Candidate(
        "k", PLACE, "decision", title, summary, body, {"why_chosen": why}, tags=tags, hints=tags, lines=lines
    )
    fitted = fit(candidate, mend=False)
    fields = fitted.fields
    assert text_problem(fields["title"], most=Memory.TITLE_MAX_LENGTH, least=1, one_line=True) is None
    assert (
        fields["summary"] == "" or len(fields["summary"]) > 280 or summary_problem(fields["summary"]) is None
    )
    kept = " ".join([fields["title"], fields["summary"], fields["body"], *fields["details"].values()])
    kept += " " + " ".join([*fields["tags"], *fields["retrieval_hints"]])
    for text in (title, summary, body, why, *lines):
        assert _plain(text) in _plain(kept)
    for tag in tags:
        assert _plain(tag) in _plain(kept) or len(fields["tags"]) > 0


def _plain(text: str) -> str:
    return collapsed(text)


def fitted(**given: object) -> Fitted:
    return fit(Candidate("k", PLACE, **given))  # type: ignore[arg-type]


def test_a_long_summary_moves_into_an_empty_body_and_stays_whole_beside_another() -> None:
    long = "It holds. " * 40
    alone = fitted(title="A", summary=long).fields
    assert (alone["summary"], alone["body"]) == ("", long.strip())
    beside = fitted(title="A", summary=long, body="More.").fields
    assert (beside["summary"], beside["body"]) == (collapsed(long), "More.")


def test_marks_go_out_of_a_summary_and_stand_in_the_body() -> None:
    fields = fitted(title="A", summary="## Use **one**\nwriter", body="More.").fields
    assert (fields["summary"], fields["body"]) == ("Use one writer", "## Use **one**\nwriter\n\nMore.")


def test_a_long_title_is_cut_at_a_word_and_stands_whole_elsewhere() -> None:
    long = "word " * 40
    fields = fitted(title=long, body="# More").fields
    assert (fields["title"], fields["summary"]) == (("word " * 24).strip(), long.strip())
    both = fitted(title=long, summary="Short.", body="More.").fields
    assert (both["summary"], both["body"]) == ("Short.", f"{long.strip()}\n\nMore.")


def test_tags_beyond_five_and_those_that_are_none_are_the_last_line() -> None:
    given = ["One Two", "b", "c", "d_e", "f", "g", "日本", "C++", "naïve", "b"]
    fields = fitted(title="A", body="# Text", tags=given).fields
    assert fields["tags"] == ["one-two", "b", "c", "d-e", "f"]
    assert fields["body"] == "# Text\n\nTags: g, 日本, C++, naïve"


def test_what_is_too_long_for_its_field_stands_in_the_body() -> None:
    fields = fitted(title="A", kind="decision", details={"problem": "x" * 10_001, "odd": "y"}).fields
    assert fields["details"] == {}
    assert fields["body"] == f"Problem:\n{'x' * 10_001}\n\nOdd:\ny"


def test_a_scope_that_is_no_path_stands_in_the_body() -> None:
    given = ["src/api/", "global", "all of the API", "src/*.py", "../x", "hooks/a.py:save"]
    fields = fitted(title="A", kind="constraint", scopes=given).fields
    assert fields["scope_paths"] == ["src/api", "hooks/a.py"]
    assert fields["body"] == "Scope: all of the API, src/*.py, ../x, hooks/a.py:save"


def test_control_characters_are_shown_and_said() -> None:
    found = fitted(title="A\x00b", body="one\x1b[31mtwo\r\nthree\x0bfour")
    assert found.fields["title"] == "A\ufffdb"
    assert found.fields["body"] == "one\ufffd[31mtwo\nthree\nfour"
    assert (found.is_damaged, any("Control" in note for note in found.notes)) == (True, True)


def test_a_repair_is_said_and_can_be_left_out() -> None:
    broken = damaged("a — b", "cp1252")
    assert fitted(title="A", body=f"# {broken}").fields["body"] == "# a — b"
    as_it_is = fit(Candidate("k", PLACE, title="A", body=f"# {broken}"), mend=False)
    assert (as_it_is.fields["body"], as_it_is.is_damaged) == (f"# {broken}", True)


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2026-04-10T02:33:10+02:00", dt.datetime(2026, 4, 10, 0, 33, 10, tzinfo=dt.UTC)),
        ("2026-04-10", dt.datetime(2026, 4, 10, tzinfo=dt.UTC)),
        ("17/12/2016", dt.datetime(2016, 12, 17, tzinfo=dt.UTC)),
        ("2026-13-45", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
        (17, None),
    ],
)
def test_days_are_read_as_moments(said: object, moment: dt.datetime | None) -> None:
    assert as_moment(said) == moment
