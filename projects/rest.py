"""The REST door's views: who calls, the project they mean, and the one tool that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memoryhub.kernel.actor import Door
from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.rest.answering import JsonRenderer, TextRenderer
from memoryhub.kernel.rest.endpoints import Endpoint
from memoryhub.kernel.tools import Right
from projects.callers import Caller
from projects.services import note_token_use


def caller_of(request: Request, slug: str) -> Caller:
    """Whoever signed in, with the rights of the token; at a page a person has all that their role has."""
    token = request.auth
    rights = frozenset(Right) if token is None else frozenset(token.rights)
    return Caller(request.user, token, rights, pinned_slug=slug, door=Door.REST)


class ApiView(APIView):
    """An address of the API: its methods are endpoints."""

    http_method_names = ["get", "head", "post", "patch", "put"]

    def get_renderers(self) -> list[Any]:
        endpoint = getattr(getattr(self, self.request.method.lower(), None), "endpoint", None)
        return [TextRenderer() if endpoint is not None and endpoint.is_text else JsonRenderer()]

    def use(self, endpoint: Endpoint, request: Request, path: Mapping[str, Any]) -> Response:
        """Load with permission, check the shape, call the one tool, answer."""
        caller = caller_of(request, path.get("slug", ""))
        problems, note = Problems(), note_of(request._request)
        note.name = endpoint.name or endpoint.tool.name
        if "slug" in path:
            caller.choose_project({}, required=True)
            note.project = caller.project.slug
        given = endpoint.given(request, path, problems)
        caller.check_right(endpoint.tool.right_to(given))
        return endpoint.response(request, endpoint.tool.use(caller, given, problems))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        token = getattr(request, "_auth", None)
        if token is not None:
            # After the answer: what is only bookkeeping must not make a script wait.
            response._resource_closers.append(lambda: note_token_use(token))
        return response
