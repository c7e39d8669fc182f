"""Reporting commits, so that what they changed is looked at again."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from memories.models import CommitReport, CommitScope, Memory, ScopePath
from memories.scopes import covering_paths, normalise_path
from memories.services.writing import begin, finish
from memoryhub.kernel.actor import Actor, Door, WriteContext
from memoryhub.kernel.errors import Forbidden, Problems
from memoryhub.kernel.secret_scan import find_secret
from memoryhub.kernel.text import text_problem
from projects.models import Project

_LEAST, _MOST = CommitReport.HASH_LENGTHS
_HASH = re.compile(rf"[0-9a-f]{{{_LEAST},{_MOST}}}")
# Reports may hold many paths: so many are read at once when all are gone through.
_CHUNK = 20


@dataclass(frozen=True)
class Reported:
    """A report. `unchanged`: the commit was reported before, and that report stands."""

    report: CommitReport
    unchanged: bool = False


@dataclass(frozen=True)
class _Paths:
    """Those that are kept, each once, and how many aren't."""

    kept: list[str]
    left_out: int

    @classmethod
    def read(cls, given: Sequence[str]) -> _Paths:
        """A machine names them: what no scope can cover costs the rest nothing."""
        read: dict[str, None] = {}
        odd = 0
        for path in given:
            try:
                read[normalise_path(path)] = None
            except ValueError:
                odd += 1
        named = [path for path in read if path]
        return cls(named[: CommitReport.MAX_PATHS], odd + max(0, len(named) - CommitReport.MAX_PATHS))


def check_commit(commit: str, branch: str, paths: Sequence[str], problems: Problems) -> None:
    """Add what is wrong with a report to `problems`, by the names that doors give its fields."""
    if not _HASH.fullmatch(commit.lower()):
        problems.add("hash", f"Must be the hash of a commit: {_LEAST} to {_MOST} characters of 0-9 and a-f.")
    most = WriteContext.MAX_LENGTHS["branch"]
    problems.add("branch", text_problem(branch, most=most, one_line=True))
    for name, text in (("branch", branch), ("paths", "\n".join(paths))):
        found = find_secret(text)
        if found:
            problems.add_secret(name, found.line, found.kind)


def report_commit(
    *,
    actor: Actor,
    project: Project,
    commit: str,
    branch: str,
    paths: Sequence[str],
    committed_at: dt.datetime | None = None,
) -> Reported:
    """Keep which paths a commit changed. One that was reported before is left as it is.

    `committed_at` is now unless given, and never later. Raises Invalid, SecretDetected; NoSuchProject,
    RightMissing, RoleTooLow, ProjectArchived.
    """
    if actor.user is None:
        raise Forbidden("A report is somebody's. Make it as a user.")
    problems = Problems()
    check_commit(commit, branch, paths, problems)
    problems.raise_if_any()
    commit, read = commit.lower(), _Paths.read(paths)
    with transaction.atomic():
        write = begin(actor, project)
        known = CommitReport.objects.in_project(write.project).of_hash(commit).first()
        if known is not None:
            return Reported(known, unchanged=True)
        said = {**actor.context.as_dict(), "branch": branch, "commit": commit}
        report = CommitReport.objects.create(
            project=write.project,
            reporter=actor.user,
            paths=read.kept,
            left_out=read.left_out,
            committed_at=min(committed_at or write.at, write.at),
            created_at=write.at,
            actor_kind=actor.kind,
            token_name=actor.token_name,
            door=actor.door,
            **said,
        )
        scopes = ScopePath.objects.filter(memory__project=write.project).values_list("path", flat=True)
        _note(report, set(scopes.distinct()))
        finish(write)
    return Reported(report)


def bring_commits(project: Project, reports: Sequence[CommitReport]) -> None:
    """Store reports that another store had, with which scopes of this project they touched.

    Call it under the project's lock. What is over the number that is kept the upkeep drops. None is of the
    future, whatever the other store says.
    """
    now = timezone.now()
    for report in reports:
        report.committed_at = min(report.committed_at, now)
    CommitReport.objects.bulk_create(reports)
    scopes = set(ScopePath.objects.filter(memory__project=project).values_list("path", flat=True).distinct())
    for report in reports:
        _note(report, scopes)


def note_scopes(memory: Memory) -> None:
    """Find the reports that touched a memory's scopes, for one that comes with a past.

    Any other write is later than every commit that was reported before it. Call it in the transaction.
    """
    scopes = set(memory.scope_paths)
    if not scopes:
        return
    later = CommitReport.objects.in_project(memory.project).committed_after(memory.touched_at)
    for report in later.order_by().iterator(chunk_size=_CHUNK):
        _note(report, scopes)


def _note(report: CommitReport, scopes: Iterable[str]) -> None:
    """Keep which of the scopes a report touched."""
    touched = {scope for path in report.paths for scope in covering_paths(path)}
    CommitScope.objects.bulk_create(
        (
            CommitScope(report=report, project=report.project, path=path, committed_at=report.committed_at)
            for path in sorted(touched & set(scopes))
        ),
        ignore_conflicts=True,
        batch_size=500,
    )


def prune_commits(project: Project) -> int:
    """Drop the oldest reports of a project over the number that is kept; how many went. The operator's."""
    newest = CommitReport.objects.in_project(project).order_by("-pk").values_list("pk", flat=True)
    last_kept = newest[CommitReport.KEPT_PER_PROJECT - 1 : CommitReport.KEPT_PER_PROJECT].first()
    if last_kept is None:
        return 0
    with transaction.atomic():
        write = begin(Actor(user=None, door=Door.COMMAND), project)
        old = CommitReport.objects.in_project(project).filter(pk__lt=last_kept)
        dropped = old.count()
        if dropped:
            old.delete()
            finish(write)
    return dropped
