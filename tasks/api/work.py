"""Tasks, receipts and the context: each address with the tool that answers there."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from memories.listing import PAGE_DEFAULT, PAGE_MAX
from memories.presenting import when
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.arguments import Argument, Arguments, Context, Count, Flag, Number
from memoryhub.kernel.rest import endpoint
from memoryhub.kernel.snapshots import read_snapshot
from memoryhub.kernel.tools import Right, Tool
from projects.callers import Caller
from projects.rest import ApiView
from tasks import tools, tools_continuity  # noqa: F401 - declare the tools that are named here
from tasks.api import shapes
from tasks.errors import NoSuchReceipt
from tasks.listing_kept import ReceiptFilter, list_receipts
from tasks.models import Receipt
from tasks.numbers import find_receipt
from tasks.presenting import receipt_row, receipt_whole, task_whole
from tasks.services import acknowledge_receipt
from tasks.tools import the_task

OF_NUMBER = {"number": "ref"}
_REF = Number(required=True)


def the_receipt(caller: Caller, number: int) -> Receipt:
    """The receipt of the call's project with this number. Raises NoSuchReceipt."""
    receipt = find_receipt(caller.project, caller.user, number)
    if receipt is None:
        raise NoSuchReceipt(number)
    return receipt


def _task(caller: Caller, ref: int) -> dict[str, Any]:
    with read_snapshot():
        return task_whole(the_task(caller, ref), caller.user, timezone.now())


def _receipt(caller: Caller, ref: int) -> dict[str, Any]:
    with read_snapshot():
        return receipt_whole(the_receipt(caller, ref), caller.user)


def _receipts(caller: Caller, limit: int = PAGE_DEFAULT, cursor: str = "", **wanted: Any) -> dict[str, Any]:
    page = list_receipts(caller.project, caller.user, ReceiptFilter(**wanted), limit=limit, cursor=cursor)
    return page.answer([receipt_row(receipt) for receipt in page.items])


def _acknowledge(caller: Caller, ref: int, write_context: WriteContext) -> dict[str, Any]:
    receipt = acknowledge_receipt(actor=caller.actor(write_context), receipt=the_receipt(caller, ref))
    return {
        "result": "applied",
        "number": receipt.number,
        "acknowledged_by": receipt.acknowledger,
        "acknowledged_at": when(receipt.acknowledged_at),
    }


# Agents get whatever a number names, and receipts with the context; an address has what it is named after.
_TASK_GET = Tool(
    "task_get", "A task in full with its version.", _task, Right.READ, Arguments({"ref": _REF}), True, False
)
_RECEIPT_GET = Tool(
    "receipt_get", "A receipt in full.", _receipt, Right.READ, Arguments({"ref": _REF}), True, False
)
_RECEIPT_LIST = Tool(
    "receipt_list",
    "Receipts, newest first.",
    _receipts,
    Right.READ,
    Arguments(
        {
            "acknowledged": Flag(),
            "unsurfaced": Flag("With results that no person was told"),
            "limit": Count(most=PAGE_MAX),
            "cursor": Argument(),
        }
    ),
    True,
    False,
)
_ACKNOWLEDGE = Tool(
    "receipt_acknowledge",
    "Say that what was handed over is taken on. Who did it first stays.",
    _acknowledge,
    Right.WRITE,
    Arguments({"ref": _REF, "write_context": Context()}),
    True,
    False,
)


class TaskList(ApiView):
    get = endpoint("task_list", shapes.TASK_PAGE)
    post = endpoint("task_create", shapes.TASK_WRITTEN, creates=True, of_version=True)


class OneTask(ApiView):
    get = endpoint(_TASK_GET, shapes.TASK, path=OF_NUMBER, of_version=True)
    patch = endpoint("task_update", shapes.TASK_WRITTEN, path=OF_NUMBER, versioned=True, of_version=True)


class Claim(ApiView):
    post = endpoint(
        "task_claim",
        shapes.CLAIMED,
        "Take a task for so many minutes; again: extend it.",
        path=OF_NUMBER,
        takes=("minutes", "write_context"),
    )


class Release(ApiView):
    post = endpoint(
        "task_claim",
        shapes.CLAIMED,
        "Give the claim on a task back.",
        name="task_release",
        path=OF_NUMBER,
        fixed={"release": True},
        takes=("write_context",),
    )


class ReceiptList(ApiView):
    get = endpoint(_RECEIPT_LIST, shapes.RECEIPT_PAGE)
    post = endpoint("handoff_write", shapes.HANDED_OVER, creates=True)


class OneReceipt(ApiView):
    get = endpoint(_RECEIPT_GET, shapes.RECEIPT, path=OF_NUMBER)


class Acknowledge(ApiView):
    post = endpoint(_ACKNOWLEDGE, shapes.ACKNOWLEDGED, path=OF_NUMBER)


class ContextView(ApiView):
    get = endpoint("continuity_context", shapes.CONTEXT)
