"""Making a candidate fit the rules of memories: nothing is lost, what has no place goes into the body.

What model and hygiene allow of an import stays as it is: a missing summary, a thin detail. A summary that
is too long moves into the body where that is empty, else it is kept whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memories.models import Kind, Memory, Tag
from memories.scopes import normalise_scopes
from memories.services.checks import DETAILS
from memoryhub.importing.candidates import Candidate
from memoryhub.importing.encodings import mended, storable_text
from memoryhub.kernel.text import collapsed, summary_problem, text_problem

_WORDS = re.compile(r"[a-z0-9]+")
# What stands between the words of a tag elsewhere; with anything else in it, it would be another word.
_NO_TAG = re.compile(r"[^a-z0-9 _./:&-]")
_LEADING = re.compile(r"^(?:#+|>|[-*+]|\d+\.)\s")
_LABELS = {"why_chosen": "Why", "what_we_tried": "What we tried", "when_to_invoke": "When to invoke"}


@dataclass
class Fitted:
    """The fields of a memory that a candidate becomes, and what had to be done to it."""

    fields: dict[str, Any] = field(default_factory=dict)
    # In the order done, once each: sentences without any text of the entry.
    notes: dict[str, None] = field(default_factory=dict)
    is_damaged: bool = False

    def note(self, sentence: str) -> None:
        self.notes[sentence] = None


def fit(candidate: Candidate, *, mend: bool = True) -> Fitted:
    """A candidate as the fields that a memory takes. With `mend` misread text is repaired where it can be."""
    fitted = Fitted()
    clean = _cleaner(fitted, mend)
    title, summary, body = (clean(text) for text in (candidate.title, candidate.summary, candidate.body))
    after: list[str] = [clean(line) for line in (*candidate.lines, *candidate.elsewhere)]
    fields = fitted.fields
    fields["kind"] = candidate.kind if candidate.kind in Kind.values else Kind.NOTE.value
    title, summary, body = _fit_title(title, summary, body, candidate, fitted)
    summary, body = _fit_summary(summary, body, fitted)
    details = {key: _cleaned(value, clean) for key, value in candidate.details.items()}
    fields["details"] = _fit_details(fields["kind"], details, after, fitted)
    fields["tags"] = _fit_tags([clean(tag) for tag in candidate.tags], after, fitted)
    fields["retrieval_hints"] = _fit_hints([clean(hint) for hint in candidate.hints], after, fitted)
    if fields["kind"] == Kind.CONSTRAINT:
        fields["scope_paths"] = _fit_scopes([clean(path) for path in candidate.scopes], after, fitted)
        if candidate.hardness:
            fields["hardness"] = candidate.hardness
    body = "\n\n".join(part for part in (body, *after) if part.strip())
    if not summary and not body and not fields["details"]:
        # A name and nothing else: it says what it is called.
        summary = title if summary_problem(title) is None else ""
    fields |= {"title": title, "summary": summary, "body": body}
    fitted.is_damaged = any(_looks_damaged(text) for text in (title, summary, body, *_texts(details)))
    _say_what_stays(fitted)
    return fitted


def _cleaner(fitted: Fitted, mend: bool) -> Callable[[str], str]:
    def clean(text: str) -> str:
        better = mended(text) if mend else text
        if better != text:
            fitted.note("Text that was read in the wrong encoding is repaired.")
        better, controls = storable_text(better)
        if controls:
            fitted.note("Control characters became \ufffd.")
        return better

    return clean


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [{key: clean(text) for key, text in step.items()} for step in value]
    return ""


def _looks_damaged(text: str) -> bool:
    return "\ufffd" in text or mended(text) != text


def _texts(details: dict[str, Any]) -> list[str]:
    steps = details.get("steps") or []
    plain = [value for value in details.values() if isinstance(value, str)]
    return plain + [text for step in steps for text in step.values()]


# --- Title and summary ---------------------------------------------------------------


def _fit_title(
    title: str, summary: str, body: str, candidate: Candidate, fitted: Fitted
) -> tuple[str, str, str]:
    """A title of one line within its length. What was longer stands whole as the summary, or in the body."""
    line, is_said = collapsed(title), title.strip() in (body.strip(), summary.strip())
    if not line:
        line, is_said = collapsed(summary) or collapsed(body[:1000]) or candidate.place.file, True
        fitted.note("It has no title: its first words became one.")
    short = up_to_last_word(line, Memory.TITLE_MAX_LENGTH)
    if short == line or is_said:
        return short, *_its_own_summary(summary, body, candidate)
    fitted.note(f"Its title is cut at {Memory.TITLE_MAX_LENGTH} characters.")
    if not summary.strip():
        return short, title.strip(), body
    fitted.note("The whole title stands first in the body.")
    return short, summary, _joined(title.strip(), body)


def _its_own_summary(summary: str, body: str, candidate: Candidate) -> tuple[str, str]:
    """What says all in one plain paragraph is its own summary: nothing is cut, nothing is made up."""
    said = body.strip()
    if summary.strip() or candidate.details or candidate.lines or summary_problem(said) is not None:
        return summary, body
    return said, ""


def _fit_summary(summary: str, body: str, fitted: Fitted) -> tuple[str, str]:
    """A summary by the rules of imports; whatever of its form can't stand there stands in the body."""
    said = collapsed(summary)
    if not said:
        return "", body
    if len(said) > Memory.SUMMARY_MAX_LENGTH:
        if not body.strip():
            fitted.note("Its summary is too long, and became the body.")
            return "", summary.strip()
        return said, body
    if summary_problem(said) is None:
        return said, body
    plain = _without_marks(said)
    if summary_problem(plain) is not None:
        fitted.note("Its summary isn't plain text, and stands first in the body.")
        return "", _joined(summary.strip(), body)
    fitted.note("Marks are taken out of its summary; as it was it stands first in the body.")
    return plain, _joined(summary.strip(), body)


def _without_marks(text: str) -> str:
    while found := _LEADING.match(text):
        text = text[found.end() :].lstrip()
    return text.replace("**", "").replace("*", "").replace("```", "").replace("~~~", "").strip()


def up_to_last_word(text: str, most: int) -> str:
    """The text up to its last whole word within `most` characters."""
    if len(text) <= most:
        return text
    return text[: most + 1].rpartition(" ")[0].rstrip() or text[:most]


def _joined(first: str, rest: str) -> str:
    return "\n\n".join(part for part in (first, rest) if part.strip())


# --- Everything else -----------------------------------------------------------------


def _fit_details(kind: str, details: dict[str, Any], after: list[str], fitted: Fitted) -> dict[str, Any]:
    """The fields of the kind; one that is too long, or that the kind doesn't have, goes into the body."""
    allowed = DETAILS.get(Kind(kind), {})
    kept: dict[str, Any] = {}
    for key, value in details.items():
        if not value or not (isinstance(value, list) or value.strip()):
            continue
        text = (
            value
            if isinstance(value, str)
            else "\n".join(f"{n}. {s['does']}" for n, s in enumerate(value, 1))
        )
        fits = len(value) <= Memory.MAX_STEPS if isinstance(value, list) else True
        # Steps are measured as they are stored, with what is around each.
        long = len(text) + (40 * len(value) if isinstance(value, list) else 0) > Memory.DETAIL_MAX_LENGTH
        if key in allowed and fits and not long:
            kept[key] = value
            continue
        label = _LABELS.get(key) or key.replace("_", " ").capitalize()
        fitted.note(f"{label} is longer than its field, and stands in the body.")
        after.append(f"{label}:\n{text}")
    return kept


def _fit_tags(given: list[str], after: list[str], fitted: Fitted) -> list[str]:
    """The first five that are tags or can be made ones; the others are the last line of the body."""
    kept: dict[str, None] = {}
    others: dict[str, None] = {}
    for tag in given:
        name = _as_tag(tag)
        if name and len(kept) < Memory.MAX_TAGS:
            kept[name] = None
        elif tag.strip() and name not in kept:
            others[collapsed(tag)] = None
    if others:
        fitted.note(
            f"It has more than {Memory.MAX_TAGS} tags, or some that are none: they stand in the body."
        )
        after.append("Tags: " + ", ".join(others))
    return list(kept)


def _as_tag(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    # What ASCII has no letters for isn't a tag by what is left of it.
    if len(plain) < len(unicodedata.normalize("NFC", text)) or _NO_TAG.search(plain.lower()):
        return ""
    name = "-".join(_WORDS.findall(plain.lower()))
    return name if len(name) <= Tag.NAME_MAX_LENGTH else ""


def _fit_hints(given: list[str], after: list[str], fitted: Fitted) -> list[str]:
    kept: dict[str, None] = {}
    others: dict[str, None] = {}
    for hint in map(collapsed, given):
        if hint and len(hint) <= Memory.HINT_MAX_LENGTH and len(kept) < Memory.MAX_HINTS:
            kept[hint] = None
        elif hint and hint not in kept:
            others[hint] = None
    if others:
        fitted.note(f"It has more than {Memory.MAX_HINTS} hints, or long ones: they stand in the body.")
        after.append("Also: " + "; ".join(others))
    return list(kept)


def _fit_scopes(given: list[str], after: list[str], fitted: Fitted) -> list[str]:
    """Paths; what is a pattern, a sentence or outside goes into the body. `a.py:save` covers `a.py`."""
    kept: dict[str, None] = {}
    others: list[str] = []
    for said in filter(None, (collapsed(part) for one in given for part in one.split(","))):
        path, _, symbol = said.partition(":")
        try:
            paths = normalise_scopes([path if symbol else said])
        except ValueError:
            paths = []
        is_global = said.lower() == "global"
        if (" " in path and "/" not in path) or len(kept) + len(paths) > Memory.MAX_SCOPES:
            paths = []
        kept |= dict.fromkeys(paths)
        if not is_global and (not paths or symbol):
            others.append(said)
    if others:
        fitted.note("Some of what it covers is no path, and stands in the body.")
        after.append("Scope: " + ", ".join(others))
    return list(kept)


def _say_what_stays(fitted: Fitted) -> None:
    """What hygiene will name."""
    fields = fitted.fields
    if not fields["summary"]:
        fitted.note("It has no summary: hygiene will name it.")
    elif len(fields["summary"]) > Memory.SUMMARY_MAX_LENGTH:
        fitted.note("Its summary is too long and is kept whole: hygiene will name it.")
    needed = DETAILS.get(Kind(fields["kind"]), {})
    if any(len(str(fields["details"].get(name, "")).strip()) < least for name, least in needed.items()):
        fitted.note("It gives less of a reason than is asked of writers: hygiene will name it.")
    if text_problem(fields["body"], most=Memory.BODY_MAX_LENGTH):
        fitted.note(f"Its body has more than {Memory.BODY_MAX_LENGTH} characters.")
    if fitted.is_damaged:
        fitted.note("It holds text that was damaged before, and can't be repaired for certain.")
