"""What hygiene writes: what is derived from memories, the cached report, the history, the daily upkeep."""

from hygiene.services.backfilling import Placeholders, backfill_summaries
from hygiene.services.fixing import Preview, apply_fix, preview_fix
from hygiene.services.rebuilding import rebuild
from hygiene.services.reporting import AtHand, at_hand, report_of
from hygiene.services.tending import Tended, record_day, tend
from hygiene.services.watching import forget_reports, watch

__all__ = [
    "AtHand",
    "Placeholders",
    "Preview",
    "Tended",
    "apply_fix",
    "at_hand",
    "backfill_summaries",
    "forget_reports",
    "preview_fix",
    "rebuild",
    "record_day",
    "report_of",
    "tend",
    "watch",
]
