"""What a page says after something was done: in force or proposed, with the advice on it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest

from memories.models import Memory
from memories.services import Applied, Pending
from memories.wording import waits_sentence


def tell(request: HttpRequest, result: Applied | Pending | Memory, said: str) -> None:
    """For the next page: `said` of what is in force, else that it waits; then the hints."""
    messages.success(request, waits_sentence(result.ref) if isinstance(result, Pending) else said)
    for hint in result.hints if isinstance(result, (Applied, Pending)) else ():
        messages.info(request, hint.message)
