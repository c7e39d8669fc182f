"""What fields, choices and links are called on pages."""

from __future__ import annotations

from typing import Any

from memories.models import Hardness, Kind, Status, Visibility, Weight

FIELD_NAMES = {
    "kind": "Kind",
    "title": "Title",
    "summary": "Summary",
    "body": "Body",
    "details": "Details",
    "tags": "Tags",
    "retrieval_hints": "Also found by",
    "scope_paths": "Scope",
    "hardness": "Hardness",
    "weight": "Weight",
    "visibility": "Visibility",
    "status": "Status",
}

# What a revision says with numbers of other memories in it.
LINK_SENTENCES = {
    "parent": "put into",
    "left_bag": "left",
    "supersedes": "supersedes",
    "superseded_by": "superseded by",
    "related_to": "related to",
    "contradicts": "contradicts",
    "merged": "took in",
    "merged_into": "merged into",
    "linked": "took over links to",
    "not_similar": "not similar to",
    "unlink": "no longer linked to",
    "resolves": "no longer contradicts",
}

DETAIL_NAMES = {
    "problem": "Problem",
    "why_chosen": "Why this was chosen",
    "alternatives": "Alternatives",
    "what_we_tried": "What we tried",
    "tradeoffs": "Trade-offs",
    "reason": "Reason",
    "triggering_incident": "Triggering incident",
    "purpose": "Purpose",
    "when_to_invoke": "When to invoke",
    "steps": "Steps",
}

DOOR_NAMES = {
    "web": "in the browser",
    "admin": "in the administration",
    "rest": "over REST",
    "mcp": "over MCP",
    "command": "from the command line",
}

# What a fresh session does, in the same words in descriptions, instructions, prompts and the guide.
START = "First in every session: continuity_context, then memory_recall."

# What happens next to what was proposed: agents read it in every such answer.
WAITS = (
    "Nothing is changed yet: a reviewer decides. Go on without it, and don't send it again. review_list says "
    "what became of it, and memory_recall names the outcome."
)

# What a proposal is called by its kind, before the title of what it is about.
CHANGE_NAMES = {
    "create": "New",
    "update": "Update",
    "archive": "Archive",
    "supersede": "Replace",
    "merge": "Merge",
}

_CHOICES = {"kind": Kind, "weight": Weight, "visibility": Visibility, "status": Status, "hardness": Hardness}


def choice_name(field: str, value: Any) -> str:
    """The label of a choice; what an import brought that is none, as it is."""
    choices: dict[Any, Any] = dict(_CHOICES[field].choices)
    return str(choices.get(value, value or ""))


def change_name(kind: str, *, publishes: bool = False, restores: bool = False) -> str:
    """What a proposal does, in a word."""
    if kind == "update" and (publishes or restores):
        return "Publish" if publishes else "Restore"
    return CHANGE_NAMES.get(kind, kind.capitalize())


def waits_sentence(ref: str) -> str:
    """To a person whose change became a proposal."""
    return f"Proposed as {ref}. Nothing is changed yet: it waits for a reviewer."


def detail_name(key: str) -> str:
    """The heading of a field of a kind."""
    return DETAIL_NAMES.get(key, key.replace("_", " ").capitalize())


def steps_as_text(steps: Any) -> str:
    """Steps as numbered lines, for comparing."""
    lines = []
    for number, step in enumerate(steps if isinstance(steps, list) else (), start=1):
        does, needs = (
            (step.get("does", ""), step.get("depends_on", "")) if isinstance(step, dict) else (step, "")
        )
        lines.append(f"{number}. {does}" + (f" (depends on: {needs})" if needs else ""))
    return "\n".join(lines)
