"""Find text that looks like a credential, so that no write stores one.

Three looks at a text, each over a small part of it:

- `shapes`: the words of sixteen characters and more, with the three words before each, against
  every known shape of a key (detect-secrets' and ours);
- `assignments`: what follows a name such as `..._PASSWORD=`, `"token":` or `Bearer`, and passwords
  in URLs;
- the header of a private key.

detect-secrets' settings are global to the process and only its scanner reads them; we take the
patterns of its detectors and none of its scanner, so nothing is set and threads share nothing that
changes. Every pattern is tried at bounded lengths: a hostile line costs time in proportion to its
length (see `tests/kernel/test_secret_scan.py`).
"""

from dataclasses import dataclass

from memoryhub.kernel.secret_scan import assignments, shapes

__all__ = ["SecretFound", "find_secret"]


@dataclass(frozen=True, slots=True)
class SecretFound:
    """Where a secret is and what it looks like; never the secret."""

    line: int
    kind: str


def find_secret(text: str) -> SecretFound | None:
    """The first text that looks like a credential, or None. Neither returns nor logs any of the text."""
    flat = _flatten(text)
    found = shapes.find_in_words(flat)
    if found:
        return SecretFound(*found)
    for look in (shapes.find_private_key, assignments.find_in_url, assignments.find_assignment):
        hit = look(flat)
        if hit:
            position, kind = hit
            return SecretFound(line=flat.count("\n", 0, position) + 1, kind=kind)
    return None


# What an editor or a web page makes of the ASCII sign.
_LOOKALIKES = {
    "\u00a0": " ",
    "\u201c": '"',
    "\u201d": '"',
    "\u2018": "'",
    "\u2019": "'",
    "\u2013": "-",
    "\uff1a": ":",
}


def _flatten(text: str) -> str:
    """The same text in ASCII, character for character, so that positions and line numbers stay.

    Secrets are ASCII. Without this, `\\w`, `\\d` and case folding in a pattern would take letters of
    every script for parts of a key.
    """
    if text.isascii():
        return text
    for sign, plain in _LOOKALIKES.items():
        text = text.replace(sign, plain)
    return text.encode("ascii", "replace").decode("ascii")
