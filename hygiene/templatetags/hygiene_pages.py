"""What templates need to show of hygiene beside what views hand them."""

from __future__ import annotations

from django import template

from hygiene.chart import Ring
from hygiene.parts import side_ring
from projects.models import Project, User

register = template.Library()


@register.simple_tag
def side_score(project: Project, user: User) -> Ring | None:
    """The score of a project for the side bar, as far as it is known; at most one query."""
    return side_ring(project, user)


@register.filter
def as_points(thousandths: int) -> str:
    """Thousandths of a point of the score, as points with one decimal: 1333 is `1.3`."""
    if 0 < thousandths < 50:
        return "<0.1"
    return f"{thousandths / 1000:.1f}".removesuffix(".0")


@register.filter
def signed(change: int) -> str:
    """A change of the score with its sign: `+3`, `−2` (a true minus), `0`."""
    return f"+{change}" if change > 0 else str(change).replace("-", "−")
