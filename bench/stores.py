"""Synthetic stores of a size, written in bulk: one project of so many memories among fifty.

Words follow Zipf's law, so that some are in most memories and most in a few; a third of the memories
stand in bags, some are low, private, public, superseded; a fifth were revised once to five times; a few
bodies are very long. The same size and seed give the same store.

`python -m bench.stores SIZE` in a hub's environment. Rows are made by the models and indexed by the
product's own index, and skip the services: ten thousand calls would take minutes.
"""

from __future__ import annotations

import copy
import datetime as dt
import itertools
import os
import random
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memories.models import Memory, Revision
    from projects.models import Project, User

BIG = "harbor"
PROJECTS = 50
SEED = 20

_VOCABULARY = 20_000
_SYLLABLES = ("ba", "dor", "ki", "lem", "nu", "pra", "sto", "ti", "vel", "zan", "fri", "ga", "hu", "mo")
_BATCH = 500
# Of every twenty memories the first is a bag and the next six are in it.
_GROUP, _CHILDREN = 20, 6
_MAX_CRITICAL = 7
_REVISED, _MAX_VERSION = 0.2, 6
_UNTIL_REVISED = dt.timedelta(hours=5)
_EPOCH = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_KINDS = {
    "decision": 30,
    "fact": 25,
    "note": 20,
    "constraint": 10,
    "preference": 7,
    "session_summary": 5,
    "pipeline": 3,
}
_TAGS = [f"topic-{number}" for number in range(1, 61)]


# What any English text is full of: the product drops them from questions that have other words.
_COMMON = (
    "the of and to in a is that for it was on with as be by at from this are or an have not which but we "
    "they all had were when their can there been if more will would about who what than so its only"
)


class Words:
    """Texts whose words are as frequent as Zipf says, the most frequent being English stop words."""

    def __init__(self, seed: int = SEED) -> None:
        self.random = random.Random(seed)
        made = dict.fromkeys(self._word() for _ in range(3 * _VOCABULARY))
        self.telling = list(made)[:_VOCABULARY]
        self.vocabulary = [*_COMMON.split(), *self.telling]
        self._shares = list(itertools.accumulate(1 / rank for rank in range(1, len(self.vocabulary) + 1)))

    def _word(self) -> str:
        many = self.random.randint(2, 4)
        return "".join(self.random.choices(_SYLLABLES, k=many)) + self.random.choice("bdgklmnrst")

    def of(self, who: str) -> Words:
        """The same vocabulary in the choice of somebody else."""
        others = copy.copy(self)
        others.random = random.Random(who)
        return others

    def some(self, many: int) -> list[str]:
        return self.random.choices(self.vocabulary, cum_weights=self._shares, k=many)

    def text(self, many: int) -> str:
        """So many words, in sentences."""
        words = self.some(many)
        sentences = (" ".join(words[at : at + 14]).capitalize() for at in range(0, many, 14))
        return ". ".join(sentences) + "."

    def question(self) -> str:
        """As people ask: common words, and one that tells."""
        return " ".join([*self.some(self.random.randint(4, 9)), self.random.choice(self.telling)])

    def body(self, position: int) -> str:
        """Mostly a paragraph; every five hundredth of 20,000 to 99,000 characters."""
        if position % 500 == 250:
            return self.text(20_000)[: self.random.randint(20_000, 99_000)]
        return self.text(min(600, 5 + int(self.random.lognormvariate(4.2, 0.7))))

    def memory(self, position: int) -> dict[str, Any]:
        """The arguments of `memory_add` for one memory of any kind."""
        kind = self.random.choices(list(_KINDS), list(_KINDS.values()))[0]
        details = {
            "decision": {"problem": self.text(14), "why_chosen": self.text(30)},
            "constraint": {"reason": self.text(20)},
            "pipeline": {"purpose": self.text(20)},
        }
        return {
            "kind": kind,
            "title": f"{self.text(7)[:100]} {position}",
            "summary": self.text(26)[:280],
            "body": self.body(position),
            "details": details.get(kind, {}),
            "tags": list(dict.fromkeys(self.random.choices(_TAGS, range(60, 0, -1), k=2))),
            **({"hardness": "absolute"} if kind == "constraint" else {}),
        }


def main() -> None:
    """Fill the store. The project `BIG` and its two users were made by the commands."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    django.setup()
    _fill(int(sys.argv[1]))


def _fill(size: int) -> None:
    from django.db import connection

    from projects.models import Project, User
    from projects.services import create_project

    people = list(User.objects.order_by("pk"))
    words = Words()
    _fill_project(Project.objects.get(slug=BIG), people, words, size)
    for number in range(1, PROJECTS):
        slug = f"other-{number}"
        other = create_project(slug=slug, name=slug, owner=people[0], review_policy="none")
        _fill_project(other, people, words, max(2, size // 500))
    if connection.vendor == "postgresql":
        # What autovacuum does in its own time.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def _fill_project(project: Project, people: Sequence[User], words: Words, size: int) -> None:
    """Memories numbered from one, with tags, histories and their places in the index."""
    from django.db import transaction

    from hygiene.models import Upkeep
    from hygiene.services.rebuilding import DERIVED_VERSION
    from memories.search import counted_together

    with transaction.atomic(), counted_together(project):
        for start in range(0, size, _BATCH):
            given = [words.memory(position) for position in range(start, min(start + _BATCH, size))]
            made = [_memory(project, people, words, start + at, fields) for at, fields in enumerate(given)]
            _store(made, given, words)
    project.last_number = project.change_counter = size
    project.save(update_fields=["last_number", "change_counter"])
    # Rows that no service wrote are derived anew by the upkeep, which would hold the project's lock at times
    # while calls are measured.
    Upkeep.objects.update_or_create(project=project, defaults={"derived_version": DERIVED_VERSION})


def _memory(
    project: Project, people: Sequence[User], words: Words, position: int, fields: dict[str, Any]
) -> Memory:
    from memories.models import Memory
    from memories.services.writing import duplicate_key

    place = position % _GROUP
    alone = place > _CHILDREN
    visibility, weight, status = "shared", "normal", "active"
    if place:
        visibility = words.random.choices(("shared", "private"), (95, 5))[0]
    if alone:
        visibility = words.random.choices((visibility, "public"), (95, 5))[0]
        weight = words.random.choices(("normal", "low"), (85, 15))[0]
        status = words.random.choices(("active", "superseded"), (96, 4))[0]
    if place == _CHILDREN + 1 and position < _MAX_CRITICAL * _GROUP:
        visibility, weight, status = "shared", "critical", "active"
    created = _EPOCH + dt.timedelta(minutes=position)
    version = words.random.randint(2, _MAX_VERSION) if words.random.random() < _REVISED else 1
    at = created + (version - 1) * _UNTIL_REVISED
    memory = Memory(
        project=project,
        number=position + 1,
        author=people[words.random.random() < 0.3],
        origin="agent",
        visibility=visibility,
        weight=weight,
        status=status,
        version=version,
        created_at=created,
        updated_at=at,
        touched_at=at,
        summary_changed_at=at,
        **{name: value for name, value in fields.items() if name != "tags"},
    )
    memory.duplicate_key = duplicate_key(memory)
    return memory


def _store(made: Sequence[Memory], given: Sequence[dict[str, Any]], words: Words) -> None:
    from memories.models import Memory, Revision, Tag
    from memories.search import index

    bags = made[::_GROUP]
    # Bags first: their children need their ids. Batches begin with a bag.
    Memory.objects.bulk_create(bags)
    for at, memory in enumerate(made):
        if 0 < at % _GROUP <= _CHILDREN:
            memory.parent = made[at - at % _GROUP]
    Memory.objects.bulk_create([memory for at, memory in enumerate(made) if at % _GROUP])
    pairs = list(zip(made, given, strict=True))
    Tag.objects.bulk_create(
        Tag(memory=memory, name=name, position=place)
        for memory, fields in pairs
        for place, name in enumerate(fields["tags"])
    )
    Revision.objects.bulk_create(
        revision for memory, fields in pairs for revision in _history(memory, fields, words)
    )
    for memory, fields in pairs:
        index(memory, tags=fields["tags"], is_new=True)


def _history(memory: Memory, fields: dict[str, Any], words: Words) -> Iterator[Revision]:
    """A revision a version: each but the first changed the summary, the last to what it is."""
    from memories.models import Revision

    drafts = (words.text(26)[:280] for _ in range(memory.version - 1))
    for version, summary in enumerate((*drafts, fields["summary"]), 1):
        changed = {"summary": summary}
        yield Revision(
            memory=memory,
            version=version,
            fields=changed if version > 1 else fields | changed,
            visibility=memory.visibility,
            actor=memory.author,
            actor_kind="agent",
            door="mcp",
            session="bench",
            created_at=memory.created_at + (version - 1) * _UNTIL_REVISED,
        )


if __name__ == "__main__":
    main()
