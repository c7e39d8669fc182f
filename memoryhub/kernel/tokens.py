"""The text of an access token: how it is made, recognised and kept.

A token is `mh_`, 8 public characters, 32 secret ones and a check sum of 6, all base62:

- the prefix lets a scanner, ours or somebody else's, tell a leaked token from a commit id;
- the public part names the row to load, so that finding a token needs no search by secret;
- the secret has 190 bits, so a fast hash is enough at rest: nobody enumerates it;
- the check sum tells a cut or mistyped token from an unknown one without asking the database.
"""

import hashlib
import hmac
import re
import secrets
import string
import zlib

PREFIX = "mh_"
PUBLIC_LENGTH = 8
SECRET_LENGTH = 32
CHECKSUM_LENGTH = 6
LENGTH = len(PREFIX) + PUBLIC_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase

# No word boundaries: a token glued to other text is as leaked as one that stands alone. Not the
# check sum either: a token with a slip of the pen in it still gives nearly all of itself away.
PATTERN = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{PUBLIC_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH}}}")


def mint() -> str:
    """A new token. It is shown once; only `public_part` and `digest` are kept."""
    body = PREFIX + _random(PUBLIC_LENGTH) + _random(SECRET_LENGTH)
    return body + _checksum(body)


def public_part(token: str) -> str:
    """The characters that name the token in lists and in the database. Raises ValueError if malformed."""
    if not well_formed(token):
        # The message leaves the token out: it may be somebody's secret with one character wrong.
        raise ValueError("This is not a well-formed access token.")
    return token[len(PREFIX) : len(PREFIX) + PUBLIC_LENGTH]


def well_formed(token: str) -> bool:
    """Whether this has the shape of a token and its check sum is right; says nothing about validity."""
    return (
        PATTERN.fullmatch(token) is not None
        and _checksum(token[:-CHECKSUM_LENGTH]) == token[-CHECKSUM_LENGTH:]
    )


def digest(token: str) -> str:
    """What is stored instead of the token: SHA-256, hexadecimal.

    Any text has one, lone surrogates too: what a stranger sends must not be able to raise.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def matches(token: str, stored_digest: str) -> bool:
    """Whether `token` is the one whose digest is stored, in time that doesn't depend on where they differ."""
    return hmac.compare_digest(digest(token).encode("ascii"), stored_digest.encode("utf-8", "surrogatepass"))


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _checksum(body: str) -> str:
    """CRC32 in base62, padded: 62 ** 6 is more than 2 ** 32, so six characters always hold it."""
    rest = zlib.crc32(body.encode("ascii"))
    digits = []
    for _ in range(CHECKSUM_LENGTH):
        rest, digit = divmod(rest, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
