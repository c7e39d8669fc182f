"""MemoryHub itself as an app: home of the commands and checks that see every other app."""

from __future__ import annotations

from django.apps import AppConfig


class MemoryHubConfig(AppConfig):
    name = "memoryhub"
    label = "memoryhub"
    verbose_name = "MemoryHub"

    def ready(self) -> None:
        from django.conf import settings

        from memories.overview import set_guide
        from memoryhub.exchange.uploads import register_upload
        from memoryhub.importing.kinds import import_kinds
        from memoryhub.kernel.middleware import register_large_bodies
        from memoryhub.mcp.guide import GUIDE

        set_guide(GUIDE)
        for kind in import_kinds():
            register_upload(kind)
        register_large_bodies(r"/api/v1/projects/[^/]+/imports", lambda: settings.IMPORT_MAX_BYTES)
