from __future__ import annotations

from typing import Any

from memoryhub.reference import FOLDER, PAGES
from projects.commands import HubCommand


class Command(HubCommand):
    help = "Write docs/reference from what runs. For developers, after a change of tools, errors or settings."

    def run(self, **options: Any) -> None:
        for name, page in PAGES.items():
            (FOLDER / name).write_text(page(), encoding="utf-8")
            self.say(f"Wrote docs/reference/{name}.")
