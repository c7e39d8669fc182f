"""How the admin's pages write what hygiene counts."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def in_points(thousandths: int) -> str:
    """Points of the score to one place: 1234 is 1.2."""
    return f"{thousandths / 1000:.1f}"


@register.filter
def in_points_more(thousandths: int) -> str:
    """The same of what is below zero, without the sign."""
    return in_points(-thousandths)
