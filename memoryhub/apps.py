"""MemoryHub itself as an app: home of the commands and checks that see every other app."""

from __future__ import annotations

from django.apps import AppConfig


class MemoryHubConfig(AppConfig):
    name = "memoryhub"
    label = "memoryhub"
    verbose_name = "MemoryHub"

    def ready(self) -> None:
        from memories.overview import set_guide
        from memoryhub.mcp.guide import GUIDE

        set_guide(GUIDE)
