"""Memories with at least one small flaw. Several flaws of one memory are one finding.

- thin_rationale: details that the kind requires are missing or shorter than a writer may leave them.
- untagged: no tag at all.
- isolated: shares no tag with another memory, is linked to none, and stands in no bag nor is one. What has
  no tag is untagged and not also isolated.
- global_scope: a constraint that covers no path although its text names one.
- mojibake: text that was decoded in the wrong encoding.
- broken_link: a Markdown link that leads nowhere, or a related link to a memory that was archived.
- oversized_bag: more than `OVERSIZED` children.

Flaws of the text are found when it is written (`Flaws`), so that no body is read here. Few of ten thousand
memories are suspected of a flaw, by what an index tells; each of those is looked at closely.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, Value, When
from django.db.models.expressions import Combinable

from hygiene.models import Flaws
from hygiene.rules.registry import Found, reader
from hygiene.rules.scope import Row, Scope, as_rows, by_key, of_project, probed, same_project
from memories.models import Kind, Link, Memory, ScopePath, Status, Tag, Visibility

OVERSIZED = 50
# So many memories tell which tags are common.
SAMPLE = 300

# By name, what to do about it. The place in this order is the bit in a row's note.
ADVICE: Mapping[str, str] = {
    "thin_rationale": "say why in its details",
    "untagged": "tag it",
    "isolated": "give it a tag that others have, relate it (related_to), or put it into a bag",
    "global_scope": "name the paths it covers in scope_paths",
    "mojibake": "write the garbled characters anew",
    "broken_link": "mend or end the link that leads nowhere",
    "oversized_bag": f"split it into bags of at most {OVERSIZED}",
}


def flaws_in(note: str) -> list[str]:
    """The names of the flaws in a row's note."""
    bits = int(note)
    return [name for place, name in enumerate(ADVICE) if bits & 1 << place]


def advise(row: Row) -> str:
    names = flaws_in(row.note)
    todo = "; ".join(f"{name}: {ADVICE[name]}" for name in names)
    return f"#{row.number} could be better ({todo}). Use memory_update #{row.number}."


@reader("quality", advise)
def poor_memories(scope: Scope) -> Found:
    conditions: dict[str, Q] = {
        "thin_rationale": _says("is_thin"),
        "untagged": ~Q(Exists(Tag.objects.filter(probed("memory")))),
        "isolated": _isolated(scope),
        "global_scope": _covers_nothing() & _says("names_a_path"),
        "mojibake": _says("is_mojibake"),
        "broken_link": _says("has_empty_link") | Q(Exists(_to_archived())),
        "oversized_bag": Q(Exists(_fifty_first(scope))),
    }
    bits: Combinable = Value(0)
    for place, name in enumerate(ADVICE):
        bit = Case(When(conditions[name], then=1 << place), default=0, output_field=IntegerField())
        bits = bits + bit
    # A case, so that no planner looks closely at what isn't suspected.
    looked = Case(When(_suspected(scope), then=bits), default=0, output_field=IntegerField())
    found = scope.memories.annotate(flaw_bits=looked).filter(flaw_bits__gt=0)
    return as_rows(found, note=F("flaw_bits"))


def _suspected(scope: Scope) -> Q:
    """Whatever may have a flaw, and as little else as can be told without following each memory's rows.

    A memory with a tag that two of a few shared ones have is neither untagged nor isolated; most have one.
    """
    few = scope.shared.order_by().values("pk")[:SAMPLE]
    common = Tag.objects.filter(memory__in=few).order_by().values("name")
    common = common.annotate(many=Count("memory")).filter(many__gt=1).values("name")
    tagged = Tag.objects.filter(by_key(Q(name__in=common)), memory=OuterRef("pk"))
    archived = Link.objects.standing().filter(
        same_project("source__", "target__"),
        type=Link.Type.RELATED,
        target__project=scope.project,
        target__status=Status.ARCHIVED,
    )
    held = Memory.objects.in_project(scope.project).active().exclude(parent=None).order_by()
    large = held.values("parent").annotate(many=Count("*")).filter(many__gt=OVERSIZED)
    return (
        ~Q(Exists(tagged))
        | Q(pk__in=Flaws.objects.values("memory"))
        | Q(pk__in=archived.order_by().values("source"))
        | Q(pk__in=large.values("parent"))
    )


def _says(flaw: str) -> Q:
    """Whether a flaw was found in a memory's text when it was written."""
    return Q(Exists(Flaws.objects.filter(memory=OuterRef("pk"), **{flaw: True})))


def _alike(other: str, mine: str) -> Q:
    """Whether `other` may speak for a memory: what everybody sees, or one private memory for another."""
    shared = ~Q(**{f"{other}visibility": Visibility.PRIVATE})
    return shared | Q(**{f"{other}visibility": OuterRef(mine), f"{other}author": OuterRef("author")})


def _isolated(scope: Scope) -> Q:
    """Has tags, all of its own; no link, no bag, no child, of what is as visible as itself."""
    active = {"status": Status.ACTIVE, "erased_at": None}
    twins = Tag.objects.filter(
        ~Q(memory__visibility=Visibility.PRIVATE)
        | Q(memory__visibility=OuterRef("memory__visibility"), memory__author=OuterRef("memory__author")),
        of_project("memory__", scope.project),
        name=OuterRef("name"),
        **{f"memory__{name}": value for name, value in active.items()},
    ).exclude(memory=OuterRef("memory"))
    tags = Tag.objects.filter(probed("memory"))
    links = Link.objects.standing().exclude(type=Link.Type.NOT_SIMILAR)
    out = links.filter(_alike("target__", "visibility"), source=OuterRef("pk"), target__erased_at=None)
    into = links.filter(_alike("source__", "visibility"), target=OuterRef("pk"), source__erased_at=None)
    children = Memory.objects.filter(_alike("", "visibility"), parent=OuterRef("pk"), **active)
    return (
        Q(parent=None)
        & Q(Exists(tags))
        & ~Q(Exists(tags.filter(Exists(twins))))
        & ~Q(Exists(out))
        & ~Q(Exists(into))
        & ~Q(Exists(children))
    )


def _covers_nothing() -> Q:
    return Q(kind=Kind.CONSTRAINT) & ~Q(Exists(ScopePath.objects.filter(memory=OuterRef("pk"))))


def _to_archived() -> Found:
    """Related links of a memory to one that was archived; whoever merged or replaced it left another."""
    related = Link.objects.standing().filter(
        _alike("target__", "visibility"),
        type=Link.Type.RELATED,
        source=OuterRef("pk"),
        target__status=Status.ARCHIVED,
    )
    return related


def _fifty_first(scope: Scope) -> Found:
    """The children of a bag in groups that are too large: a row, or none."""
    children = Memory.objects.filter(_alike("", "visibility"), scope.admits(), parent=OuterRef("pk"))
    counted = children.order_by().values("parent").annotate(many=Count("pk"))
    return counted.filter(many__gt=OVERSIZED)


def said_in(note: str) -> str:
    """The flaws in a row's note as a sentence for people."""
    said = "; ".join(f"{name.replace('_', ' ')}: {ADVICE[name]}" for name in flaws_in(note))
    said = said.replace(" (related_to)", "").replace(" in scope_paths", "")
    return f"{said[:1].upper()}{said[1:]}."
