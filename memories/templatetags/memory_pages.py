"""What rows and histories of memories need beside `hub`."""

from __future__ import annotations

from django import template
from django.template import Context
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from memories.acts import Act, acts_for
from memories.filters import TaggedFilterSet
from memories.marking import Marker
from memories.models import Memory, Review
from memories.recall.lines import shown_summary
from memories.reviews.counting import Waiting, waiting_in
from memories.reviews.counting import waiting_everywhere as everywhere
from memories.reviews.places import Place
from memories.wording import DOOR_NAMES, LINK_SENTENCES
from memoryhub.kernel.text import shortened, visible_marks
from projects.loading import may_write as may_write_in
from projects.models import Project, User

register = template.Library()
_MARKS_SHOWN = 400


@register.filter
def marked(text: str, marker: Marker | str | None) -> SafeString:
    """The text with the words that were asked for marked; without a search as it is."""
    if isinstance(marker, Marker):
        return marker.mark(text)
    return mark_safe(escape(visible_marks(text)))


@register.filter
def door_name(door: str) -> str:
    """How a write came in, as the end of a sentence."""
    return DOOR_NAMES.get(door, f"by {door}")


@register.filter
def as_listed(summary: str) -> str:
    """A summary as lists show it: an import's long one is cut, with a mark."""
    return shown_summary(summary)


@register.filter
def link_sentence(name: str) -> str:
    """What a link field says, before the memories that it names."""
    return LINK_SENTENCES.get(name, name.replace("_", " "))


@register.simple_tag(takes_context=True)
def waiting_reviews(context: Context, project: Project, user: User) -> Waiting:
    """How many proposals of a project wait for somebody: the shell's number."""
    known = context.get("waiting")
    return known if isinstance(known, Waiting) else waiting_in([project], user)


@register.simple_tag(takes_context=True)
def waiting_everywhere(context: Context, user: User) -> Waiting:
    """The same of all projects that he is in."""
    known = context.get("waiting")
    return known if isinstance(known, Waiting) else everywhere(user)


@register.filter
def address_in(review: Review, place: Place) -> str:
    """The address of a proposal in the queue that one looks at."""
    return place.review(review)


@register.filter
def deciding_in(review: Review, place: Place) -> str:
    """Where its decision is sent."""
    return place.decide(review)


@register.filter
def editing_in(review: Review, place: Place) -> str:
    """Where it is put in other words."""
    return place.edit(review)


@register.filter
def ref_in(review: Review, place: Place) -> str:
    """How forms call it there."""
    return place.ref(review)


@register.filter
def may_write(project: Project) -> bool:
    """Whether the reader that the project was loaded for may change anything in it."""
    return may_write_in(project)


@register.simple_tag
def acts_on(memory: Memory, user: User) -> list[Act]:
    """What can be done with a memory beside editing it."""
    return acts_for(memory, user)


@register.filter
def hidden_marks(text: object) -> str:
    """The beginning of a text with its hidden marks written out; empty where it has none.

    A control holds the text exactly, so that these turn the direction of what one reads in it.
    """
    plain = text if isinstance(text, str) else ""
    seen = visible_marks(plain)
    return shortened(seen, _MARKS_SHOWN) if seen != plain else ""


@register.simple_tag
def with_tag(filters: TaggedFilterSet, tag: str) -> str:
    """The query string of the list with one tag more."""
    return filters.with_tag(tag)
