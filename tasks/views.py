"""The web's door to tasks for reading: the list by status, a task."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from memories.forms import HistoryForm
from memories.views import elsewhere
from memoryhub.kernel.errors import DomainError, Invalid
from memoryhub.kernel.lists import answer_list, is_fragment
from memoryhub.kernel.requests import AuthedRequest
from memoryhub.kernel.snapshots import read_snapshot
from projects.forms import put_on
from projects.loading import project_of
from projects.models import Project, User
from tasks.browsing import Board, Tally, browse_tasks, tally_of, with_finished_parts
from tasks.errors import NoSuchTask
from tasks.filters import TaskFilterSet
from tasks.forms import ClaimForm, StatusForm
from tasks.models import Task
from tasks.showing import may_write, shown_task


def task_of(user: User, project: Project, number: int) -> Task:
    """The task with all a page shows. Raises NoSuchTask."""
    seen = Task.objects.in_project(project).visible_to(user).numbered(number)
    found = with_finished_parts(seen.for_rows()).defer(None).first()
    if found is None:
        raise NoSuchTask(number)
    found.project = project
    return found


@login_required
@require_safe
def task_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """The project's tasks by status, filtered; the address says how."""
    project = project_of(request.user, slug)
    filters = TaskFilterSet(request.GET)
    board, good = Board(), filters.is_valid()
    if good:
        try:
            board = browse_tasks(project, request.user, filters, request.GET.get("cursor", ""))
        except Invalid as refusal:
            put_on(filters.form, refusal)
            good = False
    address = request.path + filters.address() if good else None
    context: dict[str, Any] = {
        "project": project,
        "here": "tasks",
        "filters": filters,
        "form": filters.form,
        "board": board,
        "is_narrowed": good and filters.is_narrowed,
        "tally": Tally() if is_fragment(request) else tally_of(project, request.user, timezone.now()),
        "can_write": may_write(project),
        "first": address or request.path,
        "following": request.path + filters.address(cursor=board.next_cursor) if board.next_cursor else "",
    }
    return answer_list(request, "tasks/list.html", "tasks/_panel.html", context, address=address)


@login_required
@require_safe
def task(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """A task with what is around it. The number of something else leads to its page."""
    project = project_of(request.user, slug)
    try:
        return task_page(request, project, number)
    except NoSuchTask as refusal:
        return elsewhere(project, request.user, number, refusal)


def task_page(
    request: AuthedRequest,
    project: Project,
    number: int,
    *,
    said: str = "",
    refusal: DomainError | None = None,
    status: StatusForm | None = None,
    claim: ClaimForm | None = None,
) -> HttpResponse:
    """The page as it is now, for htmx what moves of it, with what was done or refused. Raises NoSuchTask."""
    form = HistoryForm(request.GET)
    before = form.cleaned_data["before"] if form.is_valid() else None
    with read_snapshot():
        found = task_of(request.user, project, number)
        shown = shown_task(project, request.user, found, timezone.now(), before, request.GET.dict())
    fragment = is_fragment(request)
    context = {
        "project": project,
        "here": "tasks",
        "task": found,
        "shown": shown,
        "before": before,
        "fragment": fragment,
        "said": said,
        "refusal": refusal,
        "status_form": status,
        "claim_form": claim or ClaimForm(),
    }
    template = "tasks/_task.html" if fragment else "tasks/task.html"
    response = render(request, template, context, status=refusal.status if refusal else 200)
    patch_vary_headers(response, ["HX-Request"])
    return response
