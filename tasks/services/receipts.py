"""Handing over: a receipt at the end of a session, and taking over what others left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from memories.errors import NoSuchNumber
from memories.search import index_row
from memoryhub.kernel.actor import Actor, WriteContext
from memoryhub.kernel.errors import Forbidden, Problems
from memoryhub.kernel.text import shortened
from projects.models import Project
from projects.services import ProjectWrite, finish, next_number
from tasks.errors import NoSuchReceipt
from tasks.models import Receipt
from tasks.numbers import known_numbers
from tasks.placeholders import is_placeholder
from tasks.search import RECEIPTS
from tasks.services.checks import RECEIPT_FIELDS, digest_of, read_fields
from tasks.services.writing import RETRY_WITHIN, begin, provenance_of


@dataclass(frozen=True)
class HandedOver:
    """A receipt, and the numbers of those it took over. `duplicate`: a retry, nothing was stored again."""

    receipt: Receipt
    acknowledged: list[int] = field(default_factory=list)
    duplicate: bool = False


def check_receipt(*, context: WriteContext, problems: Problems, **given: Any) -> dict[str, Any]:
    """Add what is wrong with a receipt's fields to `problems`; the fields as they would be stored."""
    return read_fields(RECEIPT_FIELDS, given, context, problems, required=("summary",))


def write_handoff(*, actor: Actor, project: Project, **given: Any) -> HandedOver:
    """Store a receipt and acknowledge those that `acknowledges` names, all or nothing.

    Fields: summary, title, tags, done, decisions, next_steps, blockers, unsurfaced_results, references
    (branch, commit, numbers), acknowledges (numbers of receipts). It also ends the telling of review outcomes
    to its author. Raises Invalid, SecretDetected; NoSuchReceipt, NoSuchNumber; what `begin` raises.
    """
    if actor.user is None:
        raise Forbidden("A hand-off is somebody's. Write it as a user.")
    problems = Problems()
    fields = check_receipt(context=actor.context, problems=problems, **given)
    problems.raise_if_any()
    digest = digest_of(given)
    with transaction.atomic():
        write = begin(actor, project)
        if first := _retried(write, digest):
            return HandedOver(first, fields.get("acknowledges", []), duplicate=True)
        taken = _named(write, fields.pop("acknowledges", []))
        _check_references(write, fields.get("references", {}))
        receipt = Receipt(
            project=write.project,
            author=actor.user,
            number=next_number(write),
            created_at=write.at,
            request_digest=digest,
            is_unsurfaced=not is_placeholder(fields.get("unsurfaced_results", "")),
            **fields,
            **provenance_of(actor),
        )
        if not receipt.title.strip():
            receipt.title = _title_from(receipt.summary)
        receipt.save(force_insert=True)
        index_row(RECEIPTS, receipt, is_new=True)
        for other in taken:
            _acknowledge(write, other)
        finish(write)
    return HandedOver(receipt, [other.number for other in taken])


@transaction.atomic
def acknowledge_receipt(*, actor: Actor, receipt: Receipt) -> Receipt:
    """Say that what was handed over is taken on. Who did it first stays.

    Raises NoSuchReceipt, what `begin` raises.
    """
    write = begin(actor, receipt.project)
    (receipt,) = _named(write, [receipt.number])
    if _acknowledge(write, receipt):
        finish(write)
    return receipt


def _acknowledge(write: ProjectWrite, receipt: Receipt) -> bool:
    if receipt.is_acknowledged:
        return False
    actor = write.actor
    receipt.acknowledged_at, receipt.acknowledged_by = write.at, actor.user
    receipt.acknowledged_kind, receipt.acknowledged_token_name = actor.kind, actor.token_name
    receipt.save(
        update_fields=[
            "acknowledged_at",
            "acknowledged_by",
            "acknowledged_kind",
            "acknowledged_token_name",
        ]
    )
    return True


def _named(write: ProjectWrite, numbers: list[int]) -> list[Receipt]:
    """Receipts of the project by number, locked."""
    rows = Receipt.objects.in_project(write.project).standing().with_numbers(numbers)
    found = {receipt.number: receipt for receipt in rows.select_for_update(of=("self",))} if numbers else {}
    for number in numbers:
        if number not in found:
            raise NoSuchReceipt(number)
    return [found[number] for number in numbers]


def _check_references(write: ProjectWrite, references: dict[str, Any]) -> None:
    """What a receipt names is something that its author sees."""
    numbers = references.get("numbers", [])
    known = known_numbers(write.project, write.actor.user, numbers)
    for number in numbers:
        if number not in known:
            raise NoSuchNumber(number)


def _retried(write: ProjectWrite, digest: str) -> Receipt | None:
    """What the same call of the same session stored a moment ago."""
    session = write.actor.context.session
    if not session or write.actor.user is None:
        return None
    mine = Receipt.objects.in_project(write.project).by(write.actor.user)
    since = write.at - RETRY_WITHIN
    return mine.filter(request_digest=digest, session=session, created_at__gte=since).first()


def _title_from(summary: str) -> str:
    """The beginning of the summary, marked where it is cut."""
    return shortened(summary.strip(), Receipt.TITLE_FROM_SUMMARY)
