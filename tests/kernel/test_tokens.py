"""Access tokens: their text, their check sum and what is kept of them."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.kernel import tokens

CHECKSUM_OF_THE_KNOWN_BODY = "4GX9WU"
BASE62 = set(string.ascii_letters + string.digits)


def test_a_minted_token_is_well_formed() -> None:
    for _ in range(200):
        assert tokens.well_formed(tokens.mint())


def test_a_token_is_a_prefix_and_base62() -> None:
    token = tokens.mint()
    assert token.startswith(tokens.PREFIX)
    assert len(token) == tokens.LENGTH == 3 + 8 + 32 + 6
    assert set(token.removeprefix(tokens.PREFIX)) <= BASE62


def test_no_two_tokens_are_alike() -> None:
    minted = [tokens.mint() for _ in range(500)]
    assert len(set(minted)) == 500
    assert len({tokens.public_part(token) for token in minted}) == 500


def test_the_check_sum_of_a_known_body_stays_the_same() -> None:
    """Tokens outlive releases: a changed check sum would lock everybody out."""
    body = tokens.PREFIX + "0123abCD" + "k" * 32
    assert tokens._checksum(body) == CHECKSUM_OF_THE_KNOWN_BODY
    assert tokens.well_formed(body + CHECKSUM_OF_THE_KNOWN_BODY)


def test_every_single_slip_breaks_the_check_sum() -> None:
    token = tokens.mint()
    for at in range(len(tokens.PREFIX), len(token)):
        other = "a" if token[at] != "a" else "b"
        assert not tokens.well_formed(token[:at] + other + token[at + 1 :])


@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        lambda token: token[:-1],
        lambda token: token + "a",
        lambda token: token + "\n",
        lambda token: " " + token,
        lambda token: token.replace("mh_", "mh-"),
        lambda token: token[:-1] + "\uff11",
        lambda token: "",
    ],
)
def test_another_shape_is_not_well_formed(change: Callable[[str], str]) -> None:
    assert not tokens.well_formed(change(tokens.mint()))


@given(st.text())
def test_no_text_is_well_formed_by_chance_and_none_raises(text: str) -> None:
    assert not tokens.well_formed(text)
    assert len(tokens.digest(text)) == 64


def test_the_public_part_is_what_follows_the_prefix() -> None:
    token = tokens.mint()
    assert tokens.public_part(token) == token[3:11]


def test_a_malformed_token_has_no_public_part_and_is_not_repeated() -> None:
    token = tokens.mint()[:-1]
    with pytest.raises(ValueError) as refusal:
        tokens.public_part(token)
    assert token[3:] not in str(refusal.value)


def test_the_digest_is_sha_256_of_the_whole_token() -> None:
    token = tokens.mint()
    assert tokens.digest(token) == hashlib.sha256(token.encode()).hexdigest()
    assert tokens.digest("\ud800")


def test_a_token_matches_its_own_digest_only() -> None:
    token = tokens.mint()
    assert tokens.matches(token, tokens.digest(token))
    assert not tokens.matches(tokens.mint(), tokens.digest(token))
    assert not tokens.matches(token, "")
    assert not tokens.matches(token, "é")


def test_the_pattern_finds_a_token_anywhere() -> None:
    token = tokens.mint()
    for text in (token, f"Bearer {token}.", f"a{token}b", f"é{token}é", f'{{"t":"\\n{token}"}}'):
        found = tokens.PATTERN.search(text)
        assert found is not None
        assert found[0] == token
