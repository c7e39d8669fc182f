"""The REST door to hygiene."""

from __future__ import annotations

from django.urls import path

from hygiene import tools  # noqa: F401 - declares the tool that is named here
from hygiene.rules.table import RULES
from memoryhub.kernel.rest import endpoint
from memoryhub.kernel.rest.shapes import COUNT, FLAG, NUMBER, PAGE_REQUIRED, TEXT, array, one_of, page, shape
from projects.rest import ApiView

_RULE = one_of(rule.name for rule in RULES)
_COUNT = shape(
    "RuleCount", {"rule": _RULE, "count": COUNT, "points": COUNT}, required=("rule", "count", "points")
)
_ABOUT = shape("Named", {"number": NUMBER, "title": TEXT}, required=("number", "title"))
_FINDING = shape(
    "Finding",
    {
        "rule": _RULE,
        "memories": array(_ABOUT),
        # Where it is about no memory: a proposal, or a task or receipt by its number.
        "review": TEXT,
        "number": NUMBER,
        "type": one_of(("task", "receipt")),
        "title": TEXT,
        "do": {**TEXT, "description": "What to do about it."},
        "points": {**COUNT, "description": "What mending it gives back, in thousandths of a point."},
        "private": {**FLAG, "description": "On your own private memory: shown to you alone, costs nothing."},
    },
    required=("rule", "memories", "do", "points"),
)
REPORT = shape(
    "HygieneReport",
    {
        "score": {"type": "integer", "minimum": 0, "maximum": 100},
        "penalty": COUNT,
        "rules": array(_COUNT),
        "private_rules": array(_COUNT),
        **page(_FINDING),
    },
    required=("score", "penalty", "rules", "total", *PAGE_REQUIRED),
)


class Hygiene(ApiView):
    get = endpoint("hygiene_report", REPORT)


app_name = "hygiene_api"
urlpatterns = [path("projects/<slug:slug>/hygiene", Hygiene.as_view(), name="report")]
