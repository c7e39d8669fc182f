"""The REST door: decisions as text, the rules folder as JSON, each with a digest as its ETag."""

from __future__ import annotations

from typing import Any

from django.urls import path

from memoryhub.kernel.arguments import Arguments
from memoryhub.kernel.rest import array, endpoint, shape
from memoryhub.kernel.rest.shapes import NUMBER, TEXT
from memoryhub.kernel.tools import Right, Tool
from memoryhub.projections import decisions_file, rules_files
from projects.callers import Caller
from projects.rest import ApiView

_FILE = shape(
    "RuleFile",
    {
        "name": {**TEXT, "description": "Of the file: lower case letters, digits and hyphens, and .md."},
        "paths": {**array(TEXT), "description": "Patterns of the front matter; none covers all paths."},
        "numbers": array(NUMBER),
        "content": TEXT,
    },
    required=("name", "paths", "numbers", "content"),
)
_REFUSED = shape(
    "RefusedScope",
    {"scope": TEXT, "why": TEXT, "numbers": array(NUMBER)},
    required=("scope", "why", "numbers"),
)
_FOLDER = shape(
    "RulesFolder",
    {
        "digest": {**TEXT, "description": "Of all the rest: the same as long as that is."},
        "files": array(_FILE),
        "refused": array(_REFUSED),
    },
    required=("digest", "files", "refused"),
)


def _decisions(caller: Caller) -> str:
    return decisions_file(caller.project)


def _rules(caller: Caller) -> dict[str, Any]:
    return rules_files(caller.project).as_dict()


_DECISIONS = Tool(
    "decisions_file_get",
    "The decisions that every member reads, as DECISIONS.md for a repository.",
    _decisions,
    Right.READ,
    Arguments({}),
    True,
    False,
)
_RULES = Tool(
    "rules_files_get",
    "The constraints that every member reads, as a folder of rules for a repository: one file a scope.",
    _rules,
    Right.READ,
    Arguments({}),
    True,
    False,
)


class Decisions(ApiView):
    get = endpoint(_DECISIONS, None, of_content=True)


class Rules(ApiView):
    get = endpoint(_RULES, _FOLDER, of_content=True)


_HERE = "projects/<slug:slug>/projections"

app_name = "projections_api"
urlpatterns = [
    path(f"{_HERE}/decisions", Decisions.as_view(), name="decisions"),
    path(f"{_HERE}/rules", Rules.as_view(), name="rules"),
]
