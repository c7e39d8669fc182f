"""What should hold between rows and can't be a constraint of one; the doctor reports, never repairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.db.models import F, Max, Q

from memories.models import ChangeKind, CommitScope, Link, Memory, Review, Revision, Status, Visibility
from memories.search.types import searched_types, type_of_entry
from memories.search.upkeep import drift
from memoryhub.kernel.doctor import Finding
from projects.models import Project


def check_bags(project: Project) -> Iterator[Finding]:
    """One level; active parents of the same project, at least as visible as their children."""
    inside = Memory.objects.in_project(project).exclude(parent=None)
    wrong = inside.filter(
        ~Q(parent__project=F("project")) | ~Q(parent__status=Status.ACTIVE) | ~Q(parent__parent=None)
    )
    for memory in wrong:
        yield Finding.broken(f"{project.slug} #{memory.number} stands in a bag that can't hold it.")
    for child in inside.select_related("parent"):
        parent = child.parent
        if parent is None:
            continue
        somebody_elses = parent.is_private and parent.author_id != child.author_id
        if somebody_elses or not Visibility(parent.visibility).at_least(Visibility(child.visibility)):
            yield Finding.broken(
                f"{project.slug} #{child.number} is more visible than its bag #{parent.number}."
            )


def check_history(project: Project) -> Iterator[Finding]:
    """Each memory's newest revision has its version; no number is above the project's last."""
    memories = Memory.objects.in_project(project)
    for memory in memories.annotate(newest=Max("revisions__version")).exclude(newest=F("version")):
        yield Finding.broken(f"{project.slug} #{memory.number} has no revision of its version.")
    highest = memories.aggregate(highest=Max("number"))["highest"] or 0
    if highest > project.last_number:
        yield Finding.broken(f"{project.slug} has #{highest}, past its last number {project.last_number}.")
    gone = Revision.objects.filter(memory__project=project, memory__erased_at__isnull=False)
    if gone.exclude(fields={}).exclude(fields={"erased": True}).exists():
        yield Finding.broken(f"{project.slug} keeps text of an erased memory in its history.")


def check_links(project: Project) -> Iterator[Finding]:
    """Both ends of a link are of one project."""
    crossing = Link.objects.filter(source__project=project).exclude(target__project=F("source__project"))
    for link in crossing.select_related("source"):
        yield Finding.broken(f"{project.slug} #{link.source.number} has a link into another project.")


def check_reviews(project: Project) -> Iterator[Finding]:
    """What was approved stands in a history; what waits can be decided; what was erased keeps no text."""
    here = Review.objects.in_project(project)
    for review in here.without_a_trace():
        yield Finding.broken(f"{project.slug} {review.ref} was approved and stands in no history.")
    made_nothing = Q(kind=ChangeKind.CREATE, status=Review.Status.APPROVED, memory=None)
    elsewhere = ~Q(memory__project=F("project")) & Q(memory__isnull=False)
    for review in here.filter(made_nothing | elsewhere):
        yield Finding.broken(f"{project.slug} {review.ref} has no memory of this project.")
    gone = here.filter(Q(memory__erased_at__isnull=False) | Q(erased_at__isnull=False))
    for review in gone.pending():
        yield Finding.broken(f"{project.slug} {review.ref} waits although what it is about was erased.")
    for review in gone.exclude(fields={}, edits={}, reason=""):
        yield Finding.broken(f"{project.slug} {review.ref} keeps text of what was erased.")
    highest = here.aggregate(highest=Max("number"))["highest"] or 0
    if highest > project.last_review_number:
        last = f"past its last review R{project.last_review_number}"
        yield Finding.broken(f"{project.slug} has R{highest}, {last}.")


def check_index(project: Project) -> Iterator[Finding]:
    """The words of the index are those of what is found; so are its counts, and the keys of summaries."""
    found = drift(project)
    mend = f"Run `manage.py reindex {project.slug}`."
    plurals = {each.name: each.plural for each in searched_types()}
    for name, ids in (
        ("missing from", found.missing),
        ("other words in", found.different),
        ("left over in", found.left_over),
    ):
        for of_type, many in Counter(type_of_entry(entry_id) for entry_id in ids).items():
            what = plurals.get(of_type, "entries")
            yield Finding.drifted(f"{project.slug}: {many} {what} are {name} the search index. {mend}")
    if found.totals:
        yield Finding.drifted(
            f"{project.slug}: {len(found.totals)} counts of the search index are off. {mend}"
        )
    if found.summaries:
        many = len(found.summaries)
        yield Finding.drifted(f"{project.slug}: {many} summaries are not found by what they say. {mend}")


def check_commits(project: Project) -> Iterator[Finding]:
    """What a reported commit touched says the same project and time as its report."""
    scopes = CommitScope.objects.filter(report__project=project)
    wrong = scopes.exclude(project=project, committed_at=F("report__committed_at")).count()
    if wrong:
        yield Finding.broken(f"{project.slug} has {wrong} scopes that aren't as their commits' reports say.")
