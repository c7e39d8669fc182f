"""The web's door to receipts: one, and taking them over, one or several."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from memories.views import elsewhere
from memoryhub.kernel.requests import AuthedRequest, web_actor
from memoryhub.kernel.snapshots import read_snapshot
from projects.errors import RoleTooLow
from projects.loading import project_of, project_to_write
from projects.models import Project, Role, User
from tasks.errors import NoSuchReceipt
from tasks.forms_continuity import AcknowledgeForm
from tasks.models import Receipt
from tasks.numbers import find_receipt
from tasks.services import Acknowledged, acknowledge_receipt, acknowledge_receipts
from tasks.showing import may_write, shown_receipt
from tasks.views_continuity import receipts_part


def receipt_of(user: User, project: Project, number: int) -> Receipt:
    """The receipt, whole. Raises NoSuchReceipt."""
    found = find_receipt(project, user, number)
    if found is None:
        raise NoSuchReceipt(number)
    return found


@login_required
@require_safe
def receipt(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """A receipt in full. The number of something else leads to its page."""
    project = project_of(request.user, slug)
    with read_snapshot():
        try:
            found = receipt_of(request.user, project, number)
        except NoSuchReceipt as refusal:
            return elsewhere(project, request.user, number, refusal)
        context = {
            "project": project,
            "here": "continuity",
            "receipt": found,
            "shown": shown_receipt(project, request.user, found),
            "can_write": may_write(project),
        }
    return render(request, "tasks/receipt.html", context)


@login_required
@require_POST
def receipt_acknowledge(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """Take one over, from its page."""
    project = project_of(request.user, slug)
    found = receipt_of(request.user, project, number)
    if not Role(project.role).includes(Role.CONTRIBUTOR):  # type: ignore[attr-defined]
        raise RoleTooLow(Role.CONTRIBUTOR)
    done = acknowledge_receipt(actor=web_actor(request), receipt=found)
    messages.success(request, f"#{number} was taken over by {done.acknowledger}.")
    return redirect("tasks:receipt", slug=project.slug, number=number)


@login_required
@require_POST
def acknowledge(request: AuthedRequest, slug: str) -> HttpResponse:
    """Take the ticked ones over, all or none, or the one whose button was pressed."""
    project = project_to_write(request.user, slug)
    form = AcknowledgeForm(request.POST)
    if not form.is_valid():
        return receipts_part(request, project, form=form, status=422)
    done = acknowledge_receipts(actor=web_actor(request), project=project, numbers=form.numbers)
    if request.htmx:
        return receipts_part(request, project, said=sentence_of(done))
    messages.success(request, sentence_of(done))
    return redirect("tasks:continuity", slug=project.slug)


def sentence_of(done: Acknowledged) -> str:
    """What was taken over, for people."""
    said = [f"Taken over: {_named(done.now)}."] if done.now else []
    if done.before:
        said.append(f"Taken over before: {_named(done.before)}.")
    return " ".join(said)


def _named(numbers: list[int]) -> str:
    return ", ".join(f"#{number}" for number in numbers)
