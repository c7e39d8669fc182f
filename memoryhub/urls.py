"""Every address of the hub: its own few here, the rest in the apps."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from memoryhub.api import Document, no_such_address
from memoryhub.clients import connect_py, guide_file, openclaw_file
from memoryhub.health import healthz, readyz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("clients/connect.py", connect_py, name="hook_client"),
    path("clients/guide/<str:name>", guide_file, name="guide_file"),
    path("clients/openclaw/<str:name>", openclaw_file, name="openclaw_file"),
    path("admin/", admin.site.urls),
    path("", include("memoryhub.mcp.urls")),
    path("api/v1/", include("memories.api.urls")),
    path("api/v1/", include("tasks.api.urls")),
    path("api/v1/", include("hygiene.api")),
    path("api/v1/", include("memoryhub.projections.api")),
    path("api/v1/", include("memoryhub.importing.api")),
    path("api/v1/", include("memoryhub.exchange.api")),
    path("api/v1/schema", Document.as_view(), name="schema"),
    path("api/<path:rest>", no_such_address),
    path("", include("projects.urls")),
    path("", include("memories.urls")),
    path("", include("tasks.urls")),
    path("", include("hygiene.urls")),
    path("", include("memoryhub.projections.urls")),
    path("", include("memoryhub.exchange.urls")),
]

handler400 = "memoryhub.failing.bad_request"
handler403 = "memoryhub.failing.forbidden"
handler404 = "memoryhub.failing.not_found"
handler500 = "memoryhub.failing.server_error"
