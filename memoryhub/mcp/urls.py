from django.urls import path

from memoryhub.mcp.endpoint import mcp_view, well_known

urlpatterns = [
    # Both with and without the slash: a POST can't be redirected.
    path("mcp", mcp_view),
    path("mcp/", mcp_view, name="mcp"),
    path("mcp/p/<slug:slug>", mcp_view),
    path("mcp/p/<slug:slug>/", mcp_view, name="mcp_project"),
    path(".well-known/<path:path>", well_known),
]
