"""What memories are made of: the rows, and the closed lists of their fields."""

from memories.models.choices import ChangeKind, Hardness, Kind, Origin, Place, Status, Visibility, Weight
from memories.models.commit import CommitReport, CommitScope
from memories.models.history import Revision
from memories.models.looks import SummaryLook, SummaryLooks
from memories.models.memory import Link, Memory, ScopePath, SummaryKey, Tag
from memories.models.review import Review

__all__ = [
    "ChangeKind",
    "CommitReport",
    "CommitScope",
    "Hardness",
    "Kind",
    "Link",
    "Memory",
    "Origin",
    "Place",
    "Review",
    "Revision",
    "ScopePath",
    "Status",
    "SummaryKey",
    "SummaryLook",
    "SummaryLooks",
    "Tag",
    "Visibility",
    "Weight",
]
