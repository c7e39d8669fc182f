"""What belongs to no app under `/api/`: the document, and addresses that aren't there."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memoryhub.kernel.errors import NotFound
from memoryhub.kernel.rest.answering import JsonRenderer, refused
from memoryhub.kernel.rest.documenting import document


class Document(APIView):
    """The OpenAPI document, for anybody: it tells nothing of what a hub holds."""

    http_method_names = ["get", "head"]
    authentication_classes = ()
    permission_classes = ()
    renderer_classes = (JsonRenderer,)
    schema = None

    def get(self, request: Request) -> Response:
        return Response(document())


@csrf_exempt  # it refuses whatever comes
def no_such_address(request: HttpRequest, rest: str) -> HttpResponse:
    """JSON for programs, not the page for people."""
    return refused(NotFound("There is no such address. GET /api/v1/schema lists them."))
