"""What the writing pages say beside the form: what will happen when it is sent, tags, bags, a preview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from memories.errors import NoSuchMemory
from memories.flat import DETAIL, STEPS, flat_of
from memories.forms_writing import WritingForm
from memories.markdown import rendered
from memories.models import Memory, Tag, Visibility
from memories.services import Touch, would_wait
from memories.showing import Shown, sections_of
from memoryhub.kernel.actor import Actor
from projects.models import Project, Role, User

# More are found by search; a list to choose from is short. Of tags more are offered as one types.
TAGS_SHOWN, TAGS_OFFERED, BAGS_SHOWN = 40, 400, 100


@dataclass(frozen=True)
class Sending:
    """Whether what is sent becomes a proposal, as it is chosen now and for the other choices."""

    waits: bool
    private_waits: bool
    others_wait: bool
    is_new: bool
    chosen: str

    @classmethod
    def of(cls, actor: Actor, project: Project, role: Role, before: str | None, chosen: str) -> Sending:
        """`before` and `chosen` are who may read it now and then; None: it is new."""

        def asked(after: str) -> bool:
            return would_wait(actor, project, role, Touch(before, after))

        private = asked(Visibility.PRIVATE)
        others = asked(Visibility.SHARED) or asked(Visibility.PUBLIC)
        return cls(asked(chosen), private, others, before is None, chosen)

    @property
    def button(self) -> str:
        if self.waits:
            return "Propose"
        return "Store" if self.is_new else "Save"

    @property
    def says(self) -> str:
        """What will happen; empty where it is simply stored."""
        if self.waits:
            what = "it is stored" if self.is_new else "anything changes"
            private = " Only what is private to you is stored at once." if not self.private_waits else ""
            return f"This will be proposed: a reviewer decides before {what}.{private if self.is_new else ''}"
        if self.others_wait:
            return "Private: stored at once, and read by you alone. Shared or public it would be proposed."
        return ""


@dataclass(frozen=True)
class TagsUsed:
    """Tags, those used most first: all that are offered as one types, and those that stand on the page."""

    offered: Sequence[str]

    @classmethod
    def of(cls, rows: Any) -> TagsUsed:
        """Of rows of tags by their `name`, one a use."""
        most = rows.order_by().values_list("name").annotate(many=Count("pk")).order_by("-many", "name")
        return cls([name for name, _ in most[:TAGS_OFFERED]])

    @property
    def shown(self) -> Sequence[str]:
        return self.offered[:TAGS_SHOWN]


def tags_used(project: Project, reader: User) -> TagsUsed:
    """The tags of the project's memories that the reader may see."""
    seen = Memory.objects.in_project(project).active().visible_to(reader)
    return TagsUsed.of(Tag.objects.filter(memory__in=seen))


def bags_for(project: Project, reader: User) -> list[tuple[int, str]]:
    """Number and title of bags to put something into, by title."""
    bags = Memory.objects.in_project(project).active().visible_to(reader).top_level().bags_for(reader)
    return list(bags.order_by("title", "number").values_list("number", "title")[:BAGS_SHOWN])


def started_by(project: Project, reader: User, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a new memory begins with: the kind, the bag, or what an older one leaves to its successor."""
    start: dict[str, Any] = {}
    if older := asked.get("supersedes"):
        memory = _seen(project, reader, older)
        names = ("kind", "title", "tags", "weight", "visibility", "hardness", "scope_paths", "parent")
        start = {name: value for name, value in flat_of(memory).items() if name in names}
        start["supersedes"] = str(older)
    if parent := asked.get("parent"):
        bag = _seen(project, reader, parent)
        start |= {"parent": bag.number, "visibility": _as_open_as(bag, project)}
    if asked.get("kind"):
        start["kind"] = asked["kind"]
    return start


def _as_open_as(bag: Memory, project: Project) -> str:
    """The project's usual visibility, where a bag can hold that."""
    usual, bag_s = Visibility(project.default_visibility), Visibility(bag.visibility)
    return usual.value if bag_s.at_least(usual) else bag_s.value


def _seen(project: Project, reader: User, number: int) -> Memory:
    found = Memory.objects.in_project(project).visible_to(reader).for_page(reader).numbered(number).first()
    if found is None:
        raise NoSuchMemory(number)
    return found


def preview_of(form: WritingForm) -> Shown | None:
    """What was typed as its page would show it; None where a text is longer than is ever stored."""
    form.is_valid()
    said = {name: value for name, value in form.cleaned_data.items() if isinstance(value, str)}
    details: dict[str, Any] = {
        name.removeprefix(DETAIL): text for name, text in said.items() if name.startswith(DETAIL)
    }
    if form.steps:
        details[STEPS] = form.steps_typed
    sizes = [len(text) for name, text in said.items() if name != "body"]
    if len(said.get("body", "")) > Memory.BODY_MAX_LENGTH or sum(sizes) > Memory.BODY_MAX_LENGTH:
        return None
    memory = Memory(title=said.get("title", ""), summary=said.get("summary", ""), details=details)
    return Shown(memory, rendered(said.get("body", "")), sections_of(memory))
