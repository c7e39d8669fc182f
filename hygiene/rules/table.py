"""The closed table of rules: what each finds, its cap, and how much is a lot (`t`, `p`).

    s(r)    = max(t, ceil(N * p / 100))        so many findings cost half of the cap
    cost(r) = 1000 * cap * f // (f + s(r))     in thousandths of a point

`t` is the least, so that in a small project one slip costs no more than four points: cap / (1 + t) <= 4.
`p` says which share of the memories is a lot. What a large project has few of (bags, contradictions,
critical memories) has a small one, what comes with every import a large one; at 30 memories one slip costs
one to four points. The caps add up to 100, so the penalty never passes 100 points and nothing is clamped.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One rule. `singular` and `plural` name its findings in one line."""

    name: str
    cap: int
    t: int
    p: int
    singular: str
    plural: str
    finds: str
    why: str

    def counted(self, many: int) -> str:
        """`3 stale bags`"""
        return f"{many} {self.singular if many == 1 else self.plural}"


RULES: tuple[Rule, ...] = (
    Rule(
        "stale_bag",
        16,
        4,
        2,
        "stale bag",
        "stale bags",
        "a bag whose child came, went, or changed in title or summary after the bag's own summary was "
        "written; not one that only `tend` fills",
        "Recall shows a bag's summary instead of its children: a stale one misleads every session. Bags are "
        "few.",
    ),
    Rule(
        "similar_memories",
        12,
        4,
        10,
        "similar memory",
        "similar memories",
        "a memory that says the same, by title or text, as an earlier one",
        "Two that say the same drift apart, and both cost room. An agent that doesn't search makes many.",
    ),
    Rule(
        "old_session_summaries",
        12,
        5,
        10,
        "old session summary",
        "old session summaries",
        "a session summary at the top level, older than the project's age, still of normal weight",
        "They push lasting knowledge out of recall. They come by the dozen and go by the dozen.",
    ),
    Rule(
        "missing_summary",
        10,
        4,
        10,
        "missing summary",
        "missing summaries",
        "a memory without a summary, or with a placeholder that nobody has replaced",
        "Without one a memory is a title: nobody can tell whether to read it.",
    ),
    Rule(
        "long_summary",
        7,
        5,
        15,
        "long summary",
        "long summaries",
        "a summary over 280 characters, kept from an import",
        "It is cut wherever it is shown. Imports bring many at once, and each is a small harm.",
    ),
    Rule(
        "crowded_top_level",
        7,
        5,
        20,
        "memory too many at the top level",
        "memories too many at the top level",
        "memories of normal weight in no bag and no bag themselves, over the grouping threshold",
        "A long list is skimmed. It grows by one with every addition, so it counts slowly.",
    ),
    Rule(
        "too_many_critical",
        7,
        3,
        2,
        "critical memory too many",
        "critical memories too many",
        "critical memories over the project's target",
        "Where everything is critical nothing is. The target doesn't grow with the store, so few are a lot.",
    ),
    Rule(
        "unverified",
        7,
        5,
        20,
        "unverified memory",
        "unverified memories",
        "of normal or critical weight, neither changed nor verified within the project's age",
        "Old is not wrong, so one more counts little; a store that nobody looks at counts in full.",
    ),
    Rule(
        "contradiction",
        6,
        2,
        2,
        "contradiction",
        "contradictions",
        "two active memories with an unresolved contradicts link",
        "Whoever reads one of the two acts on it. Somebody noticed, and few are noticed.",
    ),
    Rule(
        "quality",
        5,
        4,
        10,
        "memory of poor quality",
        "memories of poor quality",
        "a memory with at least one of: thin_rationale, untagged, isolated, global_scope, mojibake, "
        "broken_link, oversized_bag",
        "Small things that make a memory hard to find or to trust; one that has several counts once.",
    ),
    Rule(
        "superseded_still_active",
        4,
        2,
        2,
        "superseded memory still active",
        "superseded memories still active",
        "superseded by an active memory, and still active itself",
        "Recall shows the old beside the new. It comes of restoring or importing, so it is rare.",
    ),
    Rule(
        "drifted",
        3,
        2,
        5,
        "drifted memory",
        "drifted memories",
        "a memory whose scope covers files that reported commits changed since it was changed or verified",
        "A change of a file is no change of the rule about it: worth a look, no more.",
    ),
    Rule(
        "review_backlog",
        2,
        1,
        2,
        "waiting review",
        "waiting reviews",
        "a review pending for more than 7 days",
        "What waits is not known yet, and who proposed it stops proposing.",
    ),
    Rule(
        "unfinished_handoff",
        2,
        1,
        2,
        "unfinished hand-off",
        "unfinished hand-offs",
        "a receipt with unsurfaced results that nobody acknowledged, or a lapsed claim",
        "Somebody's work is waiting to be picked up.",
    ),
)
BY_NAME: dict[str, Rule] = {rule.name: rule for rule in RULES}
