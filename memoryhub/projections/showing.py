"""The page of the files: how they begin, and the folder as one file to take along."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

from memoryhub.projections.rules import RuleFile

# Characters: the page stays small however much a project knows.
SHOWN_OF_DECISIONS = 20_000
SHOWN_OF_RULES = 30_000
SHOWN_FILES = 100
SHOWN_REFUSED = 50
FOLDER = "memoryhub"
# The earliest that the format knows: the same files give the same bytes.
_NO_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class ShownFile:
    """A file of rules on the page; without `text` where the page has shown enough."""

    file: RuleFile
    text: str


def shown_files(files: Sequence[RuleFile]) -> list[ShownFile]:
    """The first files of a folder, with their texts as long as there is room."""
    shown, used = [], 0
    for file in files[:SHOWN_FILES]:
        used += len(file.content)
        shown.append(ShownFile(file, file.content if used <= SHOWN_OF_RULES else ""))
    return shown


def packed(files: Sequence[RuleFile]) -> bytes:
    """The folder as a zip archive, in a subdirectory of its own."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(f"{FOLDER}/{file.name}", _NO_DATE), file.content)
    return made.getvalue()
