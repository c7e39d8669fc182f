"""A memory as one line of recall. Stored text can't forge the structure around it."""

from __future__ import annotations

from collections.abc import Sequence

from memories.models import Kind, Memory, Visibility
from memoryhub.kernel.text import in_one_line, shortened

# How much of a bag's children its line names.
NAMED_CHILDREN = 8
_CHILD_LENGTH = 40
_CHILDREN_LENGTH = 160


def shown_summary(summary: str) -> str:
    """A summary as lists show it: one over 280 characters (an import's) is cut with a mark."""
    return shortened(summary, Memory.SUMMARY_MAX_LENGTH)


def said(title: str, summary: str) -> str:
    """`Title: summary`, in one line."""
    title, summary = in_one_line(title), in_one_line(shown_summary(summary))
    return f"{title}: {summary}" if summary else title


def memory_line(number: int, kind: str, visibility: str, title: str, summary: str) -> str:
    """`[#48] (decision) Title: summary`; who may read it is named where it isn't shared."""
    label = Kind(kind).label
    if visibility != Visibility.SHARED:
        label = f"{label}, {visibility}"
    return f"[#{number}] ({label}) {said(title, summary)}"


def bag_line(
    number: int, visibility: str, title: str, summary: str, many: int, titles: Sequence[str] | None
) -> str:
    """`[#48] Deployment: … • 7 submemories: keys, App_Data, …`; without titles the count alone."""
    mark = "" if visibility == Visibility.SHARED else f" ({visibility})"
    noun = "submemory" if many == 1 else "submemories"
    line = f"[#{number}]{mark} {said(title, summary)} • {many} {noun}"
    return f"{line}: {_children(titles, many)}" if titles else line


def _children(titles: Sequence[str], many: int) -> str:
    names: list[str] = []
    used = 0
    for title in titles:
        name = shortened(in_one_line(title), _CHILD_LENGTH)
        if names and used + len(name) > _CHILDREN_LENGTH:
            break
        names.append(name)
        used += len(name) + 2
    return ", ".join(names) + (", …" if len(names) < many else "")
