"""One's own checkpoints, as fields and as the file `CURRENT_STATE.md`.

A stream may have any name, slashes too: it is an argument, no part of an address.
"""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from memories.listing import PAGE_DEFAULT, PAGE_MAX
from memories.recall.reading import start_of_day
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import Argument, Arguments, Context, Count, Version
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.rest import endpoint
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.tools import Right, Tool, VersionedText
from projects.callers import Caller
from projects.rest import ApiView
from tasks.api import shapes
from tasks.continuity.presenting import checkpoint_whole, entry_row, stream_row
from tasks.current_state import render_checkpoint
from tasks.errors import NoSuchCheckpoint
from tasks.listing_kept import list_history, list_streams
from tasks.models import Checkpoint
from tasks.presenting import saved
from tasks.services import save_file
from tasks.services.checks import check_stream
from tasks.services.files import check_file

_STREAM = Argument(f"{Checkpoint.MAIN} unless named")
_PAGING = {"limit": Count(most=PAGE_MAX), "cursor": Argument()}


def the_checkpoint(caller: Caller, stream: str) -> Checkpoint:
    """The caller's own of a stream. Raises NoSuchCheckpoint, Invalid for what can't be a stream."""
    problems = Problems()
    check_stream(stream, problems)
    problems.raise_if_any()
    mine = Checkpoint.objects.in_project(caller.project).visible_to(caller.user)
    checkpoint = mine.of_stream(stream).select_related("saved_by").first()
    if checkpoint is None:
        raise NoSuchCheckpoint(stream)
    checkpoint.project = caller.project
    return checkpoint


def _streams(caller: Caller, limit: int = PAGE_DEFAULT, cursor: str = "") -> dict[str, Any]:
    page, day = (
        list_streams(caller.project, caller.user, limit=limit, cursor=cursor),
        start_of_day(timezone.now()),
    )
    return page.answer([stream_row(checkpoint, day) for checkpoint in page.items])


def _whole(caller: Caller, stream: str = Checkpoint.MAIN) -> dict[str, Any]:
    with read_snapshot():
        return checkpoint_whole(the_checkpoint(caller, stream), start_of_day(timezone.now()))


def _history(
    caller: Caller, stream: str = Checkpoint.MAIN, limit: int = PAGE_DEFAULT, cursor: str = ""
) -> dict[str, Any]:
    page = list_history(the_checkpoint(caller, stream), caller.user, limit=limit, cursor=cursor)
    return page.answer([entry_row(entry) for entry in page.items])


def _file(caller: Caller, stream: str = Checkpoint.MAIN) -> VersionedText:
    checkpoint = the_checkpoint(caller, stream)
    return VersionedText.of(render_checkpoint(checkpoint, caller.user), checkpoint.version)


def _check_file(caller: Caller, values: dict[str, Any], problems: Problems) -> None:
    if "text" in values:
        context, stream = values.get("write_context") or WriteContext(), values.get("stream", Checkpoint.MAIN)
        check_file(text=values["text"], stream=stream, context=context, problems=problems)


def _save_file(
    caller: Caller,
    text: str,
    write_context: WriteContext,
    stream: str = Checkpoint.MAIN,
    expected_version: int | None = None,
) -> dict[str, Any]:
    actor = caller.actor(write_context)
    return saved(
        save_file(
            actor=actor, project=caller.project, stream=stream, text=text, expected_version=expected_version
        )
    )


def _reading(name: str, says: str, handler: Any, **arguments: Argument) -> Tool:
    return Tool(name, says, handler, Right.READ, Arguments(arguments), True, False)


_LIST = _reading("checkpoint_list", "Your own streams of work, by name.", _streams, **_PAGING)
_GET = _reading("checkpoint_get", "Your checkpoint of a stream, whole.", _whole, stream=_STREAM)
_KEPT = _reading(
    "checkpoint_history",
    "What saves of your checkpoint replaced, and what was kept or came too late, newest first.",
    _history,
    stream=_STREAM,
    **_PAGING,
)
_FILE_GET = _reading(
    "checkpoint_file_get", "Your checkpoint of a stream as CURRENT_STATE.md.", _file, stream=_STREAM
)
_FILE_SAVE = Tool(
    "checkpoint_file_save",
    "Save your checkpoint of a stream as a CURRENT_STATE.md says. What stands already changes nothing, "
    "and needs no version; fields whose sections are missing stay.",
    _save_file,
    Right.WRITE,
    Arguments(
        {
            "text": Argument("The file", required=True),
            "stream": _STREAM,
            "expected_version": Version(),
            "write_context": Context(),
        }
    ),
    True,
    False,
    _check_file,
)
_MINE: dict[str, Any] = {"versioned": True, "unversioned_too": True, "of_version": True}


class StreamList(ApiView):
    get = endpoint(_LIST, shapes.STREAM_PAGE)


class OneCheckpoint(ApiView):
    get = endpoint(_GET, shapes.CHECKPOINT, of_version=True)
    put = endpoint("checkpoint_save", shapes.SAVED, **_MINE)


class CheckpointFile(ApiView):
    get = endpoint(_FILE_GET, None, of_version=True)
    put = endpoint(_FILE_SAVE, shapes.SAVED, **_MINE)


class History(ApiView):
    get = endpoint(_KEPT, shapes.HISTORY)
