"""Several management commands in one process: a start of Python costs more than most of them.

Reads a JSON list of command lines from standard input, writes the JSON list of their outputs.
"""

from __future__ import annotations

import io
import json
import os
import sys

import django
from django.core.management import call_command


def main() -> None:
    """Run them in order. The first refusal ends it, with its sentence."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    django.setup()
    outputs = []
    for command in json.load(sys.stdin):
        output = io.StringIO()
        call_command(*command, stdout=output)
        outputs.append(output.getvalue())
    json.dump(outputs, sys.stdout)


if __name__ == "__main__":
    main()
