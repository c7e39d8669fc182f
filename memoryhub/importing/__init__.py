"""Imports of what other systems keep: one reader a format, one planner, one apply.

`sources` opens a folder, a file or a zip within limits; a reader makes candidates of it, without looking at
the store; `plan_import` says what would become of each, and `apply_import` does it through the services of
memories.
"""

from memoryhub.importing.applying import Outcome, apply_import
from memoryhub.importing.planning import Fate, Plan, plan_import
from memoryhub.importing.readers import FORMATS
from memoryhub.importing.sources import Source, open_source

__all__ = ["FORMATS", "Fate", "Outcome", "Plan", "Source", "apply_import", "open_source", "plan_import"]
