"""Uploads from their first byte to their result: kept on disk, looked at, confirmed, imported, dropped.

Small files are done in the request. For others a thread of the server goes on, and says in a small file
beside the upload how far it is: the import may be one transaction, out of which nobody hears anything.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection, connections
from django.utils import timezone

from memoryhub.exchange.models import Upload, UploadStatus
from memoryhub.exchange.uploads import Progress, Report, UploadKind, kind_named, kind_of, upload_kinds
from memoryhub.kernel.actor import Actor
from memoryhub.kernel.errors import Conflict, DomainError, Invalid, TooLarge
from memoryhub.kernel.jobs import Stopped
from memoryhub.kernel.text import text_problem
from projects.errors import ProjectArchived
from projects.models import Project, Role
from projects.services import check_role

logger = logging.getLogger(__name__)

# Done in the request.
SMALL = 256 * 1024
# Of one person in one project so many are kept; the oldest goes when another comes.
KEPT_MAX = 5
DROPPED_AFTER, FORGOTTEN_AFTER = dt.timedelta(days=1), dt.timedelta(days=30)
# A thread without a sign of life for so long went with its server.
LOST_AFTER = dt.timedelta(minutes=10)
_STEP = 0.3


def receive(*, actor: Actor, project: Project, name: str, parts: Iterable[bytes]) -> Upload:
    """Keep a file and look at what it would do. For owners. Raises RoleTooLow, ProjectArchived, TooLarge."""
    assert actor.user is not None, "Uploads are somebody's."
    check_role(actor.user, project, Role.OWNER)
    if project.is_archived:
        raise ProjectArchived
    _make_room(actor, project)
    upload = Upload(project=project, user=actor.user, name=_shown_name(name), size=0)
    file = file_of(upload)
    file.parent.mkdir(mode=0o700, parents=True)
    try:
        upload.size = _store(file, parts)
        kind = kind_of(file)
        if kind is None:
            known = "; ".join(kind.says.rstrip(".") for kind in upload_kinds())
            raise Invalid(f"This is no file that can be imported. What can be: {known}.")
        upload.kind = kind.name
        upload.save(force_insert=True)
    except BaseException:
        shutil.rmtree(file.parent, ignore_errors=True)
        raise
    _start(upload, lambda: _look(actor, upload, kind))
    upload.refresh_from_db()
    return upload


def apply_upload(*, actor: Actor, upload: Upload) -> Upload:
    """Import what was looked at. Raises Conflict where it isn't waiting for that any more."""
    kind = kind_named(upload.kind)
    planned = Upload.objects.filter(pk=upload.pk, status=UploadStatus.PLANNED)
    if kind is None or not planned.update(status=UploadStatus.APPLYING, updated_at=timezone.now()):
        raise Conflict("This file isn't waiting to be imported any more. Look at what became of it.")
    _start(upload, lambda: _apply(actor, upload, kind))
    upload.refresh_from_db()
    return upload


def discard_upload(*, upload: Upload) -> None:
    """Drop a file and what is known of it. Raises Conflict while it is being imported."""
    if not Upload.objects.filter(pk=upload.pk).exclude(status=UploadStatus.APPLYING).delete()[0]:
        raise Conflict("This file is being imported now. Wait until that is over.")
    shutil.rmtree(file_of(upload).parent, ignore_errors=True)


def settle(upload: Upload) -> Upload:
    """The upload as it is; one whose thread went with its server says so."""
    if upload.is_working and timezone.now() - _last_sign(upload) > LOST_AFTER:
        _end(upload, UploadStatus.REFUSED, problem="It was interrupted. Upload the file again.")
    return upload


def drop_old_uploads(stopped: Stopped = lambda: False) -> str:
    """Drop what nobody confirmed for a day, and what was imported a month ago. One line for the log."""
    now, dropped = timezone.now(), 0
    old = Upload.objects.quiet_since(now - DROPPED_AFTER).exclude(status=UploadStatus.APPLIED)
    for upload in [*old, *Upload.objects.quiet_since(now - FORGOTTEN_AFTER)]:
        if stopped():
            break
        settle(upload)
        if upload.status != UploadStatus.APPLYING and Upload.objects.filter(pk=upload.pk).exists():
            discard_upload(upload=upload)
            dropped += 1
    return f"Uploads: dropped={dropped}" if dropped else ""


# --- the file ----------------------------------------------------------------------------


def file_of(upload: Upload) -> Path:
    """Where an upload is: under a name that keeps its ending, in a folder of its own."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", upload.name)[-80:].lstrip(".-") or "upload"
    return Path(settings.UPLOADS_DIR) / upload.uid.hex / cleaned


def _shown_name(name: str) -> str:
    last = name.replace("\\", "/").rsplit("/", 1)[-1][-Upload.NAME_MAX_LENGTH :]
    return "upload" if text_problem(last, most=Upload.NAME_MAX_LENGTH, least=1, one_line=True) else last


def _store(file: Path, parts: Iterable[bytes]) -> int:
    size, most = 0, settings.IMPORT_MAX_BYTES
    with file.open("xb") as out:
        file.chmod(0o600)
        for part in parts:
            size += len(part)
            if size > most:
                raise TooLarge(f"The file is larger than {most // (1024 * 1024)} MiB.", most=most)
            out.write(part)
    if not size:
        raise Invalid("The file is empty. Choose another one.")
    return size


def _make_room(actor: Actor, project: Project) -> None:
    assert actor.user is not None, "Uploads are somebody's."
    mine = Upload.objects.in_project(project).filter(user=actor.user)
    waiting = mine.exclude(status__in=(UploadStatus.APPLYING, UploadStatus.APPLIED)).order_by("-pk")
    for upload in waiting[KEPT_MAX - 1 :]:
        discard_upload(upload=upload)


# --- the work ----------------------------------------------------------------------------


def _start(upload: Upload, work: Callable[[], Report]) -> None:
    if upload.size <= SMALL or not settings.IMPORTS_IN_BACKGROUND:
        _do(upload, work)
        return

    def in_background() -> None:
        try:
            _do(upload, work)
        finally:
            connections.close_all()

    _say_how_far(upload, "", 0, 0)
    threading.Thread(target=in_background, name=f"upload-{upload.pk}", daemon=True).start()


def _do(upload: Upload, work: Callable[[], Report]) -> None:
    is_applying = upload.status == UploadStatus.APPLYING or _is_applying(upload)
    try:
        report = work()
    except DomainError as refusal:
        _end(upload, UploadStatus.REFUSED, problem=refusal.message)
    except Exception:
        if connection.in_atomic_block:
            raise
        logger.exception("the upload %s failed", upload.uid)
        _end(upload, UploadStatus.REFUSED, problem="It failed here; the server's log says why.")
    else:
        done = UploadStatus.APPLIED if is_applying else UploadStatus.PLANNED
        _end(upload, done, report=report)
    if is_applying:
        shutil.rmtree(file_of(upload).parent, ignore_errors=True)


def _is_applying(upload: Upload) -> bool:
    return Upload.objects.filter(pk=upload.pk, status=UploadStatus.APPLYING).exists()


def _end(upload: Upload, status: str, *, report: Report | None = None, problem: str = "") -> None:
    upload.status, upload.problem, upload.updated_at = status, problem, timezone.now()
    fields = ["status", "problem", "updated_at"]
    if report is not None:
        upload.report = report.as_dict()
        fields.append("report")
    Upload.objects.filter(pk=upload.pk).update(**{name: getattr(upload, name) for name in fields})


def _look(actor: Actor, upload: Upload, kind: UploadKind) -> Report:
    file = file_of(upload)
    return kind.plan(actor=actor, project=upload.project, file=file, progress=_progress_of(upload))


def _apply(actor: Actor, upload: Upload, kind: UploadKind) -> Report:
    file = file_of(upload)
    return kind.apply(actor=actor, project=upload.project, file=file, progress=_progress_of(upload))


# --- how far -----------------------------------------------------------------------------


@dataclass(frozen=True)
class HowFar:
    """What is being done with an upload, and how much of it is done: 0 to 100."""

    phase: str = "Begun"
    percent: int = 0

    @property
    def told(self) -> str:
        """What is said aloud of it: at each quarter."""
        return f"{self.phase}: {self.percent // 25 * 25} %"


def how_far(upload: Upload) -> HowFar:
    """What the thread said last."""
    try:
        phase, done, total = json.loads(_sign(upload).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return HowFar()
    return HowFar(str(phase) or HowFar.phase, min(100, 100 * int(done) // max(int(total), 1)))


def _sign(upload: Upload) -> Path:
    return file_of(upload).parent / ".progress"


def _last_sign(upload: Upload) -> dt.datetime:
    try:
        return dt.datetime.fromtimestamp(_sign(upload).stat().st_mtime, dt.UTC)
    except OSError:
        return upload.updated_at


def _say_how_far(upload: Upload, phase: str, done: int, total: int) -> None:
    sign = _sign(upload)
    fresh = sign.with_suffix(".new")
    fresh.write_text(json.dumps([phase, done, total]), encoding="utf-8")
    fresh.replace(sign)


def _progress_of(upload: Upload) -> Progress:
    last = 0.0

    def progress(phase: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _STEP:
            last = now
            _say_how_far(upload, phase, done, total)

    return progress
