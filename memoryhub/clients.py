"""The clients that the hub serves: the hook client, one file that is joined from the parts in which it is
developed, and the plugin for OpenClaw, and what agents are told in a repository.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_safe

from memoryhub import __version__
from projects.guides import section, skill

_FOLDER = Path(__file__).parent.parent / "static" / "clients"
PARTS = _FOLDER / "connect"
# In the order in which they stand in the file. The first are compiled at every call, the others when needed.
QUIET = ("head", "files", "where", "rules", "quiet")
LOUD = ("net", "spool", "commits", "statefile", "projecting", "moments", "check")

_PLACE = 'REST = ""\n'
_SIBLING = re.compile(r"^[ ]*from \.\w+ import (?:\([^)]*\)|[^\n(]*)\n", re.MULTILINE)
_FUTURE = "from __future__ import annotations\n"


@cache
def hook_client() -> bytes:
    """The client as one file of Python, in UTF-8."""
    first, *others = (_part(name) for name in QUIET)
    head = "\n\n".join([first, *map(_without_future, others)]).replace("@VERSION@", __version__)
    loud = _FUTURE + "\n\n".join(_without_future(_part(name)) for name in LOUD)
    if "'''" in loud or head.count(_PLACE) != 1:
        raise ValueError("The parts of the hook client can't be joined: look for ''' and for REST.")
    return head.replace(_PLACE, f"REST = r'''\n{loud}'''\n").encode()


@cache
def client_etag() -> str:
    """Moves with every byte of the client."""
    return f'"{hashlib.sha256(hook_client()).hexdigest()[:20]}"'


@require_safe
@cache_control(no_cache=True, public=True)
@condition(etag_func=lambda request: client_etag())
def connect_py(request: HttpRequest) -> HttpResponse:
    """Public: it tells nothing of what a hub holds."""
    return HttpResponse(hook_client(), content_type="text/x-python; charset=utf-8")


@require_safe
@cache_control(no_cache=True, public=True)
def guide_file(request: HttpRequest, name: str) -> HttpResponse:
    """Public, too: what agents are told, as a section of AGENTS.md or as a skill. Raises Http404."""
    texts = {"AGENTS.md": section, "SKILL.md": skill}
    if name not in texts:
        raise Http404
    return HttpResponse(texts[name](), content_type="text/markdown; charset=utf-8")


# The files of the plugin, each with its type.
OPENCLAW = {
    "openclaw.plugin.json": "application/json",
    "package.json": "application/json",
    "index.js": "text/javascript; charset=utf-8",
}


@require_safe
@cache_control(no_cache=True, public=True)
@condition(etag_func=lambda request, name: f'"{hashlib.sha256(_openclaw(name)).hexdigest()[:20]}"')
def openclaw_file(request: HttpRequest, name: str) -> HttpResponse:
    """Public, too: one of the files. Raises Http404."""
    return HttpResponse(_openclaw(name), content_type=OPENCLAW[name])


def _openclaw(name: str) -> bytes:
    if name not in OPENCLAW:
        raise Http404
    return (_FOLDER / "openclaw" / name).read_bytes()


def _without_future(part: str) -> str:
    return part.replace(_FUTURE, "", 1)


def _part(name: str) -> str:
    return _SIBLING.sub("", (PARTS / f"{name}.py").read_text(encoding="utf-8"))
