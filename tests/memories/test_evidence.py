"""The rules of evidence by minimal pairs: the smallest draft that a rule takes, the nearest it doesn't."""

from __future__ import annotations

import pytest

from memories.evidence.languages import fold
from memories.evidence.lexicon import LANGUAGES, language_of
from memories.evidence.rules import Finding, Level, compare
from memories.evidence.statements import Statement


def statement(text: str, *tags: str) -> Statement:
    return Statement.of(text, text, (), tags)


def found(draft: str, memory: str, *tags: str, draft_tags: tuple[str, ...] = ()) -> Finding:
    """What a draft has in common with a memory, every word weighing the same."""
    known = statement(memory, *tags)
    return compare(statement(draft, *draft_tags), known, lambda term: 1.0, known.tokens | known.tag_tokens)


UPDATE, RELATED, WEAK, NONE = Level.UPDATE, Level.RELATED, Level.WEAK, Level.NONE

# Rule, what is known, a draft that the rule takes, the level; the nearest draft that it doesn't, the level.
PAIRS = [
    (
        "one value of the same sentence",
        "The API listens on port 8080 behind nginx.",
        ("The API listens on port 9090 behind nginx.", UPDATE),
        ("The metrics page refreshes on port 9090.", NONE),
    ),
    (
        "a value of one sort, not another predicate",
        "The nightly backup job publishes a container image.",
        ("The nightly backup job publishes a wheel image.", UPDATE),
        ("The nightly backup job warns release managers.", RELATED),
    ),
    (
        "what it says of the subject, not the subject",
        "Staging deploys use the blue cluster every evening.",
        ("Staging deploys use the green cluster every evening.", UPDATE),
        ("Production deploys use the blue cluster every evening.", RELATED),
    ),
    (
        "a leading quantity is a value",
        "Two reviewers approve every release.",
        ("Three reviewers approve every release.", UPDATE),
        ("Security reviewers approve every release.", RELATED),
    ),
    (
        "a value takes the place of one, it isn't added",
        "Release checklist item 4 needs an owner and a date.",
        ("Release checklist item 4 needs an owner and a ticket.", UPDATE),
        ("The release checklist was reviewed by legal.", RELATED),
    ),
    (
        "a word of replacement, of the same subject",
        "Background jobs are queued in RabbitMQ.",
        ("Background jobs moved to a hosted queue.", UPDATE),
        ("Background jobs report failures to the pager.", RELATED),
    ),
    (
        "a word of replacement says nothing of another subject",
        "Background jobs are queued in RabbitMQ.",
        ("Background jobs no longer wait for RabbitMQ.", UPDATE),
        ("The marketing site no longer loads tracking scripts.", NONE),
    ),
    (
        "one side denies",
        "Support staff can read customer emails.",
        ("Support staff cannot read customer emails.", UPDATE),
        ("Support staff cannot enter the data centre.", RELATED),
    ),
    (
        "opposites",
        "Always squash commits on the main branch.",
        ("Never squash commits on the main branch.", UPDATE),
        ("Always sign commits with a hardware key.", NONE),
    ),
    (
        "two terms share a subject, one of four doesn't",
        "Session data is cached in Redis for thirty minutes.",
        ("Redis session keys carry the tenant.", RELATED),
        ("Nightly exports of Redis go to the auditors.", NONE),
    ),
    (
        "vague drafts revise nothing",
        "Exports are written as JSON by the nightly job.",
        ("Exports are written as CSV by the nightly job.", UPDATE),
        ("Exports should use another format.", WEAK),
    ),
    (
        "words that any memory has are no subject",
        "The user prefers tabs for indentation.",
        ("The user prefers spaces for indentation.", UPDATE),
        ("The user prefers green tea.", NONE),
    ),
]


@pytest.mark.parametrize(("rule", "memory", "taken", "near"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_a_rule_takes_the_smallest_case_and_not_the_nearest(
    rule: str, memory: str, taken: tuple[str, Level], near: tuple[str, Level]
) -> None:
    for draft, level in (taken, near):
        finding = found(draft, memory)
        assert finding.level is level, (draft, finding)


def test_a_term_that_the_author_made_a_tag_needs_less() -> None:
    memory, draft = (
        "Library upgrades need a review of licences.",
        "Audit every old upgrade with care on Monday.",
    )
    assert found(draft, memory).level is NONE
    assert found(draft, memory, "upgrade").level is RELATED


def test_a_tag_alone_says_less_than_a_word_of_the_text() -> None:
    memory = "Nuzo keeps memory on disk."
    assert found("Where is the storage?", memory, "storage").level is WEAK
    assert found("Atlas reports go to object storage.", memory, "storage").level is NONE


# In each language: the same sentence with another value, and one word of replacement.
LANGUAGE_CASES = [
    ("pt", "O cache expira após trinta minutos.", "O cache expira após duas horas.", UPDATE),
    ("pt", "Testes precisam de revisão.", "Testes não precisam mais de revisão.", UPDATE),
    ("pt", "O cache expira após trinta minutos.", "O contrato vence em março.", NONE),
    ("es", "Los registros se guardan siete días.", "Los registros se guardan noventa días.", UPDATE),
    ("es", "Las pruebas requieren aprobación del equipo.", "Las pruebas ya no requieren aprobación.", UPDATE),
    ("de", "Der Dienst lauscht auf Port 8080.", "Der Dienst lauscht auf Port 9090.", UPDATE),
    ("de", "Deployments am Freitag sind verboten.", "Deployments am Freitag sind erlaubt.", UPDATE),
    ("de", "Der Dienst lauscht auf Port 8080.", "Die Kantine schließt am Freitag.", NONE),
    ("fr", "Les journaux sont conservés trente jours.", "Les journaux sont conservés dix jours.", UPDATE),
    ("fr", "Les branches sont fusionnées.", "Les branches ne sont plus fusionnées.", UPDATE),
    (
        "it",
        "I log vengono conservati per sessanta giorni.",
        "I log vengono conservati per novanta giorni.",
        UPDATE,
    ),
    ("nl", "Logs worden dertig dagen bewaard.", "Logs worden negentig dagen bewaard.", UPDATE),
    ("pl", "Kopie zapasowe są tworzone codziennie.", "Kopie zapasowe są tworzone co godzinę.", UPDATE),
    ("pl", "Zmiany wymagają testów regresji.", "Zmiany nie wymagają już testów regresji.", UPDATE),
    ("ru", "Журналы хранятся тридцать дней.", "Журналы хранятся девяносто дней.", UPDATE),
    ("ru", "Выпуск требует одобрения руководителя.", "Выпуск больше не требует одобрения.", UPDATE),
    ("ja", "日本語の応答は簡潔で明確にする。", "日本語の応答は詳細で丁寧にする。", UPDATE),
    ("ja", "予定は東京時間で表示する。", "請求書は月末に送付する。", NONE),
    ("zh", "日志保留三十天。", "日志保留九十天。", UPDATE),
]


@pytest.mark.parametrize(("language", "memory", "draft", "level"), LANGUAGE_CASES)
def test_the_rules_hold_in_other_languages(language: str, memory: str, draft: str, level: Level) -> None:
    assert found(draft, memory).level is level


def test_a_language_is_told_by_its_function_words() -> None:
    assert not language_of(map(fold, ["o", "plano", "não", "é", "da", "equipe"])).negations_undo
    assert language_of(["the", "plan", "is", "ours"]) is language_of(["and", "of", "the"])
    assert language_of(["xyzzy"]).negation == LANGUAGES["en"].negation


def test_no_is_a_negation_in_english_and_no_word_of_weight_in_portuguese() -> None:
    assert statement("There is no cache for sessions.").sentences[0].denies
    assert not statement("O cache fica no disco da equipe.").sentences[0].denies


def test_two_negations_undo_each_other_in_english_alone() -> None:
    assert not statement("Never merge without approval.").sentences[0].denies
    assert statement("Никогда не сливать ветки.").sentences[0].denies


def test_a_finding_names_words_as_they_were_written_and_shared_tags() -> None:
    finding = found(
        "Schedules now use UTC.", "Schedules use the Lisbon zone.", "time", draft_tags=("time", "x")
    )
    assert finding.terms == ("Schedules",)
    assert finding.tags == ("time",)


def test_a_reason_quotes_both_values() -> None:
    finding = found("The API listens on port 9090.", "The API listens on port 8080.")
    assert finding.reason == "Says “9090” where this says “8080”, in the same sentence."


@pytest.mark.parametrize(
    ("draft", "memory", "opposed"),
    [
        ("Support staff cannot read customer emails.", "Support staff can read customer emails.", True),
        ("Support staff may read customer emails.", "Support staff can read customer emails.", False),
        ("Container images are unsigned.", "Container images are signed.", True),
        ("Container images are scanned.", "Container images are signed.", False),
        ("The API listens on port 9090.", "The API listens on port 8080.", False),
    ],
)
def test_what_is_opposed_is_marked_for_hints(draft: str, memory: str, opposed: bool) -> None:
    finding = found(draft, memory)
    assert (finding.level, finding.opposed) == (UPDATE, opposed)


def test_opposites_are_read_apart_from_the_order_of_the_words() -> None:
    memory = "Enable telemetry for staging hosts, and send it hourly."
    assert found("During audits disable telemetry on staging hosts.", memory).opposed
    assert found("During audits watch telemetry on staging hosts.", memory).level is RELATED
