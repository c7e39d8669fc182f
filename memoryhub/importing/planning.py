"""What an import would do, entry by entry, without writing anything: the dry run, and what is applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memories.evidence import suggest
from memories.models import Memory, Visibility
from memories.services import Brought, check_fields
from memoryhub.importing.candidates import Candidate, Note, Place, Read
from memoryhub.importing.encodings import mended, storable_text
from memoryhub.importing.fitting import Fitted, fit
from memoryhub.importing.identity import uid_of
from memoryhub.importing.linking import resolve_links
from memoryhub.importing.readers import choose_format
from memoryhub.importing.sameness import Details, Said, details_said, said_by, tell_apart
from memoryhub.importing.secrets import SecretLines
from memoryhub.importing.sources import Source, shown
from memoryhub.kernel.actor import Actor, WriteContext
from memoryhub.kernel.errors import Invalid, Problems, TooLarge, one_by_one
from memoryhub.kernel.snapshots import read_snapshot
from projects.models import Project, User

ENTRIES_MAX = 20_000
# So many new entries are compared with what is known: each costs a search.
COMPARED_MAX = 300
_BATCH = 400
_CLOSE = {"exact_duplicate", "update_candidate"}

Progress = Callable[[int, int], None]


class Fate(StrEnum):
    """What becomes of an entry."""

    NEW = "new"
    KNOWN = "known"
    SAME = "same"
    TWICE = "twice"
    ERASED = "erased"
    REFUSED = "refused"


@dataclass
class Item:
    """One entry with what would become of it. `number` is of the memory that it is, or equals, here."""

    candidate: Candidate
    fitted: Fitted
    brought: Brought
    # As it stands in the source.
    said: Said
    fate: Fate = Fate.NEW
    number: int | None = None
    # Why it is refused, without a word of it.
    problem: str = ""
    is_secret: bool = False
    # Of the memory that it is here, or will be.
    uid: str = ""
    # Another of the source has its text and other details.
    is_apart: bool = False
    # What is here has its text and other details.
    differs: bool = False
    # What it is close to here: the number, and in what.
    close: tuple[int, str] | None = None

    @property
    def label(self) -> str:
        """How a report calls it: nothing of it where it may hold a secret."""
        return "" if self.is_secret else str(self.fitted.fields["title"])


@dataclass
class Plan:
    """The whole import, in an order in which what is replaced comes before what replaces it.

    `links` are pairs of positions by link field, from the one that names to the one that is named.
    """

    project: Project
    source: str
    format: str
    files: int
    items: list[Item]
    links: list[tuple[str, int, int]]
    notes: list[Note] = field(default_factory=list)
    # Of the new ones, how many were not compared with what is known.
    not_compared: int = 0

    def of(self, fate: Fate) -> list[Item]:
        return [item for item in self.items if item.fate is fate]

    def counts(self) -> dict[str, int]:
        """How many there are of each fate, all of them named."""
        counted = Counter(item.fate for item in self.items)
        return {fate.value: counted[fate] for fate in Fate}

    def oddities(self) -> dict[str, int]:
        """What had to be done to new entries, and to how many."""
        counted = Counter(note for item in self.of(Fate.NEW) for note in item.fitted.notes)
        return dict(counted.most_common())


def plan_import(
    actor: Actor,
    project: Project,
    source: Source,
    *,
    format: str = "",
    visibility: str = "",
    mend: bool = True,
    progress: Progress = lambda done, of: None,
) -> Plan:
    """Read a source and say what would become of each entry. Writes nothing.

    `visibility` is of the new memories, the project's default unless given. Raises Invalid for a source that
    is of no format or of several, and for a visibility that is none; TooLarge.
    """
    assert actor.user is not None, "Every memory has an author."
    if visibility and visibility not in Visibility.values:
        raise Invalid(fields={"visibility": f"Must be one of: {', '.join(Visibility.values)}."})
    chosen, names = choose_format(source, format)
    read = chosen.read(source, names)
    _check_many(read)
    order, links = resolve_links(read)
    wanted = visibility or project.default_visibility
    items = [_item(read.candidates[at], actor.user, project, wanted, mend) for at in order]
    told = tell_apart((item.said, item.fitted, item.candidate.place) for item in items)
    for item, is_apart in zip(items, told, strict=True):
        item.is_apart = is_apart
    place = {at: position for position, at in enumerate(order)}
    plan = Plan(
        project=project,
        source=shown(source.label),
        format=chosen.name,
        files=len(names),
        items=items,
        links=[(name, place[one], place[other]) for name, one, other in links],
        notes=[*source.notes, *read.notes, *_left_out(source, names)],
    )
    with read_snapshot():
        _decide(plan, actor, progress)
    secrets = SecretLines(source)
    for item in plan.items:
        if item.is_secret:
            item.candidate.place = secrets.locate(item.candidate.place)
    return plan


def _check_many(read: Read) -> None:
    if len(read.candidates) > ENTRIES_MAX:
        sentence = f"Has {len(read.candidates)} entries; at most {ENTRIES_MAX} are imported at once. Part it."
        raise TooLarge(sentence)


def _left_out(source: Source, names: Sequence[str]) -> Iterator[Note]:
    rest = [name for name in source.names() if name not in set(names)]
    if rest:
        few = ", ".join(shown(name) for name in rest[:5]) + (", …" if len(rest) > 5 else "")
        yield Note(Place(shown(source.label)), f"{len(rest)} other files aren't read: {few}.")


def _item(candidate: Candidate, user: User, project: Project, wanted: str, mend: bool) -> Item:
    visibility = Visibility.PRIVATE.value if candidate.is_private else wanted
    fitted = fit(candidate, mend=mend)
    fitted.fields["visibility"] = visibility
    brought = Brought(
        uid=uid_of(candidate, project, visibility, user),
        created_at=candidate.created_at,
        updated_at=candidate.updated_at,
        verified_at=candidate.verified_at,
        archived=_reason(candidate.archived, mend),
    )
    return Item(candidate, fitted, brought, said_by(fitted), uid=brought.uid)


def _reason(said: str | None, mend: bool) -> str | None:
    """Why something was out of use elsewhere, as the store keeps reasons."""
    if said is None:
        return None
    return storable_text(mended(said) if mend else said)[0][: Memory.REASON_MAX_LENGTH]


def _decide(plan: Plan, actor: Actor, progress: Progress) -> None:
    """Give every item its fate, in batches of so many as a database takes in one question."""
    assert actor.user is not None
    has_any = Memory.objects.in_project(plan.project).visible_to(actor.user).active().exists()
    seen: dict[Said, Item] = {}
    compared = 0
    for start in range(0, len(plan.items), _BATCH):
        batch = plan.items[start : start + _BATCH]
        here = _Here.of(batch, plan.project, actor.user)
        for item in batch:
            _decide_one(item, here, seen)
            if item.fate is Fate.NEW and has_any:
                if compared < COMPARED_MAX:
                    item.close = _close_to(item, plan.project, actor.user)
                    compared += 1
                else:
                    plan.not_compared += 1
        progress(start + len(batch), len(plan.items))


@dataclass(frozen=True)
class _Here:
    """What the store has of a batch: by uid and by what is said."""

    by_uid: dict[str, int]
    erased: set[str]
    by_text: dict[tuple[str, str], dict[Details, tuple[int, str]]]

    @classmethod
    def of(cls, batch: Iterable[Item], project: Project, user: User) -> _Here:
        uids = [item.brought.uid for item in batch]
        memories = Memory.objects.in_project(project)
        known = memories.visible_to(user).with_uids(uids).values_list("uid", "number")
        gone = memories.with_uids(uids).erased().values_list("uid", flat=True)
        same = memories.visible_to(user).saying({item.said.text[0] for item in batch}).order_by("number")
        by_text: dict[tuple[str, str], dict[Details, tuple[int, str]]] = {}
        for *text, details, number, uid in same.values_list(
            "duplicate_key", "visibility", "details", "number", "uid"
        ):
            there = by_text.setdefault((text[0], text[1]), {})
            there.setdefault(details_said(details), (number, str(uid)))
        return cls(
            {str(uid): number for uid, number in known},
            {str(uid) for uid in gone},
            by_text,
        )


def _decide_one(item: Item, here: _Here, seen: dict[Said, Item]) -> None:
    uid, said = item.brought.uid, item.said
    there = here.by_text.get(said.text, {})
    if uid in here.by_uid:
        item.fate, item.number = Fate.KNOWN, here.by_uid[uid]
    elif uid in here.erased:
        item.fate, item.problem = Fate.ERASED, "It was erased here, and stays so."
    elif said.details in there:
        item.fate, (item.number, item.uid) = Fate.SAME, there[said.details]
    elif said in seen:
        item.fate, item.problem = Fate.TWICE, f"Says the same as {seen[said].candidate.place}."
    elif there and not item.is_apart:
        item.fate, (item.number, item.uid) = Fate.SAME, next(iter(there.values()))
        item.differs, item.problem = True, "Its details are others there, and stay so."
    else:
        _check(item)
        if item.fate is Fate.NEW:
            seen[said] = item


def _check(item: Item) -> None:
    """Whether the store takes it. A secret is named by its file and line alone."""
    problems = Problems()
    check_fields(
        context=WriteContext(),
        problems=problems,
        brought=item.brought,
        reason=reason_of(item),
        **item.fitted.fields,
    )
    if not problems:
        return
    item.fate, item.is_secret = Fate.REFUSED, problems.has_secret
    if item.is_secret:
        item.problem = "Holds what looks like a secret. Take it out, and change it where it is used."
    else:
        item.problem = one_by_one(problems.fields)


def reason_of(item: Item) -> str:
    """Why the memory is there: where it was brought from."""
    return f"Imported from {item.candidate.place}."


def _close_to(item: Item, project: Project, user: User) -> tuple[int, str] | None:
    """The memory that says nearly the same, by the same finder that advises writers."""
    answer: dict[str, Any] = suggest(project, user, item.fitted.fields, bounded=True)
    if answer["relationship"] not in _CLOSE or not answer["evidence"]["primary"]:
        return None
    return answer["evidence"]["primary"], answer["evidence"]["reason"]
