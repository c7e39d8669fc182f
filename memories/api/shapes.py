"""The shapes of what this door answers, as the document says them. `presenting` makes them."""

from __future__ import annotations

from memories.models import ChangeKind, Hardness, Kind, Origin, Review, Status, Visibility, Weight
from memories.search import SEARCHED_TYPES
from memoryhub.kernel.rest.shapes import (
    ANYTHING,
    COUNT,
    FLAG,
    NUMBER,
    OBJECT,
    PAGE_REQUIRED,
    TEXT,
    TIME,
    Schema,
    array,
    one_of,
    page,
    shape,
)
from projects.models import Role

_REVIEW: Schema = {"type": "string", "pattern": "^R[0-9]+$"}
_NUMBERS = array(NUMBER)

PROVENANCE = shape(
    "Provenance",
    {
        "created_at": TIME,
        **dict.fromkeys(
            ("actor", "door", "session", "client", "model", "branch", "commit", "approved_by"), TEXT
        ),
    },
    more="Who, by which door and from where; what is empty is left out.",
)

_ROW: dict[str, Schema] = {
    "number": NUMBER,
    "type": one_of(["memory"]),
    "title": TEXT,
    "summary": TEXT,
    "kind": one_of(Kind.values),
    "status": {**one_of(Status.values), "description": "Left out when active."},
    "weight": {**one_of(Weight.values), "description": "Left out when normal."},
    "visibility": one_of(Visibility.values),
    "tags": array(TEXT),
    "parent": {**NUMBER, "description": "Its bag."},
    "children": {**NUMBER, "description": "How many active ones are in it: it is a bag."},
    "version": NUMBER,
    "origin": one_of(Origin.values),
    "author": TEXT,
    "updated_at": TIME,
    "verified_at": TIME,
}
_ROW_REQUIRED = ("number", "type", "title", "kind", "visibility", "version", "origin", "author", "updated_at")
_LINKS = shape(
    "Links",
    dict.fromkeys(("supersedes", "superseded_by", "related_to", "contradicts"), _NUMBERS),
)
_FULL: dict[str, Schema] = {
    **_ROW,
    "body": TEXT,
    "details": OBJECT,
    "retrieval_hints": array(TEXT),
    "scope_paths": array(TEXT),
    "hardness": one_of(Hardness.values),
    "links": _LINKS,
    "predecessor": TEXT,
    "provenance": PROVENANCE,
    "archive_reason": TEXT,
    "archived_at": TIME,
}

ROW = shape("MemoryRow", _ROW, required=_ROW_REQUIRED, more="A memory in a list; what is empty is left out.")
PENDING = shape(
    "WaitingMemory",
    {
        "review": _REVIEW,
        "status": one_of(["pending_review"]),
        **{
            name: _ROW[name]
            for name in ("type", "title", "summary", "kind", "weight", "visibility", "tags", "updated_at")
        },
    },
    required=("review", "type", "status", "title"),
    more="A new memory of one's own that waits for a reviewer, beside the items.",
)
MEMORY_PAGE = shape(
    "MemoryPage", {**page(ROW), "pending": array(PENDING)}, required=(*PAGE_REQUIRED, "total")
)
MEMORY = shape(
    "Memory",
    # A bag has a page of its children beside it.
    {**_FULL, **page(ROW)},
    required=_ROW_REQUIRED,
    more="A memory in full. A bag has the first page of its children in `items`.",
)
SCOPED_RULES = shape(
    "ScopedRules",
    {
        "items": array(
            shape(
                "ScopedRule",
                {
                    **{name: _ROW[name] for name in ("number", "title", "summary")},
                    "hardness": {**one_of([*Hardness.values, ""]), "description": "Empty for one without."},
                    "scope_paths": {**array(TEXT), "description": "None: it covers no path."},
                },
                required=("number", "title", "summary", "hardness", "scope_paths"),
            )
        ),
        "total": COUNT,
        "has_more": FLAG,
    },
    required=("items", "total", "has_more"),
)
_FOUND_MEMORY = shape(
    "Hit",
    {**_FULL, "linked_from": {**NUMBER, "description": "It isn't a hit: this one links to it."}},
    required=("number", "type"),
)
_FOUND_WORK = shape(
    "WorkHit",
    {
        **{name: _ROW[name] for name in ("number", "title", "summary", "tags", "author", "updated_at")},
        "type": one_of(SEARCHED_TYPES[1:]),
    },
    required=("number", "type", "title", "summary", "updated_at"),
    more="A task or a receipt, with what else the lists of its type say; in full with its texts.",
    closed=False,
)
FOUND = shape(
    "SearchPage",
    {
        **page({"oneOf": [_FOUND_MEMORY, _FOUND_WORK]}),
        "total_at_least": COUNT,
        "not_shown": {**_NUMBERS, "description": "What didn't fit the budget."},
        "no_confident_match": {**FLAG, "description": "Probably nothing relevant is known."},
        "mode": TEXT,
        "pending": array(PENDING),
    },
    required=(*PAGE_REQUIRED, "no_confident_match", "mode"),
)
_HINT = shape(
    "Hint", {"type": TEXT, "message": TEXT, "number": NUMBER}, required=("type", "message"), more="Advice."
)
WRITTEN = shape(
    "Written",
    {
        "result": one_of(["applied", "pending_review"]),
        "number": NUMBER,
        "version": NUMBER,
        "review": _REVIEW,
        "next": TEXT,
        "duplicate": {**FLAG, "description": "A retry: nothing was stored again."},
        "hints": array(_HINT),
    },
    required=("result",),
)
VERIFIED = shape(
    "Verified",
    {"result": one_of(["applied"]), "number": NUMBER, "version": NUMBER, "verified_at": TIME},
    required=("result", "number", "version", "verified_at"),
)
SUGGESTED = shape(
    "Suggestion",
    {
        "status": one_of(["ready", "review", "duplicate"]),
        "duplicate": NUMBER,
        "relationship_mode": TEXT,
        "relationship": TEXT,
        "evidence": OBJECT,
    },
    required=("status",),
)
REVISIONS = shape(
    "RevisionPage",
    page(
        shape(
            "Revision",
            {
                "version": NUMBER,
                "at": TIME,
                "reason": TEXT,
                "fields": {**OBJECT, "description": "The new values of what changed."},
                "review": _REVIEW,
                "provenance": PROVENANCE,
            },
            required=("version", "at", "provenance"),
        )
    ),
    required=(*PAGE_REQUIRED, "total"),
)

_COUNTS = shape(
    "MemoryCounts",
    {"total": COUNT, "kinds": OBJECT, "weights": OBJECT, "inside_bags": COUNT},
    required=("total", "kinds", "weights", "inside_bags"),
)
_NAMED: dict[str, Schema] = {"project": TEXT, "name": TEXT, "role": one_of(Role.values)}
PROJECTS = shape(
    "Projects",
    {
        "projects": array(
            shape(
                "ProjectRow", {**_NAMED, "memories": COUNT}, required=("project", "name", "role", "memories")
            )
        ),
        "guide": TEXT,
    },
    required=("projects", "guide"),
)
OVERVIEW = shape(
    "Project",
    {
        **_NAMED,
        "memories": _COUNTS,
        "hygiene": OBJECT,
        "reviews": OBJECT,
        "tasks": OBJECT,
        "settings": OBJECT,
        "guide": TEXT,
    },
    required=("project", "name", "role", "memories", "settings", "guide"),
)

_REVIEW_ROW: dict[str, Schema] = {
    "review": _REVIEW,
    "kind": one_of(ChangeKind.values),
    "number": NUMBER,
    "title": TEXT,
    "status": one_of(Review.Status.values),
    "note": TEXT,
    "proposer": TEXT,
    "reason": TEXT,
    "based_on": NUMBER,
    "updated_at": TIME,
    "provenance": PROVENANCE,
    "decided": PROVENANCE,
}
_REVIEW_REQUIRED = ("review", "kind", "status", "proposer", "updated_at", "provenance")
REVIEW_ROW = shape("ReviewRow", _REVIEW_ROW, required=_REVIEW_REQUIRED)
REVIEW_PAGE = shape("ReviewPage", page(REVIEW_ROW), required=(*PAGE_REQUIRED, "total"))
REVIEW = shape(
    "Review",
    {
        **_REVIEW_ROW,
        "changes": array(
            shape(
                "FieldChange",
                {"field": TEXT, "current": ANYTHING, "proposed": ANYTHING, "edited": ANYTHING},
                required=("field",),
            )
        ),
        "links": {**OBJECT, "description": "Numbers by what they would be."},
        "past": {**array(TEXT), "description": "Of an import: what comes with it from elsewhere."},
        "other": {**NUMBER, "description": "The successor, or what it is merged into."},
        "stale": {**FLAG, "description": "What it changes moved on: approving is a conflict."},
        "changed_since": _NUMBERS,
    },
    required=_REVIEW_REQUIRED,
)
DECIDED = shape(
    "Decided",
    {
        "result": one_of(["applied"]),
        "review": _REVIEW,
        "status": one_of(Review.Status.values),
        "decided_at": TIME,
        "number": NUMBER,
        "version": NUMBER,
        "hints": array(_HINT),
    },
    required=("result", "review", "status", "decided_at"),
)

# --- commits ------------------------------------------------------------------------------

COMMIT = shape(
    "CommitReported",
    {
        "result": one_of(["applied"]),
        "hash": TEXT,
        "paths": {**COUNT, "description": "How many are kept."},
        "left_out": COUNT,
        "committed_at": TIME,
        "unchanged": {**FLAG, "description": "It was reported before, and that report stands."},
    },
    required=("result", "hash", "paths", "left_out", "committed_at"),
)
