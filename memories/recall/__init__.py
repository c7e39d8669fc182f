"""Recall: the bounded text that a session reads to know the project."""

from memories.recall.closing import register_closing_line
from memories.recall.packing import BUDGET_MAX, BUDGET_MIN, Recall
from memories.recall.reading import recall, tried_recall
from memories.recall.rules import RULES_BUDGET, rules, scoped_rules

__all__ = [
    "BUDGET_MAX",
    "BUDGET_MIN",
    "RULES_BUDGET",
    "Recall",
    "recall",
    "register_closing_line",
    "rules",
    "scoped_rules",
    "tried_recall",
]
