"""A reader's own new memories that wait to be approved: shown to him, marked, beside lists and search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memories.listing import ANY, MemoryFilter, covered
from memories.models import Review, Status, Weight
from memories.reviews.querysets import ReviewQuerySet
from memories.search import MEMORY, SearchFilter, marks, query_terms
from memoryhub.kernel.actor import ActorKind
from memoryhub.kernel.compiled import Asked, Compiled
from projects.models import Project, User

# So many are shown, newest first, of so many that are looked through.
SHOWN, LOOKED_AT = 10, 100
Fits = Callable[[Review], bool]


def ask_creates(project: Project, reader: User) -> Asked[Review]:
    """Asks for the reader's newest proposals of new memories, in one query."""
    return _own_creates.ask(project=project.pk, reader=reader.pk)


def fitting(mine: Asked[Review], fits: Fits) -> list[Review]:
    """Those of them that fit."""
    return [review for review in mine.rows() if fits(review)][:SHOWN]


def _newest_own_creates(project: int, reader: int) -> ReviewQuerySet:
    user = User(pk=reader)
    mine = Review.objects.in_project(Project(pk=project)).visible_to(user).proposed_by(user)
    return mine.creating().pending().whole().newest_first()[:LOOKED_AT]


# Every list and every search asks, and hardly ever there are any.
_own_creates = Compiled(_newest_own_creates)


def in_list(wanted: MemoryFilter) -> Fits:
    """Whether a proposal would be on a list with this filter, had it been approved."""
    scopes = None if wanted.scope is None else covered(wanted.scope, "scope")

    def fits(review: Review) -> bool:
        fields = review.fields
        return (
            wanted.status in (None, ANY, Status.ACTIVE)
            and _is(wanted.kind, fields.get("kind"))
            and _is(wanted.weight, fields.get("weight", Weight.NORMAL))
            and _is(wanted.visibility, fields.get("visibility"))
            and _is(wanted.hardness, fields.get("hardness", ""))
            and _is(wanted.parent, fields.get("parent", 0))
            and _is(wanted.origin, "agent" if review.actor_kind == ActorKind.AGENT else "user")
            and _is(wanted.author and wanted.author.lower(), review.proposer.username.lower())
            and (scopes is None or bool(set(scopes) & set(fields.get("scope_paths", ()))))
            and (wanted.supersedes is None or wanted.supersedes in review.links.get("supersedes", ()))
            and wanted.superseded_by is None
            and _in_time(review, wanted)
            and _tagged(fields, wanted)
        )

    return fits


def in_search(query: str, wanted: SearchFilter) -> Fits:
    """Whether a proposal would be a hit, had it been approved: it has one of the words asked for."""
    scopes = None if wanted.path is None else covered(wanted.path, "path")
    terms = query_terms(query)

    def fits(review: Review) -> bool:
        fields = review.fields
        return (
            wanted.asks_for(MEMORY)
            and (not wanted.kinds or fields.get("kind") in wanted.kinds)
            and (scopes is None or bool(set(scopes) & set(fields.get("scope_paths", ()))))
            and _in_time(review, wanted)
            and _tagged(fields, wanted)
            and any(marks(text, terms) for text in _texts(fields))
        )

    return fits


def _is(wanted: Any, value: Any) -> bool:
    return wanted is None or wanted == value


def _in_time(review: Review, wanted: MemoryFilter | SearchFilter) -> bool:
    since, before = wanted.since, wanted.before
    return (since is None or review.created_at >= since) and (before is None or review.created_at < before)


def _tagged(fields: Mapping[str, Any], wanted: MemoryFilter | SearchFilter) -> bool:
    if not wanted.tags:
        return True
    has = [tag.lower() in fields.get("tags", ()) for tag in wanted.tags]
    return any(has) if wanted.tags_match == ANY else all(has)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _texts(item)]
