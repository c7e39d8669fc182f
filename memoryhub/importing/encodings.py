"""Bytes as text, and text that was once read in the wrong encoding made whole again.

A repair is believed only when damaging it again gives what was there, byte for byte: an approximate one
would read as right. What can't be repaired so stays, is shown, and hygiene names it.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# A character of several bytes in UTF-8.
_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# Misread twice happens; more than that doesn't.
_ROUNDS = 3
_CODE_PAGES = ("latin-1", "mac_roman", "cp437", "cp1251")
# Windows fills the five holes of its code page with the controls of the same byte.
_HOLES = {byte: chr(byte) for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
_WINDOWS = {byte: _HOLES.get(byte) or bytes([byte]).decode("cp1252") for byte in range(256)}
_TO_WINDOWS = {sign: byte for byte, sign in _WINDOWS.items()}
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85]")


@dataclass(frozen=True)
class Decoded:
    """A file as text; `note` says what was odd about its bytes, empty where nothing was."""

    text: str
    note: str = ""


def decode(data: bytes) -> Decoded:
    """The text of a file: UTF-8, with or without a mark, UTF-16 and UTF-32; else as Windows wrote it."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], encoding)
    if b"\x00" in data[:4096] and (guessed := _without_mark(data)):
        return guessed
    try:
        return Decoded(data.decode("utf-8"))
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
    if _MULTIBYTE.search(data):
        sentence = f"Isn't whole UTF-8, first on line {line}: what can't be read is shown as \ufffd."
        return Decoded(data.decode("utf-8", errors="replace"), sentence)
    text = "".join(_WINDOWS[byte] for byte in data)
    return Decoded(text, "Isn't UTF-8: read as Windows-1252, from which every byte can be had back.")


def _marked(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, errors="replace")
    whole = "\ufffd" not in text or text.encode(encoding, errors="replace") == data
    return Decoded(text, "" if whole else f"Isn't whole {encoding.upper()}: gaps are shown as \ufffd.")


def _without_mark(data: bytes) -> Decoded | None:
    """UTF-16 without its mark, of text that is mostly Latin: every second byte is zero."""
    sample = data[:4096]
    for at, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        half = sample[at::2]
        if half and half.count(0) > 0.7 * len(half) and sample[1 - at :: 2].count(0) < 0.1 * len(half):
            return _marked(data, encoding)
    return None


def mended(text: str) -> str:
    """The text with every line repaired that can be repaired exactly; others are as they were."""
    if text.isascii():
        return text
    return "\n".join(_mended_line(line) for line in text.split("\n"))


def _mended_line(line: str) -> str:
    best = now = line
    for _ in range(_ROUNDS):
        better = _undone(now)
        if better is None:
            break
        now = better
        # Halfway back from twice misread there may be controls, which nobody wrote.
        best = best if _UNPRINTABLE.search(now) else now
    return best


def _undone(line: str) -> str | None:
    """What the line was before it was misread; None where that can't be told exactly."""
    if line.isascii():
        return None
    halfway = None
    for page in ("windows", *_CODE_PAGES):
        data = _as_bytes(line, page)
        if data is None or not _tells(data, page):
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if _damaged(text, page) != line:
            continue
        if not _UNPRINTABLE.search(text):
            return text
        halfway = halfway or text
    return halfway


def _tells(data: bytes, page: str) -> bool:
    """Whether bytes are UTF-8 by more than chance: a capital before a quotation mark is meant.

    One character of two bytes alone tells only where it would be `Â` or `Ã` before a sign.
    """
    found = _MULTIBYTE.findall(data)
    if len(found) != 1 or len(found[0]) > 2:
        return bool(found)
    return page in ("windows", "latin-1") and found[0][0] in (0xC2, 0xC3)


def _as_bytes(line: str, page: str) -> bytes | None:
    try:
        if page == "windows":
            return bytes(_TO_WINDOWS[sign] for sign in line)
        return line.encode(page)
    except (KeyError, UnicodeEncodeError):
        return None


def _damaged(text: str, page: str) -> str:
    data = text.encode("utf-8")
    return "".join(_WINDOWS[byte] for byte in data) if page == "windows" else data.decode(page)


def storable_text(text: str) -> tuple[str, int]:
    """The text as the store takes it, and how many control characters became `\ufffd` in it.

    Line ends of any sort become LF. Nothing else changes.
    """
    return _CONTROLS.subn("\ufffd", _BREAKS.sub("\n", text))
