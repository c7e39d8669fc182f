"""What of each model travels in a snapshot, and why the rest doesn't. A test keeps this complete.

A kind of entry names the columns that it carries; a foreign key travels as the name of a person or the
uid of what it points at. The order of the kinds is their order in a file: each names only what stands
before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Field, ForeignKey, Model

from memories.models import CommitReport, Link, Memory, Review, Revision
from projects.models import Project, User
from tasks.models import (
    Blocker,
    Checkpoint,
    CheckpointEntry,
    CheckpointLoss,
    Receipt,
    Task,
    TaskRevision,
)

PROVENANCE = ("actor_kind", "token_name", "door", "session", "client", "model", "branch", "commit")
_LOCAL = "the store's own key"
_OF_THE_FILE = "a snapshot is of one project"


@dataclass(frozen=True)
class Kind:
    """One kind of entry: the columns of a model that travel, and lists that hang on its rows."""

    name: str
    model: type[Model]
    columns: tuple[str, ...]
    # By column, why it stays.
    left_out: Mapping[str, str]
    # By the name in the file, the related rows and the column of theirs that is listed, in order.
    lists: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # By the name in the file, the text by which what it hangs on is named.
    named_by: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def fields(self) -> dict[str, Field[Any, Any]]:
        """The model's fields that travel, by name."""
        return {name: self.model._meta.get_field(name) for name in self.columns}  # type: ignore[misc]

    def lookup(self, name: str) -> str:
        """Where a query finds what the file has for a column."""
        column = self.fields[name]
        if not isinstance(column, ForeignKey):
            return name
        return f"{name}__username" if column.remote_field.model is User else f"{name}__uid"


PROJECT = Kind(
    "project",
    Project,
    (
        "uid",
        "slug",
        "name",
        "created_at",
        "archived_at",
        *Project.SETTINGS,
        "last_number",
        "last_review_number",
    ),
    {"id": _LOCAL, "change_counter": "counts this store's writes: what its caches are keyed by"},
)
MEMORY = Kind(
    "memory",
    Memory,
    (
        "uid",
        "number",
        "kind",
        "title",
        "summary",
        "hardness",
        "weight",
        "visibility",
        "status",
        "parent",
        "origin",
        "author",
        "version",
        "verified_at",
        "verified_by",
        "summary_changed_at",
        "created_at",
        "updated_at",
        "archived_at",
        "archive_reason",
        "erased_at",
        "retrieval_hints",
        "details",
        "body",
    ),
    {
        "id": _LOCAL,
        "project": _OF_THE_FILE,
        "touched_at": "the later of updated_at and verified_at",
        "duplicate_key": "made of title, summary and body",
    },
    {"tags": ("tags", "name"), "scope_paths": ("scopes", "path")},
)
REVIEW = Kind(
    "review",
    Review,
    (
        "uid",
        "number",
        "kind",
        "memory",
        "based_on",
        "beside",
        "title",
        "other",
        "children_follow",
        "publishes",
        "proposer",
        "reason",
        "brought",
        "request_digest",
        "status",
        "note",
        "decided_by",
        "decided_at",
        "decided_kind",
        "decided_door",
        "decided_token_name",
        "decided_context",
        "erased_at",
        "created_at",
        "updated_at",
        "links",
        "edits",
        "fields",
        *PROVENANCE,
    ),
    {"id": _LOCAL, "project": _OF_THE_FILE, "digest": "made of what is proposed and the store's own keys"},
)
REVISION = Kind(
    "revision",
    Revision,
    (
        "memory",
        "version",
        "fields",
        "visibility",
        "reason",
        "actor",
        "request_digest",
        "review",
        "created_at",
        *PROVENANCE,
    ),
    {"id": _LOCAL},
)
LINK = Kind(
    "link",
    Link,
    (
        "source",
        "target",
        "type",
        "reason",
        "created_by",
        "created_at",
        "resolved_at",
        "resolved_by",
        "resolved_reason",
    ),
    {"id": _LOCAL},
)
COMMIT = Kind(
    "commit",
    CommitReport,
    ("reporter", "paths", "left_out", "committed_at", "created_at", *PROVENANCE),
    {"id": _LOCAL, "project": _OF_THE_FILE},
)
TASK = Kind(
    "task",
    Task,
    (
        "uid",
        "number",
        "title",
        "summary",
        "status",
        "priority",
        "parent",
        "assignee",
        "author",
        "claim_user",
        "claim_token_name",
        "claim_kind",
        "claim_session",
        "claim_until",
        "version",
        "created_at",
        "updated_at",
        "finished_at",
        "erased_at",
        "description",
    ),
    {
        "id": _LOCAL,
        "project": _OF_THE_FILE,
        "claim_token": "access tokens never leave; the holder's is found again by its name",
    },
    {"tags": ("tags", "name")},
)
BLOCKER = Kind("blocker", Blocker, ("task", "blocker"), {"id": _LOCAL})
TASK_REVISION = Kind(
    "task_revision",
    TaskRevision,
    ("task", "version", "fields", "reason", "actor", "request_digest", "created_at", *PROVENANCE),
    {"id": _LOCAL},
)
RECEIPT = Kind(
    "receipt",
    Receipt,
    (
        "uid",
        "number",
        "title",
        "summary",
        "tags",
        "references",
        "author",
        "created_at",
        "is_unsurfaced",
        "acknowledged_at",
        "acknowledged_by",
        "acknowledged_kind",
        "acknowledged_token_name",
        "erased_at",
        "request_digest",
        *Receipt.TEXTS,
        *PROVENANCE,
    ),
    {"id": _LOCAL, "project": _OF_THE_FILE},
)
CHECKPOINT = Kind(
    "checkpoint",
    Checkpoint,
    (
        "user",
        "stream",
        "version",
        "updated_at",
        "saved_by",
        "objective",
        "current_step",
        "key_decisions",
        "next_action",
        "blockers",
        "unsurfaced_results",
        "sections",
        *PROVENANCE,
    ),
    {"id": _LOCAL, "project": _OF_THE_FILE},
)
_OF_CHECKPOINT = {"user": "checkpoint__user__username", "stream": "checkpoint__stream"}
_BY_STREAM = {"id": _LOCAL, "checkpoint": "named by its user and stream"}
CHECKPOINT_ENTRY = Kind(
    "checkpoint_entry",
    CheckpointEntry,
    ("version", "kind", "request_digest", "fields", "saved_at", "saved_by", "replaced_at", *PROVENANCE),
    _BY_STREAM,
    named_by=_OF_CHECKPOINT,
)
CHECKPOINT_LOSS = Kind(
    "checkpoint_loss",
    CheckpointLoss,
    ("version", "lost", "lost_at", "lost_by", "settled_at", *PROVENANCE),
    _BY_STREAM,
    named_by=_OF_CHECKPOINT,
)

KINDS = (
    PROJECT,
    MEMORY,
    REVIEW,
    REVISION,
    LINK,
    COMMIT,
    TASK,
    BLOCKER,
    TASK_REVISION,
    RECEIPT,
    CHECKPOINT,
    CHECKPOINT_ENTRY,
    CHECKPOINT_LOSS,
)
BY_NAME = {kind.name: kind for kind in KINDS}

_DERIVED = "derived from memories, and made anew by an import"
# Models none of whose rows travel, with the reason.
STAYS: dict[str, str] = {
    "projects.User": "an account is the hub's; its name travels with what it wrote",
    "projects.Membership": "who reads a project is for the hub that receives it to say, never for a file",
    "projects.AccessToken": "secrets never leave; the name of a token travels with what it wrote",
    "projects.Call": "who called this hub: its own record, not the project's memory",
    "projects.Tally": "what was counted this minute",
    "memories.Tag": "travels with its memory",
    "memories.ScopePath": "travels with its memory",
    "memories.SummaryKey": _DERIVED,
    "memories.CommitScope": "derived from reported commits and scopes",
    "tasks.TaskTag": "travels with its task",
    "hygiene.SimilarPair": _DERIVED,
    "hygiene.BagContents": _DERIVED,
    "hygiene.Flaws": _DERIVED,
    "hygiene.Report": "a cache of what is derived",
    "hygiene.Score": "what this hub measured on its days; a history begins where a project comes to",
    "hygiene.Upkeep": "how far this hub's upkeep has come",
    "hygiene.SummaryBag": "which bag this hub's upkeep fills; where it finds none it makes one",
    "hygiene.Lease": "who works on this hub now",
    "exchange.Upload": "a file that is on its way in",
    "exchange.Conflict": "what was met here when something came in",
}
