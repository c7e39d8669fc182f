"""Saving a checkpoint by its file."""

from __future__ import annotations

from memoryhub.kernel.actor import Actor, WriteContext
from memoryhub.kernel.errors import Problems
from projects.models import Project
from tasks.current_state import StateFile, parse
from tasks.models import Checkpoint
from tasks.services.checkpoints import Saved, check_checkpoint, save_checkpoint


def check_file(*, text: str, stream: str, context: WriteContext, problems: Problems) -> StateFile:
    """What a file says; add all that is wrong with it to `problems`, by field."""
    read = parse(text)
    for name, sentence in read.problems.items():
        problems.add(name, sentence)
    check_checkpoint(context=context, problems=problems, stream=stream, sections=read.sections, **read.fields)
    return read


def save_file(
    *,
    actor: Actor,
    project: Project,
    stream: str = Checkpoint.MAIN,
    text: str,
    expected_version: int | None = None,
) -> Saved:
    """Save one stream of the actor's own work as its `CURRENT_STATE.md` says.

    Fields whose sections aren't in the file stay; sections that aren't the hub's are those of the file. A
    file that says what stands already moves nothing, whatever version it is of. Raises Invalid for a file
    with no section of a checkpoint or one twice, and what `save_checkpoint` raises.
    """
    problems = Problems()
    read = check_file(text=text, stream=stream, context=actor.context, problems=problems)
    problems.raise_if_any()
    return save_checkpoint(
        actor=actor,
        project=project,
        stream=stream,
        expected_version=expected_version,
        still_so=False,
        sections=read.sections,
        **read.fields,
    )
