"""What pages say of each rule, to people, and which fixes they offer for its findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Remedy:
    """What pages say of a rule, to people: of all its findings, of one (`{other}`, `{note}`), and the fixes.

    `button` leads to them; `several` are those for more than one at once.
    """

    says: str
    one: str
    button: str
    fixes: tuple[str, ...] = ()
    several: tuple[str, ...] = ()


REMEDIES: dict[str, Remedy] = {
    "stale_bag": Remedy(
        "What these bags (memories that hold others) hold changed after their summaries were written.",
        "What it holds changed on {note}, after its summary was written.",
        "Write summaries",
        fixes=("summary",),
    ),
    "similar_memories": Remedy(
        "They say the same as an earlier one.",
        "Says the same as #{other}.",
        "Compare",
        fixes=("merge", "not_similar"),
        several=("not_similar", "merge"),
    ),
    "old_session_summaries": Remedy(
        "Past the project's age, and still read by every session.",
        "Of {note}, and still read by every session.",
        "Lower their weight",
        fixes=("lower", "archive"),
        several=("lower", "archive", "bag"),
    ),
    "missing_summary": Remedy(
        "Nobody can tell from a title whether to read them.",
        "Has no summary of its own.",
        "Write",
        fixes=("summary",),
    ),
    "long_summary": Remedy(
        "They are cut wherever they are shown.",
        "Its summary is longer than is shown anywhere.",
        "Shorten",
        fixes=("summary",),
    ),
    "crowded_top_level": Remedy(
        "A long list is skimmed: what belongs together goes into a bag.",
        "At the top level, in no bag.",
        "Put into bags",
        fixes=("lower", "archive"),
        several=("bag", "lower", "archive"),
    ),
    "too_many_critical": Remedy(
        "Where everything is critical, nothing is.",
        "Critical, beyond the project's target.",
        "Choose",
        fixes=("normal",),
        several=("normal",),
    ),
    "unverified": Remedy(
        "Nobody changed or verified them for long.",
        "Neither changed nor verified since {note}.",
        "Verify",
        fixes=("verify", "archive"),
        several=("verify", "archive", "lower"),
    ),
    "contradiction": Remedy(
        "Whoever reads one of the two acts on it.",
        "Contradicts #{other}.",
        "Decide",
        fixes=("supersede", "resolve"),
    ),
    "drifted": Remedy(
        "Commits changed what they cover since somebody looked at them.",
        "Commits changed what it covers since {note}.",
        "Verify",
        fixes=("verify", "archive"),
        several=("verify", "archive"),
    ),
    "review_backlog": Remedy(
        "Proposals that nobody decided for a week.",
        "Waits since {note}.",
        "Decide",
    ),
    "unfinished_handoff": Remedy(
        "Unsurfaced results that nobody acknowledged, and claims that lapsed.",
        "Left by somebody, and picked up by nobody.",
        "Pick up",
    ),
    "quality": Remedy(
        "Small things that make them hard to find or to trust.",
        "{note}",
        "Improve",
        several=("tag", "archive"),
    ),
    "superseded_still_active": Remedy(
        "Recall shows the old beside the new.",
        "#{other} supersedes it, and it is still active.",
        "Replace",
        fixes=("supersede", "unlink"),
        several=("supersede",),
    ),
}
# The same for what the quality rule finds, by flaw.
FLAW_FIXES = {"untagged": "tag", "isolated": "tag", "global_scope": "scope"}
# By flaw, the part of the memory's edit form where it is mended: these take an edit of the text.
FLAW_EDITS = {"thin_rationale": "kind-fields", "mojibake": "id_title", "broken_link": "id_body"}
# Rules whose findings a person may rather mend in the whole form than by the field that is offered.
EDITED_RULES = {
    "stale_bag": "id_summary",
    "missing_summary": "id_summary",
    "long_summary": "id_summary",
    "contradiction": "id_body",
    "crowded_top_level": "id_parent",
}


def edit_anchor(rule: str, flaws: Sequence[str]) -> str:
    """Where in the edit form a finding is mended; empty where an edit isn't what mends it."""
    mended = [FLAW_EDITS[flaw] for flaw in flaws if flaw in FLAW_EDITS]
    return mended[0] if mended else EDITED_RULES.get(rule, "")


def remedy_of(rule: str) -> Remedy | None:
    """What pages say of a rule; None for one that has nothing yet."""
    return REMEDIES.get(rule)
