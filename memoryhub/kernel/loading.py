"""Rows that come from the database as they are, without the detour that Django takes for each."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self

from django.db.models import Model
from django.db.models.base import ModelState


class Loaded(Model):
    """A model whose rows are made from the database's values at once.

    Django calls the constructor, which looks at every field for a default and sends two signals: a page of
    twenty rows with their tags and authors is a hundred objects. The models of the hub have no constructor of
    their own, and nobody listens. A column that wasn't asked for is loaded when it is looked at, as ever.
    https://docs.djangoproject.com/en/stable/ref/models/instances/#customizing-model-loading
    """

    class Meta:
        abstract = True

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], *, fetch_mode: Any = None
    ) -> Self:
        row = cls.__new__(cls)
        row.__dict__.update(zip(field_names, values, strict=True))
        row._state = state = ModelState()
        state.adding, state.db = False, db
        if fetch_mode is not None:  # of Django 6.1 and newer
            state.fetch_mode = fetch_mode
        return row
