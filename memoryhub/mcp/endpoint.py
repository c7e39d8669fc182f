"""The HTTP door: a Django view that hands each POST to the SDK's own code, in process.

But for the plain call of a tool (`plain.py`), for which that would be the larger part of the work.

Stateless: a manager per request, so that a restart or another worker is not noticed. The view is
synchronous; it signs the caller in, and the SDK's coroutine runs inside it.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from memoryhub.kernel.calls import note_of
from memoryhub.kernel.errors import DomainError, Forbidden, Invalid, NotFound, Unauthenticated
from memoryhub.kernel.json_text import has_halves, without_halves
from memoryhub.kernel.middleware import too_large
from memoryhub.mcp.driving import drive
from memoryhub.mcp.plain import answer, plain_call
from memoryhub.mcp.server import current_caller, server
from projects.callers import Caller
from projects.services import note_token_use
from projects.signing_in import sign_in_by_token


@csrf_exempt  # the bearer token is no cookie: no other site can make a browser send it
def mcp_view(request: HttpRequest, slug: str = "") -> HttpResponse:
    """`/mcp` and `/mcp/p/<slug>`, which pins the project."""
    response: Any
    note = note_of(request)
    try:
        _check_origin(request)
        if request.method != "POST":
            response = JsonResponse(Invalid("Send MCP messages with POST.").as_dict(), status=405)
            response["Allow"] = "POST"
            return response
        token = sign_in_by_token(request)
        caller = Caller(token.user, token, frozenset(token.rights), pinned_slug=slug, note=note)
        if slug:
            caller.choose_project({}, required=True)
            note.project = slug
        body = _clean_body(request)
        plain = plain_call(request, body)
        response = answer(plain, caller) if plain else drive(_exchange(request, body, caller))
    except DomainError as refusal:
        note.refused(refusal)
        return _refused(refusal)
    # After the answer: what is only bookkeeping must not make an agent wait.
    response._resource_closers.append(lambda: note_token_use(token))
    return response


def _refused(refusal: DomainError) -> JsonResponse:
    response = JsonResponse(refusal.as_dict(), status=refusal.status)
    if isinstance(refusal, Unauthenticated):
        response["WWW-Authenticate"] = 'Bearer realm="MemoryHub", error="invalid_token"'
    if "retry_after" in refusal.details:
        response["Retry-After"] = str(refusal.details["retry_after"])
    return response


def _check_origin(request: HttpRequest) -> None:
    """A browser says where a page is from: only our own may call. Agents send no Origin."""
    origin = request.headers.get("Origin")
    own = f"{request.scheme}://{request.get_host()}"
    if origin and origin not in (own, *settings.CSRF_TRUSTED_ORIGINS):
        raise Forbidden("Pages of other sites can't call this endpoint.")


def _clean_body(request: HttpRequest) -> bytes:
    """The body without halves of surrogate pairs: the two protocol generations treat them differently."""
    try:
        body = request.body
    except RequestDataTooBig:
        raise too_large() from None
    if not has_halves(body):
        return body
    try:
        return json.dumps(without_halves(json.loads(body))).encode()
    except (ValueError, RecursionError):
        return body  # the SDK says what is wrong with it


async def _exchange(request: HttpRequest, body: bytes, caller: Caller) -> HttpResponse:
    """One request and its answer through the SDK."""
    token = current_caller.set(caller)
    try:
        manager = StreamableHTTPSessionManager(
            server,
            json_response=True,
            stateless=True,
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        )
        async with manager.run():
            return await _call_asgi(request, body, manager)
    finally:
        current_caller.reset(token)


async def _call_asgi(
    request: HttpRequest, body: bytes, manager: StreamableHTTPSessionManager
) -> HttpResponse:
    headers = [
        (name.lower().encode("latin-1"), value.strip().encode("latin-1", "replace"))
        for name, value in request.headers.items()
        if name.lower() not in ("content-length", "authorization", "cookie")
    ]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [*headers, (b"content-length", str(len(body)).encode())],
        "client": (request.META.get("REMOTE_ADDR") or "", 0),
        "server": (request.get_host(), None),
        "state": {},
    }
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    status, sent_headers, sent = 500, [], bytearray()

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await anyio.sleep_forever()  # there is no disconnect to report: the view owns the exchange
        raise AssertionError

    async def send(message: Any) -> None:
        nonlocal status, sent_headers
        if message["type"] == "http.response.start":
            status, sent_headers = message["status"], message["headers"]
        elif message["type"] == "http.response.body":
            sent.extend(message.get("body", b""))

    await manager.handle_request(scope, receive, send)
    response = HttpResponse(bytes(sent), status=status, content_type="application/json")
    for name, value in sent_headers:
        if name.lower() not in (b"content-length", b"connection", b"transfer-encoding"):
            response[name.decode("latin-1")] = value.decode("latin-1")
    return response


def well_known(request: HttpRequest, path: str) -> JsonResponse:
    """JSON for clients that look for an authorization server: there is none, tokens are made by hand."""
    refusal = NotFound(
        "There is no such document. Agents sign in with an access token made on the Connect page."
    )
    return JsonResponse(refusal.as_dict(), status=404)
