"""Search as readers meet it: every input is a query, what is known is found, and nothing hidden tells."""

from __future__ import annotations

import re
import unicodedata

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.evidence import token_sets
from memories.models import Memory
from memories.search import SearchFilter, postgres, ranking, search_memories, sqlite_asking
from memories.search.analyse import analyse
from memories.search.engine import engine
from memories.search.of_memories import Memories
from memories.search.ranking import Weighted, order, unscoped
from memories.search.searching import QUERY_MAX_LENGTH, _hits
from memories.search.upkeep import drift
from memories.services import archive_memory, erase_memory, restore_memory, revise_memory, supersede_memory
from memoryhub.kernel.errors import Invalid
from projects.models import Project, User
from tests.factories import MembershipFactory, MemoryFactory, ProjectFactory, agent, person
from tests.memories.ranked import ranked


def found(project: Project, reader: User, query: str, limit: int = 50, **wanted: object) -> list[int]:
    """The numbers that a search answers, in order."""
    answer = search_memories(project, reader, query, SearchFilter(**wanted), limit=limit)  # type: ignore[arg-type]
    return [memory.number for memory in answer.items]


@pytest.mark.parametrize(
    "field", ["title", "summary", "body", "retrieval_hints", "tags", "details", "far", "steps"]
)
def test_a_word_is_found_in_every_field_however_far_in(project: Project, alice: User, field: str) -> None:
    values = {
        "title": {"title": "About zebras"},
        "summary": {"summary": "It is about zebras."},
        "body": {"body": "All about zebras."},
        "retrieval_hints": {"retrieval_hints": ["striped zebras"]},
        "tags": {"tags": ["zebras"]},
        "details": {"kind": "decision", "details": {"problem": "zebras " * 8, "why_chosen": "w" * 60}},
        "far": {"body": "word " * 19_000 + "zebras"},
        "steps": {"kind": "pipeline", "details": {"purpose": "p", "steps": [{"does": "Feed the zebras"}]}},
    }
    MemoryFactory(project=project, title="Something else")
    memory = MemoryFactory(project=project, **values[field])
    assert found(project, alice, "zebra") == [memory.number]


NAMED = [
    "ask-codex",
    "GB/s",
    "don't",
    "CLAUDE.md",
    "src/main.py",
    "getUserId",
    "v2.3.1",
    "__init__.py",
    "C++",
    "--no-verify",
    "#48",
    "日本語",
    "日本",
    "東",
    "Ещё",
    "naïve",
    "العربية",
    "ภาษาไทย",
    "über",
    "node_modules/@scope/pkg",
]


@pytest.mark.parametrize("word", NAMED)
def test_what_a_query_names_is_found(project: Project, alice: User, word: str) -> None:
    MemoryFactory(project=project, title="Another matter")
    memory = MemoryFactory(project=project, body=f"This mentions {word} once.")
    assert found(project, alice, word)[:1] == [memory.number]


@pytest.mark.parametrize(
    ("stored", "asked"), [("naïve café", "naive cafe"), ("Straße", "strasse"), ("Ёлка", "елка")]
)
def test_a_query_without_diacritics_finds_the_word_with_them(
    project: Project, alice: User, stored: str, asked: str
) -> None:
    memory = MemoryFactory(project=project, title=stored)
    assert found(project, alice, asked) == [memory.number]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "(",
        "*",
        ":",
        "a AND b-c",
        "NOT",
        "NEAR(a b)",
        "'; DROP TABLE x",
        "%",
        "_",
        "\\",
        "&|!",
        "{}",
        "🧠",
    ],
)
def test_every_input_is_a_query(project: Project, alice: User, query: str) -> None:
    MemoryFactory(project=project)
    answer = search_memories(project, alice, query, SearchFilter(), limit=5)
    assert answer.total == len(answer.items)


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_query_is_refused(project: Project, alice: User, query: str) -> None:
    with pytest.raises(Invalid):
        search_memories(project, alice, query, SearchFilter(), limit=5)


def test_nothing_known_is_said_and_what_there_is_still_listed(project: Project, alice: User) -> None:
    MemoryFactory(project=project, title="Deployment checklist", summary="Tag, build, smoke, promote.")
    nothing = search_memories(project, alice, "zebra habitat", SearchFilter(), limit=5)
    assert (nothing.items, nothing.no_confident_match) == ([], True)
    hardly = "which zebra habitat vendor invoices quarterly for promote"
    weak = search_memories(project, alice, hardly, SearchFilter(), limit=5)
    assert (len(weak.items), weak.no_confident_match) == (1, True)
    sure = search_memories(project, alice, "the deployment checklist", SearchFilter(), limit=5)
    assert (len(sure.items), sure.no_confident_match) == (1, False)


@pytest.mark.parametrize("others", [0, 1, 2, 40])
def test_confidence_is_the_same_in_a_store_of_one_and_in_a_larger_one(
    project: Project, alice: User, others: int
) -> None:
    for n in range(others):
        MemoryFactory(project=project, title=f"Other {n}", summary=f"Of another matter, {n}.")
    known = MemoryFactory(project=project, title="Webhook receiver", summary="It listens on 8080.")
    sure = "which port has the receiver of our webhook on staging hosts"
    unsure = "which port has the receiver of invoices, payroll and tax forms"
    for query, flagged in ((sure, False), (unsure, True)):
        answer = search_memories(project, alice, query, SearchFilter(), limit=5)
        assert ([item.number for item in answer.items], answer.no_confident_match) == (
            [known.number],
            flagged,
        )


def test_a_rare_word_counts_more_than_a_frequent_one(project: Project, alice: User) -> None:
    for n in range(8):
        MemoryFactory(project=project, title=f"Retry {n}", summary="Retry with jitter.")
    rare = MemoryFactory(project=project, title="Zebra retry")
    assert found(project, alice, "retry zebra")[0] == rare.number


def test_superseded_ones_are_found_and_come_after_active_ones_of_the_same_score(
    project: Project, alice: User
) -> None:
    older = MemoryFactory(project=project, title="Alpha zebra", summary="Same words here.")
    newer = MemoryFactory(project=project, title="Gamma zebra", summary="Same words here.")
    assert found(project, alice, "zebra") == [newer.number, older.number]
    supersede_memory(actor=person(alice), memory=newer, successor=older.number, expected_version=1)
    assert found(project, alice, "zebra") == [older.number, newer.number]
    assert found(project, alice, "zebra", include_superseded=False) == [older.number]


def test_the_index_follows_every_write(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, author=alice, title="About zebras")
    by = person(alice)
    revise_memory(actor=by, memory=memory, expected_version=1, title="About lions")
    assert (found(project, alice, "zebras"), found(project, alice, "lions")) == ([], [1])
    archive_memory(actor=by, memory=memory, expected_version=2)
    assert found(project, alice, "lions") == []
    restore_memory(actor=by, memory=memory, expected_version=3)
    assert found(project, alice, "lions") == [1]
    erase_memory(actor=by, memory=memory)
    assert found(project, alice, "lions") == []


def test_a_failed_write_leaves_the_index_as_it_was(project: Project, alice: User) -> None:
    memory = MemoryFactory(project=project, title="About zebras")
    with pytest.raises(Invalid):
        revise_memory(actor=person(alice), memory=memory, expected_version=1, title="About lions", parent=1)
    assert (found(project, alice, "zebras"), found(project, alice, "lions")) == ([1], [])


def test_filters_narrow_before_ranking(project: Project, alice: User) -> None:
    for n in range(5):
        MemoryFactory(project=project, title=f"Zebra zebra {n}", tags=["many"])
    wanted = MemoryFactory(
        project=project, title="Rule", body="One zebra.", kind="constraint", scope_paths=["src"]
    )
    assert found(project, alice, "zebra", kinds=["constraint"]) == [wanted.number]
    assert found(project, alice, "zebra", path="src/a.py") == [wanted.number]
    assert found(project, alice, "zebra", path="srcs/a.py") == []
    assert len(found(project, alice, "zebra", tags=["many"])) == 5
    assert found(project, alice, "zebra", tags=["many", "absent"]) == []
    assert len(found(project, alice, "zebra", tags=["many", "absent"], tags_match="any")) == 5
    assert found(project, alice, "zebra", since=wanted.touched_at) == [wanted.number]
    assert len(found(project, alice, "zebra", before=wanted.touched_at)) == 5


def test_pages_repeat_nothing_and_skip_nothing_while_others_write(project: Project, alice: User) -> None:
    memories = [MemoryFactory(project=project, title=f"Zebra {n}") for n in range(9)]
    first = search_memories(project, alice, "zebra", SearchFilter(), limit=3)
    seen = [memory.number for memory in first.items]
    MemoryFactory(project=project, title="Zebra zebra zebra")
    gone = next(memory for memory in memories if memory.number not in seen)
    archive_memory(actor=person(alice), memory=gone, expected_version=1)
    cursor = first.next_cursor
    while cursor:
        page = search_memories(project, alice, "zebra", SearchFilter(), limit=3, cursor=cursor)
        seen += [memory.number for memory in page.items]
        cursor = page.next_cursor
    assert len(seen) == len(set(seen)) == 8
    assert set(seen) == {memory.number for memory in memories} - {gone.number}


def test_a_cursor_is_worth_nothing_to_another_reader_or_query(
    project: Project, alice: User, bob: User
) -> None:
    for n in range(3):
        MemoryFactory(project=project, title=f"Zebra {n}")
    cursor = search_memories(project, alice, "zebra", SearchFilter(), limit=1).next_cursor or ""
    for reader, query in ((bob, "zebra"), (alice, "zebras")):
        with pytest.raises(Invalid):
            search_memories(project, reader, query, SearchFilter(), limit=1, cursor=cursor)


def test_totals_are_exact_to_two_hundred_and_then_at_least(project: Project, alice: User) -> None:
    for n in range(202):
        MemoryFactory(project=project, title=f"Zebra {n}")
        if n in (199, 200):
            answer = search_memories(project, alice, "zebra", SearchFilter(), limit=1)
            assert (answer.total, answer.at_least) == (200, n == 200)


def test_private_memories_move_neither_totals_nor_order_nor_confidence(
    project: Project, alice: User, bob: User
) -> None:
    for n in range(4):
        MemoryFactory(project=project, title=f"Zebra {n}", body="lion " * n)

    def told() -> object:
        answers = [
            search_memories(project, bob, query, SearchFilter(), limit=9) for query in ("zebra lion", "tiger")
        ]
        return [([m.number for m in a.items], a.total, a.no_confident_match) for a in answers]

    before = told()
    for n in range(20):
        MemoryFactory(
            project=project, author=alice, title=f"Tiger lion {n}", body="lion " * 9, visibility="private"
        )
    assert told() == before
    assert len(found(project, alice, "tiger")) == 20


def test_another_project_is_another_world(project: Project, alice: User) -> None:
    other = ProjectFactory()
    MembershipFactory(project=other, user=alice, role="owner")
    MemoryFactory(project=other, title="Zebra")
    assert found(project, alice, "zebra") == []


def test_a_stranger_finds_what_is_public_alone(project: Project, alice: User, charlie: User) -> None:
    MemoryFactory(project=project, title="Shared zebra")
    public = MemoryFactory(project=project, title="Public zebra", visibility="public")
    assert found(project, charlie, "zebra") == [public.number]


def test_making_private_and_sharing_move_the_words(project: Project, alice: User, bob: User) -> None:
    memory = MemoryFactory(project=project, author=alice, title="Zebra")
    by = agent(alice)
    revise_memory(actor=by, memory=memory, expected_version=1, visibility="private")
    assert (found(project, bob, "zebra"), found(project, alice, "zebra")) == ([], [1])
    revise_memory(actor=by, memory=memory, expected_version=2, visibility="shared")
    assert found(project, bob, "zebra") == [1]


@pytest.mark.parametrize("kinds", [None, ["note"]])
def test_the_best_few_are_the_first_of_all(
    project: Project, alice: User, kinds: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few are wanted, of equals, and where a filter keeps most of the best out."""
    monkeypatch.setattr(sqlite_asking, "_MANY", 0)
    monkeypatch.setattr(sqlite_asking, "_MARGIN", 0)
    for n in range(16):
        zebras = "zebra " * (1 + n // 6)
        MemoryFactory(
            project=project, title=f"Seen {n}", body=f"{zebras}lions", kind="fact" if n % 4 else "note"
        )
    Memory.objects.filter(project=project, number__in=(1, 6, 11)).update(status="superseded")
    wanted = SearchFilter(kinds=kinds)
    every = [each.hit for each in _hits(project, alice, "zebra lions", wanted, 100)[0]]
    assert len(every) == (4 if kinds else 16)
    assert every == sorted(every, key=order)
    for limit in (1, 2, 3, 5, 9):
        assert [each.hit for each in _hits(project, alice, "zebra lions", wanted, limit)[0]] == every[:limit]


def test_words_far_apart_in_a_very_long_memory_count_together(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL keeps it in several parts, of which the question's rarest word finds one."""
    monkeypatch.setattr(postgres, "PART_MAX_BYTES", 400)
    filler = " ".join(f"word{n}" for n in range(90))
    for body in (f"zebra {filler} savanna", f"zebra {filler}", f"{filler} savanna zebra zebra", "savanna"):
        MemoryFactory(project=project, title="Seen", body=body)
    for n in range(3):
        MemoryFactory(project=project, title=f"Savanna {n}")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT max(part) FROM memories_searchentry")
            assert cursor.fetchone()[0] > 2
    wanted, scopes = SearchFilter(), [f"{project.pk}s"]
    for query in ("zebra savanna", "zebra", "savanna word3"):
        assert found(project, alice, query) == ranked(project, scopes, query, wanted)
    every = [each.hit for each in _hits(project, alice, "zebra savanna", wanted, 100)[0]]
    # Only the rarer word looks for candidates, as in a large store.
    monkeypatch.setattr(ranking, "CANDIDATES_MIN", 1)
    monkeypatch.setattr(ranking, "CANDIDATES_MAX", 1)
    few = [each.hit for each in _hits(project, alice, "zebra savanna", wanted, 3)[0]]
    assert few == [each for each in every if each in few]
    assert len(few) == 3


@pytest.mark.parametrize("body", ["\ufdfa" * 70, " ".join(["\ufdfa"] * 90), "x\ufdfay " * 90])
def test_a_letter_that_stands_for_a_sentence_is_one_word(project: Project, alice: User, body: str) -> None:
    """So many that they aren't written out: its own spaces are none between words."""
    assert not any(character.isspace() for token in analyse(body) for character in token)
    memory = MemoryFactory(project=project, author=alice, title="Seen", body=body)
    assert not drift()
    revise_memory(actor=agent(alice), memory=memory, expected_version=1, body=f"{body} zebra")
    assert found(project, alice, "zebra") == [memory.number]
    assert not drift()


def test_what_is_found_may_come_with_its_words(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they are stored, of a memory in several parts as of any other, best first."""
    monkeypatch.setattr(postgres, "PART_MAX_BYTES", 400)
    filler = " ".join(f"word{n}" for n in range(90))
    for body in (f"zebra {filler} C:\\plains\\a", r"zebra \\plains\b", "zebra zebra", f"{filler} savanna"):
        MemoryFactory(project=project, title="Seen", body=body)
    sql = Memories().admitted_sql(project, alice, SearchFilter())
    terms = [Weighted((f"{project.pk}s:zebra",), 3, 1.5)]
    plain = engine().ask(terms, 20.0, sql, 3)()
    hits = engine().ask(terms, 20.0, sql, 3, with_terms=True)()
    assert [hit._replace(terms="") for hit in hits] == plain
    assert {hit.pk: frozenset(unscoped(hit.terms)) for hit in hits} == token_sets([hit.pk for hit in plain])
    few, as_few, many = sorted(len(unscoped(hit.terms)) for hit in hits)
    assert few <= as_few < 20 < 90 < many, "the two short ones, and all parts of the long one"


@pytest.mark.parametrize("query", ["zebra", "lion zebra jungle ocean river", "日"])
def test_the_number_of_queries_is_fixed(
    project: Project, alice: User, query: str, django_assert_max_num_queries: object
) -> None:
    for n in range(25):
        MemoryFactory(project=project, title=f"Zebra {n} 日本", tags=["a", "b"])
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        for memory in search_memories(project, alice, query, SearchFilter(), limit=20).items:
            assert memory.tag_names


# Words as people see them, of any script; not the marks that only shape a neighbour.
_LETTERS = st.characters(categories=("Lu", "Ll", "Lo", "Nd"), exclude_characters="\u0640")
WORDS = st.text(_LETTERS, min_size=1, max_size=12)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORDS, min_size=1, max_size=6))
def test_a_memory_is_found_by_any_word_that_it_contains(
    project: Project, alice: User, words: list[str]
) -> None:
    text = " ".join(words)
    if not text.strip() or re.search("[\x00-\x1f\x7f-\x9f]", text):
        return
    Memory.objects.filter(project=project).delete()
    with connection.cursor() as cursor:
        for memory_id in engine().known(cursor):
            engine().remove(cursor, memory_id)
    memory = MemoryFactory(project=project, title="x", body=text)
    for word in words:
        assert memory.number in found(project, alice, word), unicodedata.name(word[0], word)


@pytest.mark.parametrize("word", ["the", "is", "not", "we", "a"])
def test_a_stop_word_alone_is_a_query(project: Project, alice: User, word: str) -> None:
    memory = MemoryFactory(project=project, title="Something", body=f"here {word} there")
    assert memory.number in found(project, alice, word)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=120))
def test_no_query_is_an_error(project: Project, alice: User, query: str) -> None:
    if not query.strip():
        return
    search_memories(project, alice, query[:QUERY_MAX_LENGTH], SearchFilter(), limit=3)
