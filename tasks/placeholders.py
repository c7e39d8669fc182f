"""Words that stand for nothing: what templates and agents write where there is nothing to say."""

from __future__ import annotations

import re

_NOTHING = {
    "",
    "-",
    "n/a",
    "na",
    "nil",
    "none",
    "nothing",
    "null",
    "no",
    "placeholder",
    "tba",
    "tbd",
    "todo",
    "to be determined",
    "to be decided",
    "to be defined",
    "unknown",
    "empty",
}
# Of those, what says that there is nothing; the others stand for what is still to be said.
_EMPTY = {"-", "n/a", "na", "nil", "none", "nothing", "null", "no", "empty"}
_FINISHED = {
    "done",
    "all done",
    "finished",
    "complete",
    "completed",
    "idle",
    "closed",
    "no active work",
    "no active task",
    "nothing to do",
}
_EDGES = " \t\n.…-–—*_`#>!:()"
# `<what you work on>`, `[objective]`, `{{objective}}`: a form that nobody filled in.
_FORM = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\{\{?[^{}]*\}?\}")


def is_placeholder(text: str) -> bool:
    """Whether a text says nothing: empty, `None`, `TBD`, dots, or a form that nobody filled in."""
    if len(text) > 200:
        return False
    said = " ".join(text.strip(_EDGES).casefold().split())
    return said in _NOTHING or _FORM.fullmatch(text.strip()) is not None


def is_unfilled(text: str) -> bool:
    """Whether a text stands for what is still to be said: `TBD`, dots, a form; not `None`, not nothing."""
    said = " ".join(text.strip(_EDGES).casefold().split())
    return is_placeholder(text) and said not in _EMPTY and bool(text.strip(" \t\n-–—*"))


def is_idle(objective: str) -> bool:
    """Whether an objective says that nothing is being worked on."""
    said = " ".join(objective[:200].strip(_EDGES).casefold().split())
    return is_placeholder(objective) or (len(objective) <= 200 and said in _FINISHED)
