"""What each setting of a project is called and does, in the words of its page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Settings under one heading."""

    key: str
    title: str
    says: str
    fields: tuple[str, ...]


GROUPS = (
    Group("project", "Project", "", ("name",)),
    Group(
        "recall",
        "Recall",
        "What every session reads first. The preview shows it as these values would make it.",
        ("recall_budget", "recall_mode", "grouping_threshold"),
    ),
    Group(
        "writing",
        "Writing and review",
        "What becomes of a change. Proposals that wait already keep waiting, whatever is chosen here.",
        ("review_policy", "review_needs_second_person", "default_visibility"),
    ),
    Group(
        "hygiene",
        "Hygiene",
        "When the score takes points off, and when agents are asked to clean up.",
        ("hygiene_threshold", "critical_target", "stale_after_days"),
    ),
    Group(
        "ageing",
        "Work in flight",
        "How long what sessions leave behind counts as news.",
        ("session_summary_days", "session_summary_action", "checkpoint_stale_hours"),
    ),
)

LABELS = {
    "name": "Name",
    "recall_budget": "Recall budget, in characters",
    "recall_mode": "Layout of recall",
    "grouping_threshold": "Grouping threshold, in memories",
    "review_policy": "Review policy",
    "review_needs_second_person": "A second person approves",
    "default_visibility": "Default visibility",
    "hygiene_threshold": "Clean-up threshold, of 100",
    "critical_target": "Critical memories, at most",
    "stale_after_days": "Unverified after, in days",
    "session_summary_days": "Session summaries are old after, in days",
    "session_summary_action": "Old session summaries",
    "checkpoint_stale_hours": "Checkpoints are stale after, in hours",
}

MEANS = {
    "name": "Stands at the head of what agents read, and in lists of projects. Addresses don't change.",
    "recall_budget": (
        "An agent's session begins by reading at most so much, 500 to 50,000. A larger budget shows "
        "more memories and costs every session more of its context."
    ),
    "recall_mode": (
        "Automatic lists up to the grouping threshold and groups under headings above it; headings "
        "help agents find their way in many entries."
    ),
    "grouping_threshold": (
        "With more top-level memories than this an automatic recall is grouped, and hygiene asks to "
        "put some into bags."
    ),
    "review_policy": (
        "Nobody waits: changes are in force at once, but for what agents make public. Agents propose: "
        "what an agent changes in shared memory waits until a reviewer decides; until then no session "
        "reads it. Everyone proposes: people's changes wait, too."
    ),
    "review_needs_second_person": (
        "Nobody approves their own proposal. Without it a reviewer may, in person; an agent never "
        "approves what its own user proposed."
    ),
    "default_visibility": (
        "What a memory becomes that an agent stores without saying: seen by its author alone, by the "
        "project's members, or by everyone who signs in here."
    ),
    "hygiene_threshold": "Below this score every session's recall ends with the request to clean up.",
    "critical_target": (
        "Critical memories come first in every recall; more of them than this are a finding, because "
        "where everything is critical, nothing is."
    ),
    "stale_after_days": (
        "An entry that nobody changed or verified for so long is named, and agents are asked whether "
        "it still holds."
    ),
    "session_summary_days": (
        "After so many days the daily upkeep does with a session summary what is chosen below."
    ),
    "session_summary_action": (
        "A lowered one leaves recall and is still found by search; one in a bag stays together with "
        "those of its time."
    ),
    "checkpoint_stale_hours": (
        "An older checkpoint is no longer given to a fresh session, which reads its date instead."
    ),
}
