"""By what an entry is known again when it is brought again, whatever became of it here.

A keyed hash: who sees it can't try texts until one fits, as of an erased memory. With another signing key
an entry is known by its text alone.
"""

from __future__ import annotations

import json
import uuid

from django.utils.crypto import salted_hmac

from memories.models import Visibility
from memoryhub.importing.candidates import Candidate
from projects.models import Project, User


def uid_of(candidate: Candidate, project: Project, visibility: str, user: User) -> str:
    """The uid of the memory that an entry becomes: of what it says, not of the file that it stands in.

    Somebody's private one is theirs alone: the same entry of another is another.
    """
    said = [
        str(project.uid),
        str(user.pk) if visibility == Visibility.PRIVATE else visibility,
        candidate.kind,
        candidate.title,
        candidate.summary,
        candidate.body,
        candidate.details,
        candidate.tags,
        candidate.hints,
        candidate.scopes,
        candidate.hardness,
        candidate.lines,
    ]
    text = json.dumps(said, sort_keys=True, ensure_ascii=True)
    digest = salted_hmac("memoryhub.importing", text, algorithm="sha256").digest()
    return str(uuid.UUID(bytes=digest[:16], version=5))
