"""The REST door: a file of another system, looked at or imported."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.urls import path
from rest_framework.exceptions import ParseError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from memories.models import Visibility
from memoryhub.importing.applying import Outcome
from memoryhub.importing.doing import as_session, bring_file
from memoryhub.importing.planning import Fate, Item, Plan
from memoryhub.importing.readers import FORMATS
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import Argument, Arguments, Choice, Context, Flag, Text, Unreadable
from memoryhub.kernel.errors import Invalid
from memoryhub.kernel.rest import array, endpoint, shape
from memoryhub.kernel.rest.endpoints import Endpoint
from memoryhub.kernel.rest.reading import BadRequest, JsonParser
from memoryhub.kernel.rest.shapes import COUNT, NUMBER, TEXT, one_of
from memoryhub.kernel.tools import Right, Tool
from projects.callers import Caller
from projects.models import Role
from projects.rest import ApiView, caller_of
from projects.services import check_role

# More in one request would make its caller wait for longer than servers do.
ENTRIES_MAX = 1_000
LISTED_MAX = 200

_ITEM = shape(
    "ImportItem",
    {
        "file": TEXT,
        "line": {**COUNT, "description": "Where it begins; 0 is the whole file."},
        "fate": {
            **one_of(fate.value for fate in Fate),
            "description": "known: from an earlier import; same: its text is here, `problem` says where "
            "details differ; twice: in the source.",
        },
        "title": {**TEXT, "description": "Empty where it may hold a secret."},
        "number": {**NUMBER, "description": "Of the memory that it is here."},
        "problem": TEXT,
        "close_to": {**NUMBER, "description": "A memory that says nearly the same."},
    },
    required=("file", "line", "fate", "title"),
)
_NOTE = shape("ImportNote", {"file": TEXT, "line": COUNT, "says": TEXT}, required=("file", "line", "says"))
_COUNTS = shape("ImportCounts", {fate.value: COUNT for fate in Fate}, required=[fate.value for fate in Fate])
IMPORTED = shape(
    "Imported",
    {
        "result": one_of(("planned", "applied", "pending_review")),
        "format": TEXT,
        "files": COUNT,
        "counts": _COUNTS,
        "links": COUNT,
        "items": {**array(_ITEM), "description": f"What isn't new first; at most {LISTED_MAX}."},
        "total": COUNT,
        "done_to_them": {
            "type": "object",
            "additionalProperties": COUNT,
            "description": "What has to be done to new entries, and to how many.",
        },
        "notes": {**array(_NOTE), "description": "About the files."},
        "session": {**TEXT, "description": "By which what waits is found in the queue of reviews."},
        "created": array(NUMBER),
        "waiting": {**array(NUMBER), "description": "Numbers of reviews."},
    },
    required=("result", "format", "files", "counts", "links", "items", "total", "done_to_them", "notes"),
)


@dataclass(frozen=True)
class FileArgument(Argument):
    """A file of a form."""

    def shape(self) -> dict[str, Any]:
        return {"type": "string", "format": "binary"}

    def read(self, value: Any) -> UploadedFile[Any]:
        if not isinstance(value, UploadedFile):
            raise Unreadable("Send it as a file of multipart/form-data.")
        return value


class FormParser(MultiPartParser):
    """A form with a file, as the arguments that it names."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Raises BadRequest."""
        try:
            return super().parse(stream, media_type, parser_context)
        except ParseError:
            raise BadRequest(
                "The form can't be read. Send multipart/form-data with the file as `file`."
            ) from None


def _import(
    caller: Caller,
    file: UploadedFile[Any] | None = None,
    name: str = "",
    text: str = "",
    format: str = "",
    visibility: str = "",
    dry_run: bool = True,
    repair: bool = True,
    write_context: WriteContext | None = None,
) -> dict[str, Any]:
    if (file is None) == (not text):
        raise Invalid(fields={"file": "Send either a file, or a text with its name."})
    actor = as_session(caller.actor(write_context), "rest")
    with _on_disk(file, text) as kept:
        plan, outcome = bring_file(
            actor=actor,
            project=caller.project,
            file=kept,
            name=(file.name if file else name) or "upload",
            apply=not dry_run,
            format=format,
            visibility=visibility,
            mend=repair,
            most=ENTRIES_MAX,
        )
    answer = _said(plan)
    return answer if outcome is None else {**answer, **_done(outcome), "session": actor.context.session}


@contextmanager
def _on_disk(file: UploadedFile[Any] | None, text: str) -> Iterator[Path]:
    """What was sent as a file of the disk, while it is read."""
    with tempfile.NamedTemporaryFile(prefix="import-") as kept:
        for part in file.chunks() if file else [text.encode("utf-8", "surrogatepass")]:
            kept.write(part)
        kept.flush()
        yield Path(kept.name)


def _said(plan: Plan) -> dict[str, Any]:
    telling = sorted(plan.items, key=lambda item: (item.fate is Fate.NEW, item.close is None))
    return {
        "result": "planned",
        "format": plan.format,
        "files": plan.files,
        "counts": plan.counts(),
        "links": len(plan.links),
        "items": [_row(item) for item in telling[:LISTED_MAX]],
        "total": len(plan.items),
        "done_to_them": plan.oddities(),
        "notes": [
            {"file": note.place.file, "line": note.place.line, "says": note.sentence}
            for note in plan.notes[:LISTED_MAX]
        ],
    }


def _row(item: Item) -> dict[str, Any]:
    place = item.candidate.place
    row = {
        "file": place.file,
        "line": place.line,
        "fate": item.fate.value,
        "title": item.label,
        "number": item.number,
        "problem": item.problem,
        "close_to": item.close[0] if item.close else None,
    }
    return {key: value for key, value in row.items() if value or key in ("line", "title")}


def _done(outcome: Outcome) -> dict[str, Any]:
    refused = [
        {
            "file": item.candidate.place.file,
            "line": item.candidate.place.line,
            "fate": Fate.REFUSED.value,
            "title": item.label,
            "problem": sentence,
        }
        for item, sentence in outcome.refused[:LISTED_MAX]
    ]
    return {
        "result": "pending_review" if outcome.waiting else "applied",
        "created": outcome.created,
        "waiting": outcome.waiting,
        "links": outcome.linked,
        **({"items": refused} if refused else {}),
    }


_FILES_IMPORT = Tool(
    "files_import",
    "Look at what importing a file of another system would do, or import it (`dry_run` false): a zip, or "
    "one file. Sent as a form with `file`, or as JSON with `name` and `text`. What is here already stays as "
    f"it is. At most {ENTRIES_MAX:,} entries are imported at once.",
    _import,
    Right.WRITE,
    Arguments(
        {
            "file": FileArgument("In a form"),
            "name": Text("Of the file whose `text` is sent: it tells the format", most=200),
            "text": Argument("What stands in the file"),
            "format": Choice("Recognised where it is left out", options=tuple(FORMATS)),
            "visibility": Choice("The project's default unless given", options=tuple(Visibility.values)),
            "dry_run": Flag("True unless given: nothing is written"),
            "repair": Flag("True unless given: misread text is repaired where that is certain"),
            "write_context": Context(
                "In a form as JSON text. A session of its own unless given", required=False
            ),
        }
    ),
    True,
    False,
)


class Imports(ApiView):
    parser_classes = (JsonParser, FormParser)
    post = endpoint(_FILES_IMPORT, IMPORTED, waits=True)

    def initialize_request(self, request: Any, *args: Any, **kwargs: Any) -> Request:
        # Before anything reads the body: to the disk with it.
        request.upload_handlers = [TemporaryFileUploadHandler(request)]
        return super().initialize_request(request, *args, **kwargs)

    def use(self, endpoint: Endpoint, request: Request, path: Mapping[str, Any]) -> Any:
        """Who may not import sends nothing to the disk."""
        caller = caller_of(request, path["slug"])
        caller.choose_project({}, required=True)
        caller.check_right(Right.WRITE)
        check_role(caller.user, caller.project, Role.CONTRIBUTOR)
        return super().use(endpoint, request, path)


urlpatterns = [path("projects/<slug:slug>/imports", Imports.as_view(), name="imports")]
app_name = "importing_api"
