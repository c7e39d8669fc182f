"""Relationship evidence: how a draft relates to what is known, by rules that a person can check.

`suggest` answers `memory_suggest`, `advise` gives the hints of a write; both compare with at most twenty
memories that the index names. `token_sets` are the stored words of memories.
"""

from memories.evidence.candidates import EVALUATED_MAX, token_sets
from memories.evidence.hinting import Advice, advise
from memories.evidence.near import Look, Near, near
from memories.evidence.relating import suggest

__all__ = ["EVALUATED_MAX", "Advice", "Look", "Near", "advise", "near", "suggest", "token_sets"]
