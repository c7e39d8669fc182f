"""What a store holds, as JSON: python -m tests.faults.look"""

from __future__ import annotations

import io
import json
from typing import Any

import django


def main() -> None:
    """Print everything that the scribes of a test may have written, and the doctor's report."""
    django.setup()
    from django.core.management import call_command

    from memories.models import Memory, Revision
    from projects.models import Project
    from tasks.models import Checkpoint, Receipt, Task

    said = io.StringIO()
    try:
        call_command("doctor", stdout=said)
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    versions: dict[int, list[int]] = {}
    for memory, version in Revision.objects.order_by("memory", "version").values_list(
        "memory__number", "version"
    ):
        versions.setdefault(memory, []).append(version)
    fields = ("number", "title", "summary", "version", "status", "parent__number")
    found: dict[str, Any] = {
        "doctor": {"code": code, "said": said.getvalue()},
        "memories": [
            {**row, "versions": versions.pop(row["number"], [])}
            for row in Memory.objects.order_by("number").values(*fields)
        ],
        "revisions_of_nothing": versions,
        "tasks": list(Task.objects.order_by("number").values("number", "title", "claim_session")),
        "receipts": list(Receipt.objects.order_by("number").values("number", "summary")),
        "checkpoints": list(Checkpoint.objects.order_by("stream").values("stream", "objective", "version")),
        "last_number": Project.objects.get().last_number,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
