from __future__ import annotations

from typing import Any

from memoryhub.demo.loading import load_demo
from projects.commands import HubCommand


class Command(HubCommand):
    help = (
        "Load the demo: MemoryHub's own project memory and an untidy one, two users and a token, "
        "printed on the last line."
    )

    def run(self, **options: Any) -> None:
        for line in load_demo().lines():
            self.say(line)
