"""Every address of the hub: its own few here, the rest in the apps."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from memoryhub.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("", include("memoryhub.mcp.urls")),
    path("", include("projects.urls")),
    path("", include("memories.urls")),
    path("", include("hygiene.urls")),
]
