"""The web's door to memories: the overview of a project, the list, a memory."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from memories.browsing import Listing, Pages, browse
from memories.curation.offering import Choosing, may_choose
from memories.errors import NoSuchMemory, NoSuchNumber
from memories.facets import counts_by_finding
from memories.forms import HistoryForm
from memories.list_filters import MemoryFilterSet
from memories.models import Memory, Revision
from memories.numbered import place_of
from memories.overview import counts_of, kinds_of, top_level_of
from memories.parts import memory_parts, overview_columns, overview_parts
from memories.recall import recall
from memories.showing import RECENT, children_of, recall_lines, shown_to_member, shown_to_stranger
from memoryhub.kernel.errors import NotFound
from memoryhub.kernel.lists import answer_list, is_fragment
from memoryhub.kernel.requests import AuthedRequest
from memoryhub.kernel.snapshots import read_snapshot
from projects.loading import check_may_write, project_of
from projects.models import Project, User


def memory_of(user: User, project: Project, number: int) -> Memory:
    """The memory with all a page shows. Raises NoSuchMemory."""
    seen = Memory.objects.in_project(project).visible_to(user)
    memory = seen.for_page(user).numbered(number).first()
    if memory is None:
        raise NoSuchMemory(number)
    memory.project = project
    return memory


def memory_to_change(user: User, slug: str, number: int) -> Memory:
    """The same for a page on which it is changed. Raises RoleTooLow and ProjectArchived as well."""
    project = project_of(user, slug)
    found = memory_of(user, project, number)
    check_may_write(project)
    return found


@login_required
@require_safe
def overview(request: AuthedRequest, slug: str) -> HttpResponse:
    """A project: how much it knows, what an agent reads first, who wrote lately."""
    reader = request.user
    with read_snapshot():
        project = project_of(reader, slug, overview_columns(reader))
        read = recall(project, reader, is_fresh=True)
        seen = Memory.objects.in_project(project).active().visible_to(reader)
        lately = Revision.objects.visible_to(reader).in_project(project).latest_first().without_values()
        counts = counts_of(project, reader)
        context = {
            "project": project,
            "here": "overview",
            "counts": counts,
            "kinds": kinds_of(counts),
            "recall": read,
            "lines": recall_lines(read),
            "critical": list(seen.critical().newest_touched_first().for_lines()[:RECENT]),
            "lately": list(lately[:RECENT]),
        }
    # Each is one reading of its own, and what recall computed for its last lines is at hand by now.
    context["parts"] = overview_parts(project, reader)
    return render(request, "memories/overview.html", context)


@login_required
@require_safe
def memory_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """The project's memories by bag, filtered, or found; the address says which."""
    return list_page(request, project_of(request.user, slug), request.GET)


def list_page(
    request: AuthedRequest, project: Project, sent: QueryDict, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    """The list as a query string asks for it; with a `refusal` of what was asked of the memories chosen."""
    filters = MemoryFilterSet(sent, project, request.user)
    good = filters.is_valid()
    listing = browse(project, request.user, filters, sent.get("cursor", "")) if good else Listing()
    counts = {} if is_fragment(request) else counts_of(project, request.user)
    context = {
        "project": project,
        "here": "memories",
        "form": filters.form,
        "filters": filters,
        "listing": listing,
        "counts": counts,
        "top_level": top_level_of(counts) if counts else 0,
        "pages": Pages.of(filters.path, filters, listing) if good else Pages(filters.path),
        "choosing": Choosing.of(project, filters, listing) if good else None,
        "refusal": refusal,
    }
    address = filters.path + filters.address() if good else None
    page, panel = "memories/list.html", "memories/_panel.html"
    return answer_list(request, page, panel, context, address=address, status=status)


@login_required
@require_safe
def finding_choices(request: AuthedRequest, slug: str) -> HttpResponse:
    """The filter by finding with its counts, for opening it in place: they cost more than a list may."""
    project = project_of(request.user, slug)
    filters = MemoryFilterSet(request.GET, project, request.user)
    if not request.htmx or not filters.is_valid():
        return redirect(filters.path + filters.address())
    filters.count({"finding": counts_by_finding(project, request.user, filters.facet_filter())})
    response = render(request, "memories/_finding_filter.html", {"field": filters.form["finding"]})
    patch_vary_headers(response, ["HX-Request"])
    return response


@login_required
@require_safe
def memory(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """A memory with what is around it; a public one alone for who isn't in its project."""
    form = HistoryForm(request.GET)
    before = form.cleaned_data["before"] if form.is_valid() else None
    with read_snapshot():
        project = Project.objects.with_role_of(request.user).at(slug).first()
        if project is None:
            return _memory_of_strangers(request, slug, number)
        try:
            found = memory_of(request.user, project, number)
        except NoSuchMemory as refusal:
            return elsewhere(project, request.user, number, refusal)
        context = {
            "project": project,
            "here": "memories",
            "memory": found,
            "shown": shown_to_member(
                found,
                request.user,
                cursor=request.GET.get("cursor", ""),
                before=before,
                links=request.GET.get("links", ""),
            ),
            "before": before,
            "parts": memory_parts(project, request.user, found),
        }
    return render(request, "memories/memory.html", context)


def elsewhere(project: Project, reader: User, number: int, refusal: NotFound) -> HttpResponse:
    """To the page of what the number names; raises the `refusal` where it names nothing for the reader."""
    try:
        return redirect(place_of(project, reader, number))
    except NoSuchNumber:
        raise refusal from None


def _memory_of_strangers(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """Raises the same for a project that isn't there, one that isn't mine and a memory that isn't public."""
    seen = Memory.objects.visible_to(request.user).in_project_at(slug)
    found = seen.for_page(request.user).numbered(number).first()
    if found is None:
        raise NoSuchMemory(number)
    context = {"memory": found, "shown": shown_to_stranger(found)}
    return render(request, "memories/public.html", context)


@login_required
@require_safe
def memory_children(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """The first page of a bag's children, for opening it in place; as a page of its own it is the bag's."""
    project = project_of(request.user, slug)
    bag = memory_of(request.user, project, number)
    if not request.htmx:
        return redirect("memories:memory", slug=project.slug, number=bag.number)
    context = {
        "project": project,
        "memory": bag,
        "children": children_of(bag, request.user),
        "choosing": may_choose(project),
    }
    response = render(request, "memories/_children.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response
