"""Does a value look like somebody's secret, or like an example, a reference or a word?

What a reader would recognise as an example passes (`<your-key>`, `changeme`, `${VAR}`, the
keys of AWS's own documentation); anything else in the place of a secret counts as one.
"""

import re

# Substrings that nobody's real key holds by chance (four characters of base64 in either case:
# once in 30,000 keys of forty), and that every made-up key in a manual does.
_EXAMPLE_MARKS = (
    "xxxx",
    "example",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "redacted",
    "your-",
    "your_",
    "yourapi",
    "yourkey",
    "yourtoken",
    "yoursecret",
    "yourpass",
    "....",
    "****",
)
# Marks for values that have only their name's word for being secret.
_WEAKER_MARKS = (
    "dummy",
    "fake",
    "replace",
    "insert",
    "todo",
    "fixme",
    "sample",
    "not-a-",
    "not_a_",
    "notreal",
)

_EXAMPLE_VALUE = re.compile(
    r"(?:(?:my|your|the|some|a|an|db|dev|test|testing|user|app|admin|root|default|new|old|real|actual"
    r"|api|auth|access|client|postgres|mysql|redis)[-_ ]?){0,6}"
    r"(?:password|passwd|passphrase|pass|pwd|pw|secret|token|key|value|string|here|test|testing|admin|root|user"
    r"|username|dev|demo|guest|foo|bar|baz|foobar|abc|qwerty|letmein|welcome|default|none|null|nil|postgres"
    r"|mysql|redis|mongo|rabbit|minio|minioadmin|local|localhost|app|x+)"
    r"(?:[-_ ]?here)?[-_]?\d{0,6}!?",
    re.IGNORECASE,
)

# Words with a number that name a thing of the trade; what else ends in digits may be a password.
_TECHNICAL = re.compile(
    r"(?:bytes?|u?int|float|string|char|varchar|utf|sha|md|aes|rsa|dsa|hs|rs|es|ps|oauth|base|argon|pbkdf|bcrypt"
    r"|ed|curve|x|bits?|step|phase|level|version|v|line|page|option|type|row|col|day|week|case|node|server|host"
    r"|group|team|round|part|section|chapter|table|figure|issue|item|stage|tier|python|java|http|ipv|web|log"
    r"|hmac|hkdf|blake|sha3|poly|chacha|entry|note|memory|example|sample|session|client|worker|shard|slot)\d+[a-z]{0,3}",
    re.IGNORECASE,
)

_SEPARATORS = re.compile(r"[-_./:,+~@=? ]+")
# One word, perhaps with a number: `token`, `HMAC`, `step12`, `RSAPrivateKey`, `15min`, `k8s`.
_WORD = re.compile(
    r"(?:[A-Z]{1,10}\d{0,5}){0,2}[A-Z]?[a-z]{1,18}\d{0,5}(?:[A-Z][a-z]{2,18}\d{0,5}){0,6}"
    r"|[A-Z]{1,18}\d{0,5}s?|\d{1,8}[A-Za-z]{0,8}|k\d{1,2}s|[ila]1\d[ny]|"
)
_LETTERS_THEN_DIGITS = re.compile(r"[A-Za-z]{2,20}\d{1,4}")

_DIGEST = re.compile(r"(?:sha\d{1,3}|md5|blake\w{1,3})[:\-~=]", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[A-Za-z]{2,24}){1,3}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:/")
_PATH = re.compile(r"(?:/|\./|\.\./|~/|[A-Za-z]:[\\/])")
_REFERENCE = re.compile(
    r"(?:arn|env|vault|ref\+|file|secret|ssm|sops|kms|op|aws|gcp|azure)[:+]", re.IGNORECASE
)
# A call or an index: `get_token()`, `request.POST["password"]`, `os.environ[...]`, `ENC[...]`.
_EXPRESSION = re.compile(r"!?[A-Za-z_$][\w.:>$-]{0,100}[(\[{]")
_TEMPLATE_OPENERS = tuple("$<{[(%\\:*&|^?=+.,;")


def is_example(secret: str) -> bool:
    """Whether text of a known shape is a manual's example rather than a key."""
    lowered = secret.lower()
    return any(mark in lowered for mark in _EXAMPLE_MARKS)


def is_wordy(text: str) -> bool:
    """Whether this reads as words and numbers (`max-tokens-per-day`, `config.db1.password`), not as a key."""
    return all(_WORD.fullmatch(piece) for piece in _SEPARATORS.split(text))


def is_random(text: str) -> bool:
    """Whether letters and digits mix in a way that words don't."""
    return _has_digit(text) and _has_letter(text) and not is_wordy(text)


def is_mixed(text: str) -> bool:
    """Whether this has all of small letters, capitals and digits, as keys in base64 do."""
    return _has_digit(text) and any(map(str.islower, text)) and any(map(str.isupper, text))


def is_hex(text: str) -> bool:
    """Whether this could be a commit id or a digest."""
    return _HEX.fullmatch(text) is not None


def is_example_password(value: str) -> bool:
    """Whether this stands where a password goes but tells the reader to put his own there."""
    return (
        len(set(value)) < 3
        or value.startswith(_TEMPLATE_OPENERS)
        or ("{" in value and "}" in value)
        or "$(" in value
        or is_example(value)
        or any(mark in value.lower() for mark in _WEAKER_MARKS)
        or _EXAMPLE_VALUE.fullmatch(value) is not None
    )


def is_reference(value: str) -> bool:
    """Whether this says where the secret is (a path, a URL, an expression) or only proves it (a digest)."""
    return (
        _URL.match(value) is not None
        or _REFERENCE.match(value) is not None
        or _DIGEST.match(value) is not None
        or _EMAIL.fullmatch(value) is not None
        or (_PATH.match(value) is not None and (is_wordy(value) or value.count("/") > 2))
    )


def is_expression(value: str) -> bool:
    """Whether this, written without quotes, is code that fetches the secret."""
    return _EXPRESSION.match(value) is not None


def looks_chosen(value: str) -> bool:
    """Whether a person could have chosen this as a password. Letters and a number do (but no `argon2id`)."""
    if len(value) < 6 or not _has_letter(value):
        return False
    if _LETTERS_THEN_DIGITS.fullmatch(value):
        return _TECHNICAL.fullmatch(value) is None
    if is_wordy(value) or _TECHNICAL.fullmatch(value):
        return False
    return _has_digit(value) or any(sign in value[1:-1] for sign in "!@#$^?~") or _is_jumbled(value)


def looks_generated(value: str) -> bool:
    """Whether a machine could have made this as a key or token."""
    return len(value) >= 12 and (is_random(value) or (len(value) >= 16 and _is_jumbled(value)))


def looks_generated_in_prose(value: str) -> bool:
    """The same where a sentence may be meant: commit ids, digests and UUIDs pass."""
    return len(value) >= 12 and is_random(value) and not is_hex(value) and not _UUID.fullmatch(value)


def _is_jumbled(value: str) -> bool:
    """Letters alone, but no words: `sGhTkLpQwZxM`."""
    return any(map(str.islower, value)) and any(map(str.isupper, value)) and not is_wordy(value)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))
