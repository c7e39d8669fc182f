"""What happened in a project, told by whoever knows: higher apps register what they keep of it."""

from projects.activity.facets import facets_of
from projects.activity.feed import Feed, Heard, Session, feed_of, last_written, session_of
from projects.activity.sources import Event, Kept, Wanted, Who, all_kept, register_activity
from projects.activity.totals import Total, Totals, totals_of

__all__ = [
    "Event",
    "Feed",
    "Heard",
    "Kept",
    "Session",
    "Total",
    "Totals",
    "Wanted",
    "Who",
    "all_kept",
    "facets_of",
    "feed_of",
    "last_written",
    "register_activity",
    "session_of",
    "totals_of",
]
