"""What came of a fix, in sentences: done, proposed, hinted, and how the score moved."""

from __future__ import annotations

from hygiene.fixes import sentence
from hygiene.forms import Asked
from hygiene.services.fixing import Results
from memories.services import Applied, Pending

# Of the hints beside an answer so many are told.
HINTS_MAX = 3


def told(asked: Asked, results: Results, before: int, after: int) -> str:
    """For the notice after a fix, and for whoever listens."""
    waiting = [result.number for result in results if isinstance(result, Pending)]
    # A bag that was made or got its summary is no item.
    many = min(len(results) - len(waiting), len(asked.items))
    said = []
    if many == 1:
        said.append(sentence(asked.fix.done, asked.items[0], asked.given))
    elif many:
        said.append(sentence(asked.fix.all_done, asked.items[0], asked.given, many))
    if waiting:
        names = ", ".join(f"R{number}" for number in waiting)
        said.append(f"Proposed as {names}, which wait{'s' if len(waiting) == 1 else ''} for a reviewer.")
    hints = [hint.message for result in results if isinstance(result, Applied) for hint in result.hints]
    said += list(dict.fromkeys(hints))[:HINTS_MAX]
    said.append(f"The score is {after}, as before." if before == after else f"Score {before} → {after}.")
    return " ".join(said)
