"""Folders of Markdown with front matter and wiki links, as basic-memory and programs for notes keep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from memories.models import Kind
from memoryhub.importing.candidates import Candidate, Place, Read, as_moment
from memoryhub.importing.json_files import line_for, text_of, texts_of
from memoryhub.importing.markdown_files import Document, document_of, wiki_links
from memoryhub.importing.readers.files import folder_of, stem_of, text_of_file
from memoryhub.importing.sources import Source, shown

MARKDOWN = (".md", ".markdown")
# In this order, the first that is there.
_CREATED = ("created", "created_at", "date")
_UPDATED = ("updated", "modified", "updated_at")
_SAID = {"title", "type", "tags", "aliases", "summary", "description", "permalink", "status"}
_SAID |= {*_CREATED, *_UPDATED}
_LINK = re.compile(r"\]\(<?([^()\s<>]{1,300}\.(?:md|markdown))(?:#[^()\s]{0,200})?>?\)")
_HEADING = re.compile(r"\A\s*#[ \t]+([^\n]+)\n?")
_ARCHIVED = {"archived", "deprecated", "obsolete"}
_SUPERSEDING = {"supersedes", "replaces", "obsoletes"}
_SUPERSEDED = {"superseded by", "replaced by"}
_CONTRADICTING = {"contradicts", "contrasts with", "conflicts with"}


def recognise(source: Source) -> list[str]:
    """Every Markdown file."""
    return [name for name in source.names() if name.lower().endswith(MARKDOWN)]


def read(source: Source, names: list[str]) -> Read:
    """A memory for each file, with links to those that it names."""
    found = Read()
    for name in names:
        document = document_of(text_of_file(source, name, found))
        place = Place(shown(name))
        if document.note:
            found.note(place, document.note)
        if not document.text.strip() and not document.front:
            found.note(place, "Is empty, and is left out.")
            continue
        found.candidates.append(_note(name, document))
    _resolve(found.candidates)
    return found


def _note(name: str, document: Document) -> Candidate:
    front, text = document.front, document.text.strip("\n")
    candidate = Candidate(name, Place(shown(name), document.line), names_in_text=True)
    heading = _HEADING.match(text)
    candidate.title = text_of(front.get("title")) or (heading.group(1).strip() if heading else stem_of(name))
    if heading and heading.group(1).strip() == candidate.title.strip():
        text = text[heading.end() :].strip("\n")
    candidate.body = text
    candidate.summary = text_of(front.get("summary")) or text_of(front.get("description"))
    _read_front(front, candidate)
    relations = {kind: set(wiki_links(line)) for kind, line in _relations(text)}
    for target in wiki_links(text):
        kinds = [kind for kind, targets in relations.items() if target in targets]
        _link(candidate, kinds[0] if kinds else "", target)
    for target in _LINK.findall(text):
        if path := _beside(name, unquote(target)):
            candidate.link("related_to", path)
    return candidate


def _read_front(front: Mapping[str, Any], candidate: Candidate) -> None:
    kind = text_of(front.get("type")).strip().lower()
    candidate.kind = kind if kind in Kind.values else Kind.NOTE.value
    candidate.tags = [tag.lstrip("#") for tag in texts_of(front.get("tags"))]
    if kind and kind not in Kind.values:
        candidate.tags.append(kind)
    candidate.hints = [*texts_of(front.get("aliases")), *texts_of(front.get("permalink"))]
    candidate.created_at = _first_day(front, _CREATED)
    candidate.updated_at = _first_day(front, _UPDATED)
    status = text_of(front.get("status")).strip()
    if status.lower() in _ARCHIVED:
        candidate.archived = f"It was {status.lower()} there."
    elif status:
        candidate.lines.append(f"status: {status}")
    for name, value in front.items():
        if name not in _SAID and (line := line_for(name, value)):
            candidate.lines.append(line)


def _first_day(front: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    days = (as_moment(front.get(name)) for name in names)
    return next((day for day in days if day), None)


def _relations(text: str) -> list[tuple[str, str]]:
    """Lines such as `- implements [[Other]]`: the sort of the relation, and the line."""
    found = []
    for line in text.split("\n"):
        before, link, _ = line.strip().partition("[[")
        if link and before.startswith(("- ", "* ", "+ ")):
            found.append((before[2:].strip().lower().replace("_", " ").rstrip(":"), line))
    return found


def _link(candidate: Candidate, kind: str, target: str) -> None:
    if kind in _SUPERSEDED:
        candidate.superseded_by = target
    elif kind in _SUPERSEDING:
        candidate.link("supersedes", target)
    elif kind in _CONTRADICTING:
        candidate.link("contradicts", target)
    else:
        candidate.link("related_to", target)


def _beside(name: str, target: str) -> str:
    """The file that a link leads to, from where it stands; empty for one that leads out."""
    parts: list[str] = [] if target.startswith("/") else folder_of(name).split("/")
    for part in PurePosixPath(target.lstrip("/")).parts:
        if part == "..":
            if not any(parts):
                return ""
            parts.pop()
        else:
            parts.append(part)
    return "/".join(part for part in parts if part)


class _Names:
    """What notes are called, by what a name may mean: hostile ones are many of one name."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self.files = {candidate.key for candidate in candidates}
        # By name, whether in that case, and the folder; None is any.
        self.first: dict[tuple[str, bool, str | None], str] = {}
        self.shared: set[str] = set()
        for candidate in candidates:
            path = candidate.key.rpartition(".")[0]
            for said in (candidate.key, path, candidate.title, stem_of(candidate.key), *candidate.hints):
                self._add(said.strip(), candidate.key)

    def _add(self, said: str, file: str) -> None:
        fold = said.casefold()
        for folder in (folder_of(file), None):
            self.first.setdefault((said, True, folder), file)
            if self.first.setdefault((fold, False, folder), file) != file and folder is None:
                self.shared.add(fold)

    def meant(self, target: str, by: str) -> str:
        """The file that a name means in the file `by`: of several the nearest in folder, then in case.

        A name that stays open is given back as it is.
        """
        if target in self.files:
            return target
        fold, home = target.casefold(), folder_of(by)
        for name in ((target, True, home), (fold, False, home), (target, True, None)):
            if name in self.first:
                return self.first[name]
        return target if fold in self.shared else self.first.get((fold, False, None), target)


def _resolve(candidates: list[Candidate]) -> None:
    """Links name files by path, title, name or permalink; here they come to name them by path."""
    names = _Names(candidates)
    for candidate in candidates:
        for kind, targets in candidate.links.items():
            known = (names.meant(target, candidate.key) for target in targets)
            candidate.links[kind] = {key: None for key in known if key != candidate.key}
        if candidate.superseded_by:
            candidate.superseded_by = names.meant(candidate.superseded_by, candidate.key)
