"""Changes of several memories in the admin: shown with the score before and after, then done as one.

Each action makes steps of verbs of `memories.services`; the page says what they would do, and carries the
versions that it showed, so that what was changed between is refused as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from hygiene.fixes import CHOSEN_MAX
from hygiene.models import SimilarPair
from hygiene.services import Preview, apply_fix, preview_fix
from memories.models import Memory, Weight
from memories.services import (
    Pending,
    Step,
    archive_memory,
    mark_not_similar,
    move_into_bag,
    restore_memory,
    revise_memory,
    verify_memory,
)
from memories.wording import waits_sentence
from memoryhub.kernel.actor import Actor, Door
from memoryhub.kernel.admin_extending import Action
from memoryhub.kernel.errors import DomainError, Invalid
from memoryhub.kernel.refs import MAX_NUMBER, read_number
from memoryhub.kernel.requests import web_actor
from projects.models import Project
from projects.services import role_of

Rows = Sequence[Memory]
Given = Mapping[str, Any]


class ReasonForm(forms.Form):
    """What every change may say."""

    reason = forms.CharField(required=False, strip=False, widget=forms.TextInput(attrs={"size": 60}))


class BagForm(ReasonForm):
    """Into which bag."""

    bag = forms.CharField(label="Number of the bag")
    field_order = ("bag", "reason")

    def clean_bag(self) -> int:
        number = read_number(self.cleaned_data["bag"])
        if number is None or not 0 < number <= MAX_NUMBER:
            raise forms.ValidationError("Must be a number such as 48 or '#48'.")
        return number


@dataclass(frozen=True)
class Change:
    """One action: how the menu and the page name it, and the steps that it takes."""

    name: str
    menu: str
    does: str
    done: str
    steps: Callable[[Rows, Given], list[Step]]
    form: type[forms.Form] = ReasonForm


def _each(verb: Any, **given: Any) -> Callable[[Rows, Given], list[Step]]:
    return lambda rows, said: [Step(verb, row.number, {**given, **_reason(said)}) for row in rows]


def _reason(said: Given) -> dict[str, Any]:
    return {"reason": said["reason"]} if said.get("reason") else {}


def _verify(rows: Rows, said: Given) -> list[Step]:
    """Verifying changes no text, so it takes no reason."""
    return [Step(verify_memory, row.number) for row in rows]


def _into_bag(rows: Rows, said: Given) -> list[Step]:
    others = {"bag": said["bag"]}
    return [Step(move_into_bag, row.number, _reason(said), others) for row in rows]


def _not_similar(rows: Rows, said: Given) -> list[Step]:
    """Pairs that hygiene takes for similar, of those chosen. Raises Invalid where there are none."""
    pairs = SimilarPair.objects.visible_to_staff().among(rows).order_by("second__number", "first__number")
    steps = [
        Step(mark_not_similar, pair.second.number, _reason(said), {"other": pair.first.number})
        for pair in pairs
    ]
    if not steps:
        raise Invalid("None of these are taken for similar to each other. Choose both memories of a pair.")
    return steps


CHANGES = (
    Change("archive", "Archive…", "be archived", "archived", _each(archive_memory)),
    Change("restore", "Restore…", "be restored", "restored", _each(restore_memory)),
    Change(
        "lower_weight",
        "Lower the weight…",
        "be given a low weight",
        "given a low weight",
        _each(revise_memory, weight=Weight.LOW.value),
    ),
    Change(
        "normal_weight",
        "Give a normal weight…",
        "be given a normal weight",
        "given a normal weight",
        _each(revise_memory, weight=Weight.NORMAL.value),
    ),
    Change("verify", "Verify: still true…", "be verified", "verified", _verify, forms.Form),
    Change("into_bag", "Put into a bag…", "be put into the bag", "put into the bag", _into_bag, BagForm),
    Change(
        "lift_out",
        "Lift out of the bag…",
        "be moved to the top level",
        "moved to the top level",
        _each(move_into_bag, bag=None),
    ),
    Change(
        "not_similar",
        "Mark as not similar…",
        "be marked as not similar to each other",
        "marked as not similar",
        _not_similar,
    ),
)


def _action(change: Change) -> Action:
    def act(model_admin: Any, request: HttpRequest, rows: Any) -> HttpResponse | None:
        return _asked(change, model_admin, request, rows)

    act.__name__ = change.name
    return act, change.name, change.menu


def _asked(change: Change, model_admin: Any, request: HttpRequest, rows: Any) -> HttpResponse | None:
    """The page that shows what would be done; with its answer, the doing."""
    chosen = list(rows.select_related("project").order_by("number")[: CHOSEN_MAX + 1])
    problem = _problem(request, chosen)
    if problem:
        model_admin.message_user(request, problem, messages.ERROR)
        return None
    project, actor = chosen[0].project, web_actor(request, Door.ADMIN)
    sent = "asked" in request.POST
    form = change.form(request.POST if sent or change.form is not BagForm else None)
    preview: Preview | None = None
    if form.is_bound and form.is_valid():
        try:
            if "seen" in request.POST and "again" not in request.POST:
                _do(change, model_admin, request, chosen, actor, form.cleaned_data)
                return None
            preview = _previewed(change, chosen, actor, form.cleaned_data)
        except DomainError as refusal:
            if not sent and change.form is not BagForm:
                model_admin.message_user(request, refusal.message, messages.ERROR)
                return None
            form.add_error(None, refusal.message)
    return _page(change, model_admin, request, project, chosen, form, preview)


def _problem(request: HttpRequest, chosen: Rows) -> str | None:
    """Why these are not changed together; None where they may be."""
    if not chosen:
        return "None of these is shown here any more. Choose the memories again."
    if len(chosen) > CHOSEN_MAX:
        return f"At most {CHOSEN_MAX} are changed at once. Choose fewer, and go on with the rest."
    if len({memory.project_id for memory in chosen}) > 1:
        return "Choose memories of one project: what is done together is shown with that project's score."
    user: Any = request.user
    project = chosen[0].project
    if not user.is_superuser and role_of(user, project) is None:
        return (
            f"You have no role in {project.slug}, so you change nothing there. Ask one of its owners for one."
        )
    return None


def _previewed(change: Change, chosen: Rows, actor: Actor, said: Given) -> Preview:
    return preview_fix(actor=actor, project=chosen[0].project, steps=change.steps(chosen, said))


def _do(
    change: Change, model_admin: Any, request: HttpRequest, chosen: Rows, actor: Actor, said: Given
) -> None:
    """Do it, and say so. Raises what `apply_fix` raises."""
    steps = change.steps(chosen, said)
    seen = _seen(request.POST.get("seen", ""))
    results = apply_fix(actor=actor, project=chosen[0].project, steps=steps, seen=seen)
    waiting = [result.ref for result in results if isinstance(result, Pending)]
    done: set[int] = set()
    for step, result in zip(steps, results, strict=True):
        done |= set() if isinstance(result, Pending) else step.numbers
    changed = [memory for memory in chosen if memory.number in done]
    for memory in changed:
        model_admin.log_change(request, memory, f"{change.done.capitalize()}.")
    if changed:
        model_admin.message_user(request, f"{len(changed)} {change.done}.", messages.SUCCESS)
    if waiting:
        model_admin.message_user(request, waits_sentence(", ".join(waiting)), messages.WARNING)


def _seen(text: str) -> dict[int, int]:
    """The versions that the page showed. Raises Invalid for anything else."""
    try:
        return {int(number): int(version) for number, version in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise Invalid("The page that was sent is not one of ours. Choose the memories again.") from None


def _page(
    change: Change,
    model_admin: Any,
    request: HttpRequest,
    project: Project,
    chosen: Rows,
    form: forms.Form,
    preview: Preview | None,
) -> HttpResponse:
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": change.menu.rstrip("…"),
        "change": change,
        "project": project,
        "memories": chosen,
        "form": form,
        "preview": preview,
        "seen": json.dumps(dict(preview.seen)) if preview else "",
        "saves": preview.saves if preview else 0,
        "checkbox": ACTION_CHECKBOX_NAME,
    }
    return TemplateResponse(request, "admin/hygiene/several.html", context)


ACTIONS: Sequence[Action] = tuple(_action(change) for change in CHANGES)
