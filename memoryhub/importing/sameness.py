"""When two entries say the same: title, summary and body, for the same readers, and with the same details."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memories.keys import duplicate_key
from memories.models import Memory
from memoryhub.importing.candidates import Place
from memoryhub.importing.fitting import Fitted
from memoryhub.importing.json_files import text_of
from memoryhub.kernel.text import normalised

Details = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Said:
    """What an entry says. Of two whose `text` is equal a write refuses the second, whatever the details."""

    text: tuple[str, str]
    details: Details


def said_by(fitted: Fitted) -> Said:
    """What a memory of these fields would say; its visibility is set by then."""
    fields = fitted.fields
    memory = Memory(title=fields["title"], summary=fields["summary"], body=fields["body"])
    return Said((duplicate_key(memory), fields["visibility"]), details_said(fields["details"]))


def details_said(details: Mapping[str, Any]) -> Details:
    """Details as they are compared: by their words, without those that are empty."""
    texts = {name: normalised(text_of(value)) for name, value in details.items()}
    return tuple(sorted((name, text) for name, text in texts.items() if text))


def tell_apart(entries: Iterable[tuple[Said, Fitted, Place]]) -> list[bool]:
    """Which of them have the text of an earlier one and other details: their last line says so now.

    The line is the same whenever the same source is read, whatever of it is here by then.
    """
    seen: dict[tuple[str, str], set[Details]] = {}
    told = []
    for said, fitted, place in entries:
        others = seen.setdefault(said.text, set())
        told.append(bool(others) and said.details not in others)
        others.add(said.details)
        if told[-1]:
            line = f"Number {len(others)} of this text in the source, with other details: {place}."
            fitted.fields["body"] = f"{fitted.fields['body']}\n\n{line}".strip()
            fitted.note(
                "Another has its title, summary and body: the last line of the body tells them apart."
            )
    return told
