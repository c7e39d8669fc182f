"""Secrets without a shape, known by the name in front of them: `DB_PASSWORD=...`, `"token": "..."`.

How much the value must look like a secret depends on how surely the line means to set one:

- sure: `name=value` without spaces, a value in quotes or back-ticks, a command's option, a line that
  holds only a name and its value;
- less sure: `name: value` or `name is value` within a sentence. There only a long mixture of letters
  and digits counts, and commit ids, digests and UUIDs don't.

Passwords are chosen by people and may be short (`hunter2`); tokens and keys are made by machines, so
for those a short value is a word of the sentence.
"""

import base64
import binascii
import re

from memoryhub.kernel.secret_scan.values import (
    is_example,
    is_example_password,
    is_expression,
    is_random,
    is_reference,
    looks_chosen,
    looks_generated,
    looks_generated_in_prose,
)

_WORDS = ("pass", "pwd", "secret", "token", "key")
_HUMAN = ("pass", "pwd", "secret")

# "key" alone is the key of a dictionary or a cache; with one of these before it, a secret.
_KEY_KINDS = (
    "api",
    "access",
    "secret",
    "private",
    "encryption",
    "signing",
    "auth",
    "master",
    "account",
    "service",
    "client",
    "admin",
    "application",
    "license",
    "webhook",
    "shared",
    "storage",
    "deploy",
    "app",
    "jwt",
    "hmac",
)
_KEY_QUALIFIERS = tuple(kind + joint for kind in _KEY_KINDS for joint in ("_", "-", "", " "))

# Tokens that give nobody access.
_HARMLESS_BEFORE = (
    "page",
    "next",
    "continuation",
    "sync",
    "cursor",
    "pad",
    "eos",
    "bos",
    "unk",
    "mask",
    "stop",
    "sep",
)
_HARMLESS_QUALIFIERS = tuple(kind + joint for kind in _HARMLESS_BEFORE for joint in ("_", "-", "", " "))

_NAME_BEFORE = 40  # characters looked at before the word
_VALUE_LONGEST = 128

# Tried where one of _WORDS stands. Every repetition is bounded and followed by what it can't match.
_ASSIGNMENT = re.compile(
    r"""
    (?:pass(?:word|wd|phrase|code)?|pwd|secret|token|key)
    (?:[_-]?(?:key|value|prod|production|staging|dev|live|test|b64|base64|v?\d{1,3})){0,2}
    ["'`\])*\\]{0,4}
    (?P<before>[ \t]{0,8})
    (?P<op>
        :[ \t]{0,4}[A-Za-z_][\w.\[\],|]{0,30}(?:[ ]\|[ ]None)?[ \t]{0,4}=(?=[ \t]{0,4}[bru]{0,2}["'])
      | :=|=>|={1,3}|::?|>
      | (?<=[ \t])(?:is|was)(?:[ ]now)?:?(?=[ \t])
      | (?<=[ \t])  # an option: --password value
    )
    \*{0,2}
    (?P<after>[ \t]{0,8})
    (?:[bruBRU]{1,2}(?=["']))?
    (?P<quote>\\?["'`]{1,3})?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUOTED = {quote: re.compile(rf"[^{quote}\\\n]{{1,{_VALUE_LONGEST}}}") for quote in "\"'`"}
_UNQUOTED = re.compile(rf"[^\s\\\"'`,;<>|]{{1,{_VALUE_LONGEST}}}")
_IN_A_QUERY = re.compile(rf"[^\s\\\"'`,;<>|&]{{1,{_VALUE_LONGEST}}}")  # ?token=...&page=2
_TRAILING = ".,:;!?)]}*"

# A line that has no more than a list mark, a name of some words and a value.
_LINE_START = re.compile(r"[ \t>*+-]{0,40}(?:[A-Za-z0-9]{1,20}[ ]){0,3}[\"'`*]{0,3}[\w.-]{0,60}")
_LINE_END = re.compile(r"[.,;]?[ \t]{0,40}(?:\#|//|--|\n|\Z)")

_OPTION = re.compile(r"--[a-z-]{0,30}")
_BEARER = re.compile(rf"bearer[ \t]{{1,4}}(?P<value>[A-Za-z0-9._~+/-]{{20,{_VALUE_LONGEST}}})", re.IGNORECASE)
_BASIC = re.compile(
    rf"basic[ \t]{{1,4}}(?P<value>[A-Za-z0-9+/]{{12,{_VALUE_LONGEST}}}={{0,2}})", re.IGNORECASE
)
_CURL_USER = re.compile(r"""[ \t](?:-u|--user)[ =]?["']?(?P<user>[\w.@-]{1,64}):(?P<value>[^\s"'`]{1,128})""")
_CURL_REACH = 300
# The login of a registry in Docker's settings, and of a machine in a .netrc.
_DOCKER_LOGIN = re.compile(
    rf"""auth["']?[ \t]{{0,4}}:[ \t]{{0,4}}["'](?P<value>[A-Za-z0-9+/]{{12,{_VALUE_LONGEST}}}={{0,2}})["']""",
    re.IGNORECASE,
)
_NETRC_LOGIN = re.compile(
    rf"login\s{{1,8}}[^\s]{{1,64}}\s{{1,8}}password\s{{1,8}}(?P<value>[^\s]{{1,{_VALUE_LONGEST}}})",
    re.IGNORECASE,
)

_URL_LOGIN = re.compile(
    r"://(?P<user>[^\s/?#@:\"'<>`\[\]]{0,128}):(?P<value>[^\s/\"'<>`@]{1,256})@[A-Za-z0-9\[]"
)


def find_in_url(flat: str) -> tuple[int, str] | None:
    """A password in a URL or connection string; `user:password@`, `app:app@` and `${...}@` pass."""
    position = flat.find("://")
    while position >= 0:
        match = _URL_LOGIN.match(flat, position)
        if match:
            user, value = match["user"], match["value"]
            if len(value) >= 4 and value.lower() != user.lower() and not is_example_password(value):
                return position, "password in a URL"
        position = flat.find("://", position + 3)
    return None


def find_assignment(flat: str) -> tuple[int, str] | None:
    """A secret behind its name, or behind `Bearer`, `Basic` or `curl -u`."""
    lowered = flat.lower()
    for word in _WORDS:
        position = lowered.find(word)
        while position >= 0:
            if _names_a_secret(lowered, position, word):
                match = _ASSIGNMENT.match(flat, position)
                if match and _sets_a_secret(flat, lowered, match, human=word in _HUMAN):
                    return position, "password" if word in ("pass", "pwd") else f"{word} in an assignment"
            position = lowered.find(word, position + len(word))
    return _find_header(flat, lowered)


def _names_a_secret(lowered: str, position: int, word: str) -> bool:
    before = lowered[max(0, position - _NAME_BEFORE) : position]
    match word:
        case "key":
            return before.endswith(_KEY_QUALIFIERS)
        case "token":
            return not before.endswith(_HARMLESS_QUALIFIERS)
        case "pass":
            # `bypass=` and `compass:` are none; `dbpassword=` is one.
            return not before[-1:].isalpha() or lowered.startswith("password", position)
        case _:
            return True


def _sets_a_secret(flat: str, lowered: str, match: re.Match[str], *, human: bool) -> bool:
    is_option = _is_option(lowered, match.start())
    if not match["op"] and not is_option:
        return False
    value, end, quoted = _value_after(flat, match)
    if match["op"] == ">" and not (flat.startswith("</", end) and _is_element(lowered, match.start())):
        return False
    if not value or is_example_password(value) or is_reference(value):
        return False
    if not quoted and is_expression(value):
        return False
    if " " in value or "\t" in value:
        return False
    sure = (
        quoted
        or is_option
        or match["op"] == ">"
        or (match["op"] == "=" and not match["before"] and not match["after"])
        or (not match["op"].startswith(("is", "was")) and _alone_on_its_line(flat, match.start(), end))
    )
    if not sure:
        # In `arn:aws:...:secret:prod/db` the word is a part of a name, not the name of a value.
        return flat[match.start() - 1 : match.start()] != ":" and looks_generated_in_prose(value)
    return looks_chosen(value) if human else looks_generated(value)


def _value_after(flat: str, match: re.Match[str]) -> tuple[str, int, bool]:
    """The value, where it ends, and whether it is in quotes."""
    quote = match["quote"]
    if quote:
        found = _QUOTED[quote.lstrip("\\")[0]].match(flat, match.end())
        if found and flat[found.end() : found.end() + 1] in ('"', "'", "`", "\\"):
            return found[0].strip(), found.end(), True
    found = (_IN_A_QUERY if match["op"] == "=" else _UNQUOTED).match(flat, match.end())
    if found is None:
        return "", match.end(), False
    value = found[0].rstrip(_TRAILING)
    return value, found.end(), False


def _is_option(lowered: str, position: int) -> bool:
    before = lowered[max(0, position - _NAME_BEFORE) : position]
    dashes = before.rfind("--")
    return dashes >= 0 and _OPTION.fullmatch(before, dashes) is not None


def _is_element(lowered: str, position: int) -> bool:
    before = lowered[max(0, position - _NAME_BEFORE) : position]
    return before[before.rfind("<") + 1 :].replace("-", "").replace("_", "").isalnum() or before.endswith("<")


def _alone_on_its_line(flat: str, start: int, end: int) -> bool:
    line_start = flat.rfind("\n", max(0, start - 200), start) + 1
    if line_start == 0 and start > 200:
        return False
    return (
        _LINE_START.fullmatch(flat, line_start, start) is not None and _LINE_END.match(flat, end) is not None
    )


def _find_header(flat: str, lowered: str) -> tuple[int, str] | None:
    for match in _matches(_BEARER, "bearer", flat, lowered):
        value = match["value"]
        if is_random(value) and not is_example(value) and not is_example_password(value):
            return match.start(), "bearer token"
    for match in _matches(_BASIC, "basic", flat, lowered):
        if _is_login(match["value"]):
            return match.start(), "basic authentication"
    for match in _matches(_DOCKER_LOGIN, "auth", flat, lowered):
        if _is_login(match["value"]):
            return match.start(), "login of a registry"
    for match in _matches(_NETRC_LOGIN, "login", flat, lowered):
        if looks_chosen(match["value"]) and not is_example_password(match["value"]):
            return match.start(), "password of a machine"
    position = lowered.find("curl ")
    while position >= 0:
        found = _CURL_USER.search(flat, position, position + _CURL_REACH)
        if found and looks_chosen(found["value"]) and not is_example_password(found["value"]):
            return position, "password in a command"
        position = lowered.find("curl ", position + _CURL_REACH)
    return None


def _matches(pattern: re.Pattern[str], word: str, flat: str, lowered: str) -> list[re.Match[str]]:
    matches = []
    position = lowered.find(word)
    while position >= 0:
        match = pattern.match(flat, position)
        if match:
            matches.append(match)
        position = lowered.find(word, position + len(word))
    return matches


def _is_login(value: str) -> bool:
    """Whether this is `user:password` in base64, and no manual's."""
    try:
        user, colon, password = base64.b64decode(value, validate=True).decode("ascii").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    if not colon or not (user + password).isprintable() or len(password) < 4:
        return False
    return password.lower() != user.lower() and not is_example_password(password)
