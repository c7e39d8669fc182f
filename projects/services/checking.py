"""A model's own checks, as our one refusal that names every bad field."""

from __future__ import annotations

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models

from memoryhub.kernel.errors import Problems
from memoryhub.kernel.secret_scan import find_secret
from memoryhub.kernel.text import text_problem


def checked(row: models.Model, problems: Problems | None = None, exclude: tuple[str, ...] = ()) -> None:
    """Run `full_clean` and the text rules. Raises Invalid or SecretDetected with every bad field."""
    problems = problems or Problems()
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if isinstance(field, models.CharField) and isinstance(value, str) and field.name not in exclude:
            problems.add(field.name, text_problem(value, most=field.max_length or 10_000, one_line=True))
    try:
        row.full_clean(exclude={*exclude, *problems.fields})
    except ValidationError as error:
        for name, sentences in error.message_dict.items():
            problems.add("name" if name == NON_FIELD_ERRORS else name, " ".join(sentences))
    problems.raise_if_any()


def checked_name(name: object, *, most: int, field: str = "name") -> str:
    """A one-line name without a secret in it. Raises Invalid or SecretDetected."""
    problems = Problems()
    problems.add(field, text_problem(name, most=most, least=1, one_line=True))
    if not problems and (found := find_secret(str(name))):
        problems.add_secret(field, found.line, found.kind)
    problems.raise_if_any()
    return str(name)
