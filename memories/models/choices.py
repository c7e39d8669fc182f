"""What a memory or a change can be: the closed lists."""

from __future__ import annotations

from django.db import models


class Kind(models.TextChoices):
    """What sort of knowledge a memory is."""

    DECISION = "decision", "decision"
    CONSTRAINT = "constraint", "constraint"
    PIPELINE = "pipeline", "pipeline"
    FACT = "fact", "fact"
    PREFERENCE = "preference", "preference"
    NOTE = "note", "note"
    SESSION_SUMMARY = "session_summary", "session summary"


class Weight(models.TextChoices):
    """How heavily a memory counts in recall."""

    CRITICAL = "critical", "critical"
    NORMAL = "normal", "normal"
    LOW = "low", "low"


class Visibility(models.TextChoices):
    """Who may read a memory."""

    PRIVATE = "private", "private"
    SHARED = "shared", "shared"
    PUBLIC = "public", "public"

    @property
    def rank(self) -> int:
        return list(Visibility).index(self)

    def at_least(self, other: Visibility) -> bool:
        """Whether everybody who may read the other may read this."""
        return self.rank >= other.rank


class Place(models.TextChoices):
    """Where a memory stands: derived from bags, no field of its own."""

    TOP = "top", "at the top level"
    INSIDE = "inside", "inside a bag"
    BAGS = "bags", "bags"
    LOOSE = "loose", "on its own"


class Status(models.TextChoices):
    """Whether a memory is in use."""

    ACTIVE = "active", "active"
    SUPERSEDED = "superseded", "superseded"
    ARCHIVED = "archived", "archived"


class Hardness(models.TextChoices):
    """Whether a constraint may be weighed against others."""

    ABSOLUTE = "absolute", "absolute"
    ADVISORY = "advisory", "advisory"


class Origin(models.TextChoices):
    """How a memory came in. Set by the door at creation, never changed."""

    USER = "user", "user"
    AGENT = "agent", "agent"
    IMPORT = "import", "import"


class ChangeKind(models.TextChoices):
    """What is asked for. An update may touch several fields, weight, bag, visibility and links among them."""

    CREATE = "create", "create"
    UPDATE = "update", "update"
    ARCHIVE = "archive", "archive"
    SUPERSEDE = "supersede", "supersede"
    MERGE = "merge", "merge"
