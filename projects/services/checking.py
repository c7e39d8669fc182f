"""A model's own checks, as our one refusal that names every bad field."""

from __future__ import annotations

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models

from memoryhub.kernel.errors import Problems
from memoryhub.kernel.secret_scan import find_secret
from memoryhub.kernel.text import text_problem

_LONGEST = 10_000


def checked(row: models.Model, problems: Problems | None = None, exclude: tuple[str, ...] = ()) -> None:
    """Run `full_clean`, the text rules and the secret scan; a `name` is never white space alone.

    Raises Invalid or SecretDetected with every bad field.
    """
    problems = Problems() if problems is None else problems
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if isinstance(field, models.CharField) and isinstance(value, str) and field.name not in exclude:
            least = 1 if field.name == "name" else 0
            check_line(problems, field.name, value, most=field.max_length or _LONGEST, least=least)
    try:
        row.full_clean(exclude={*exclude, *problems.fields})
    except ValidationError as error:
        for name, sentences in error.message_dict.items():
            # What a constraint says of several columns: a name that is taken in another case.
            named = str(getattr(row, "USERNAME_FIELD", "name")) if name == NON_FIELD_ERRORS else name
            problems.add(named, " ".join(sentences))
    problems.raise_if_any()


def check_line(problems: Problems, field: str, text: object, *, most: int, least: int = 0) -> None:
    """Add what is wrong with one line of text, a secret in it included."""
    problem = text_problem(text, most=most, least=least, one_line=True)
    problems.add(field, problem)
    if problem is None and (found := find_secret(str(text))):
        problems.add_secret(field, found.line, found.kind)
