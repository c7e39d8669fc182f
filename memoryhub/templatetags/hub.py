"""What every template shows: stored text with its hidden marks written out, and moments with their age."""

from __future__ import annotations

import datetime as dt

from django import template
from django.forms import BaseForm
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memoryhub.kernel.text import visible_marks

register = template.Library()

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
# Past so many seconds an age is told in the unit, and until the next row's.
_UNITS = ((_DAY * 365, "year"), (_DAY * 30, "month"), (_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute"))


@register.filter
def shown(text: object) -> str:
    """Stored text as it is safe to read: marks that turn the direction of reading are written out.

    It is no HTML yet: the template escapes it, like any other text.
    """
    return visible_marks(str(text))


@register.filter
def told(said: object) -> str:
    """What was done, above a page: HTML where `format_html` made it, which escaped the stored text."""
    return said if isinstance(said, SafeString) else shown(said)


@register.simple_tag
def moment(when: dt.datetime | None, prefix: str = "") -> SafeString | str:
    """A moment as its age, with the exact time in the reader's zone behind it; nothing for None."""
    if when is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}{}</time>',
        when.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        exact(when),
        f"{prefix} " if prefix else "",
        age(when, timezone.now()),
    )


@register.filter
def exact(when: dt.datetime | None) -> str:
    """A moment to the minute in the reader's zone, which is named."""
    if when is None:
        return ""
    local = timezone.localtime(when)
    return f"{local:%Y-%m-%d %H:%M} {timezone.get_current_timezone_name()}"


def age(when: dt.datetime, now: dt.datetime) -> str:
    """How long ago, in its largest unit: `3 days ago`. What lies ahead is told as `in 3 days`."""
    seconds = int((now - when).total_seconds())
    for size, name in _UNITS:
        if abs(seconds) >= size:
            many = abs(seconds) // size
            told = f"{many} {name}{'' if many == 1 else 's'}"
            return f"{told} ago" if seconds > 0 else f"in {told}"
    return "just now" if seconds >= 0 else "in a moment"


@register.filter
def many_set(form: BaseForm) -> int:
    """How many of a form's fields have a value, as it was sent."""
    return sum(1 for field in form if field.value())


@register.filter
def thousands(number: object) -> str:
    """A whole number with its thousands apart: 12,345."""
    return f"{number:,}" if isinstance(number, int) else str(number)
