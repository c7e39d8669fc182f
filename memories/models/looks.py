"""What is told of a long text at a glance, for an index: few texts look odd, and no others are read."""

from __future__ import annotations

from django.db.models import BooleanField, Func, IntegerField

from memoryhub.kernel.text import SUMMARY_MAX_LENGTH


class SummaryLook(Func):
    """1 for a summary that is empty or begins with a bracket, as a placeholder does; 2 for one over its
    limit; 3 for both, 0 for others.

    All in its text, without parameters: an index is found by the same expression. Another limit is another
    index.
    """

    output_field = IntegerField()
    template = (
        f"(CASE WHEN LENGTH(%(expressions)s) > {SUMMARY_MAX_LENGTH} THEN 2 ELSE 0 END"
        " + CASE WHEN SUBSTR(%(expressions)s, 1, 1) IN ('', '[') THEN 1 ELSE 0 END)"
    )


class SummaryLooks(Func):
    """Whether a summary looks so, as a condition: `UNWRITTEN` or `LONG`.

    The numbers stand in its text, too: a planner that isn't told them takes every summary for one of these.
    """

    output_field = BooleanField()
    template = f"{SummaryLook.template} IN (%(looks)s)"

    UNWRITTEN = "1, 3"
    LONG = "2, 3"

    def __init__(self, looks: str) -> None:
        super().__init__("summary", looks=looks)
