"""The analyser: what a text is indexed under, and that a question for a word of it finds it."""

from __future__ import annotations

import random
import re
import threading
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memories.search.analyse import (
    QUERY_MAX_TERMS,
    STOP_WORDS,
    TOKEN_MAX_LENGTH,
    WORD_PUNCTUATION,
    QueryTerm,
    _asked,
    _normal,
    _tokens,
    _words,
    analyse,
    analyse_query,
)
from memories.search.ranking import distinct_texts
from memories.search.spans import marks


def finds(query: str, text: str) -> bool:
    """Whether some term of the question hits a token of the text, as the engines match."""
    tokens = set(analyse(text))
    return any(
        any(token.startswith(term.text) for token in tokens) if term.prefix else term.text in tokens
        for term in analyse_query(query)
    )


def words(query: str) -> list[str]:
    return [term.text for term in analyse_query(query)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("ask-codex", ["ask-codex", "ask", "codex"]),
        ("GB/s", ["gb/s", "gb", "s"]),
        ("don't", ["dont", "don"]),
        ("don’t", ["dont", "don"]),
        ("CLAUDE.md", ["claude.md", "claud", "md"]),
        ("src/main.py", ["src/main.py", "main.py", "src", "main", "py"]),
        ("getUserId", ["getuserid", "get", "user", "id"]),
        ("v2.3.1", ["v2.3.1", "v2", "3", "1"]),
        ("__init__.py", ["__init__.py", "init", "py"]),
        ("snake_case_names", ["snake_case_names", "snake", "case", "name"]),
        (
            "node_modules/@scope/pkg",
            ["node_modules/@scope/pkg", "node_modules", "node", "modul", "scope", "pkg"],
        ),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
        (".NET", [".net", "net"]),
        (
            "ann.lee@example.com",
            ["ann.lee@example.com", "ann.lee", "example.com", "ann", "lee", "exampl", "com"],
        ),
        ("#48", ["#48", "48"]),
        ("--no-verify", ["--no-verify", "no-verify", "no", "verifi"]),
        ("HTTPServer2", ["httpserver2", "http", "server"]),
        ("utf8mb4", ["utf8mb4", "utf", "mb"]),
        ("64-bit", ["64-bit", "64", "bit"]),
        ("std::vector<int>", ["std::vector", "std", "vector", "int"]),
        (r"C:\Users", [r"c:\users", "c", "user"]),
    ],
)
def test_an_identifier_is_indexed_whole_and_in_parts(text: str, tokens: list[str]) -> None:
    assert analyse(text) == tokens


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("main.py", "it is in src/main.py."),
        ("main", "(src/main.py)"),
        ("no-verify", "never use --no-verify!"),
        ("verify", "never use --no-verify!"),
        ("user", "call getUserId()"),
        ("getuserid", "call getUserId()"),
        ("github", "On GitHub"),
        ("GitHub", "on github"),
        ("dont", "we don't"),
        ("accessibilite", "l’accessibilité"),
        ("ask codex", "the ask-codex tool"),
        ("AND b-c", "a, b-c"),
        ("48", "see #48"),
        ("example.com", "write to a.b@example.com"),
        ("brien", "O'Brien"),
    ],
)
def test_a_part_finds_the_identifier(query: str, text: str) -> None:
    assert finds(query, text)


def test_plain_words_are_stemmed_and_stop_words_are_indexed() -> None:
    assert analyse("The running of the databases") == ["the", "run", "of", "the", "databas"]


def test_a_possessive_is_its_word() -> None:
    assert analyse("user's users’ we'll") == ["user", "user", "we"]


def test_stop_words_leave_a_question_that_has_other_words() -> None:
    assert words("What is the retention of it?") == ["retent"]
    assert words("the who") == ["the", "who"]
    assert "dont" in STOP_WORDS
    assert words("don't deploy") == ["deploy"]


def test_terms_of_a_question_are_distinct() -> None:
    assert words("deploy deploys DEPLOYED") == ["deploy"]


def test_the_whole_of_an_identifier_counts_only_when_nothing_else_of_it_does() -> None:
    assert analyse_query("ask-codex") == [
        QueryTerm("ask-codex", whole=True),
        QueryTerm("ask"),
        QueryTerm("codex"),
    ]
    assert analyse_query("to-do") == [QueryTerm("to-do")]


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("portátil", "portatil"),
        ("İSTANBUL", "istanbul"),
        ("ışık", "isik"),
        ("Łódź", "lodz"),
        ("Straße", "strass"),
        ("ΆΝΟΙΞΗ", "ανοιξη"),
        ("ёлка", analyse("елка")[0]),
        ("Ｆｕｌｌ", "full"),
        ("ﬁle", "file"),
        ("cafe\u0301", "cafe"),
        ("co\u00adop", "coop"),
        ("مُراجَعة", analyse("مراجعة")[0]),
    ],
)
def test_case_width_and_diacritics_are_folded(text: str, token: str) -> None:
    assert analyse(text) == [token]


def test_marks_that_make_another_letter_stay() -> None:
    assert analyse("が") != analyse("か")
    assert analyse("か\u3099") == analyse("が")
    assert analyse("ｶﾞ") == analyse("ガ")
    assert analyse("किताब") != analyse("कताब")
    assert analyse("йод") != analyse("иод")
    assert analyse("ที่") != analyse("ท")


def test_runs_without_spaces_are_pairs_and_a_last_character() -> None:
    assert analyse("日本語") == ["日本", "本語", "語"]
    assert analyse("語") == ["語"]
    assert analyse("한국어") == ["한국", "국어", "어"]
    assert analyse("ルール") == ["ルー", "ール", "ル"]
    assert analyse("API設計v2")[:4] == ["api", "設計", "計", "v2"]


def test_a_single_character_asks_for_a_beginning() -> None:
    assert analyse_query("語") == [QueryTerm("語", prefix=True)]
    assert words("日本語") == ["日本", "本語"]
    assert all(finds(character, "日本語の応答") for character in "日本語応答")


def test_particles_between_spaces_are_stop_words() -> None:
    assert words("応答 の ルール") == ["応答", "ルー", "ール"]


def test_thai_is_pairs_of_characters_with_their_marks_and_the_word() -> None:
    assert "สวั" in analyse("สวัสดี")
    assert "สวัสดี" in analyse("สวัสดี")
    assert finds("สดี", "สวัสดีครับ")


def test_emoji_are_words() -> None:
    assert analyse("🚀 done ✅") == ["🚀", "done", "✅"]


@pytest.mark.parametrize(
    "text",
    ["", " ", '"', "(", "*", ":", "&", "'", "\x00", "\x1f", "---", "\ud800", "\u0301", "\u200d", "% %s"],
)
def test_a_text_without_words_has_no_tokens(text: str) -> None:
    assert [token for token in analyse(text) if token != "s"] == []


@pytest.mark.parametrize(
    "query", ["C", "a AND b-c", "NEAR(a b)", "x OR", "-x", '"half', "a* b:c", "{0}", "🚀", "R&D"]
)
def test_every_input_with_a_word_is_a_question(query: str) -> None:
    assert analyse_query(query)
    assert finds(query, query)


def test_long_tokens_are_cut_alike_on_both_sides() -> None:
    word = "0f1e" * 100
    assert all(len(token) <= TOKEN_MAX_LENGTH for token in analyse(f"{word} {'字' + '゙' * 90}"))
    assert finds(word, f"before {word} after")


def test_a_question_has_a_bounded_number_of_terms() -> None:
    assert len(analyse_query(" ".join(f"word{n}x" for n in range(5_000)))) <= QUERY_MAX_TERMS


def test_marks_are_where_the_words_stand() -> None:
    text = "Never push --no-verify: Retrieval fails in src/main.py, 日本語の応答"
    found = [text[start:end] for start, end in marks(text, analyse_query("retrieving main verify 応答"))]
    assert found == ["verify", "Retrieval", "main", "応答"]
    assert marks(text, []) == []


def test_a_mark_covers_a_whole_identifier_that_was_asked_for() -> None:
    text = "in src/main.py"
    assert [text[a:b] for a, b in marks(text, analyse_query("src/main.py"))] == ["src/main.py"]


def test_texts_that_another_begins_with_are_indexed_once() -> None:
    assert distinct_texts(["Use SQL", "Use SQL for all", "", "Use SQLite"]) == [
        "Use SQL for all",
        "Use SQLite",
    ]
    assert distinct_texts(["#48 is done", "48 is done now"]) == ["48 is done now", "#48 is done"]


HOSTILE = {
    "letters": "a" * 100_000,
    "hyphens": "a-" * 50_000,
    "camel": "aA" * 50_000,
    "digits": "a1" * 50_000,
    "apostrophes": "a''''" * 20_000,
    "dashes": "-" * 100_000,
    "underscores": "_" * 100_000,
    "dots": "." * 100_000,
    "marks": "a" + "\u0301\u0323" * 50_000,
    "joiners": "a" + "\u200d" * 100_000,
    "han": "".join(map(chr, range(0x4E00, 0x9E00))) * 5,
    "thai": "ที่" * 33_000,
    "paths": "a.b/" * 25_000,
    "ligatures": "ﷺ" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_end(name: str) -> None:
    # Each takes about a tenth of a second; an expression that backtracks would take hours.
    assert len(analyse(HOSTILE[name])) <= 4 * len(HOSTILE[name])
    assert len(analyse_query(HOSTILE[name])) <= QUERY_MAX_TERMS


def test_threads_do_not_share_a_stemmer() -> None:
    text = " ".join(
        f"{word}ing{n} {word}ed {word}ness" for n, word in enumerate(["retriev", "index", "rank"] * 50)
    )
    expected, wrong = analyse(text), []

    def work() -> None:
        order = random.Random(0)
        for _ in range(30):
            made = "".join(order.choices("abcdefghij", k=8)) + "ations"
            analyse(made)
            if analyse(text) != expected:
                wrong.append(made)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


anything = st.text(st.characters(exclude_categories=()), max_size=80)
wordy = st.lists(
    st.one_of(
        anything,
        st.text("aAbB1.-_/@:+&#$~'\\ \u0301\u3099日本かガ한ที่мйéß", max_size=20),
        st.sampled_from(["the", "don't", "src/main.py", "C++", "getUserId", "応答", "--no-verify", "ﬁ", "İ"]),
    ),
    max_size=8,
).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(wordy)
@example("ΐ ŉ ǰ ẖ ﬓ ᾳ İ ϒ\u0301")
def test_tokens_obey_the_rules(text: str) -> None:
    punctuation = re.escape(WORD_PUNCTUATION)
    for token in [*analyse(text), *(term.text for term in analyse_query(text))]:
        assert 0 < len(token) <= TOKEN_MAX_LENGTH
        assert re.fullmatch(rf"(?:[a-z0-9{punctuation}]|[^\x00-\x7f])+", token), token
        assert not re.search(r"[\s\"'\x00\x1f]", token)
        token.encode()


@settings(max_examples=400, deadline=None)
@given(wordy)
def test_a_question_for_a_word_of_a_text_finds_it(text: str) -> None:
    for word in text.split():
        if analyse(word):
            assert finds(word, text), word


@settings(max_examples=200, deadline=None)
@given(wordy)
def test_a_text_finds_itself_in_capitals(text: str) -> None:
    text = text.encode("ascii", "ignore").decode()
    if analyse_query(text):
        assert finds(text.upper(), text.lower())


@settings(max_examples=200, deadline=None)
@given(wordy, wordy)
def test_marks_are_spans_in_order(text: str, query: str) -> None:
    spans = marks(text, analyse_query(query))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))


_MIXED = list("abZ019 _-./@:+#'’\t\n\x1c\x85\xa0\u2028\u3000\u200d\u0301日本かแมว๑가😀ß")


@given(st.text(st.sampled_from(_MIXED), max_size=60))
def test_no_word_goes_across_a_space(text: str) -> None:
    """So a text is taken apart at its spaces, and what stands between two is looked up."""
    assert analyse(text) == list(_tokens(_normal(text)))
    assert list(_asked(text)) == list(_words(_normal(text)))
