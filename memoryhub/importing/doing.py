"""One import from a file that somebody sent, for the doors: looked at, or done, with who does it said."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import replace
from pathlib import Path

from memoryhub.importing.applying import Outcome, apply_import
from memoryhub.importing.planning import Plan, Progress, plan_import
from memoryhub.importing.sources import open_source
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import TooLarge
from projects.errors import ProjectArchived
from projects.models import Project, Role
from projects.services import check_role


def as_session(actor: Actor, client: str) -> Actor:
    """The actor in a session of its own, unless it has one: what waits of an import is found by it."""
    if actor.context.session:
        return actor
    session = f"import-{dt.datetime.now(dt.UTC):%Y-%m-%d}-{secrets.token_hex(3)}"
    return replace(actor, context=replace(actor.context, session=session, client=client))


def bring_file(
    *,
    actor: Actor,
    project: Project,
    file: Path,
    name: str = "",
    apply: bool = False,
    format: str = "",
    visibility: str = "",
    mend: bool = True,
    most: int | None = None,
    progress: Progress = lambda done, of: None,
) -> tuple[Plan, Outcome | None]:
    """Look at a file that is called `name`, and with `apply` import it.

    Raises NoSuchProject, RoleTooLow, ProjectArchived; Invalid; TooLarge, also for more than `most` entries.
    """
    check_role(actor.user, project, Role.CONTRIBUTOR)
    if project.is_archived:
        raise ProjectArchived
    with open_source(file, name) as source:
        plan = plan_import(
            actor, project, source, format=format, visibility=visibility, mend=mend, progress=progress
        )
    if not apply:
        return plan, None
    if most is not None and len(plan.items) > most:
        sentence = f"Has {len(plan.items)} entries; here at most {most} are imported at once."
        raise TooLarge(f"{sentence} Use the page, or manage.py import_from.", most=most)
    return plan, apply_import(actor, plan, progress=progress)
