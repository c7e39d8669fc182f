"""Writes that wait for no answer: what is read sees them, and what fails takes all of them back."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from memories.models import Memory, Tag
from memoryhub.kernel.compiled_writes import Insert
from memoryhub.kernel.snapshots import unanswered
from projects.models import Project
from tests.factories import MemoryFactory

_tags = Insert(Tag)


def _tag(memory: Memory, name: str) -> None:
    _tags.many([Tag(memory=memory, name=name, position=7)])


@pytest.mark.django_db(transaction=True)
def test_what_is_read_sees_what_was_written_without_waiting(project: Project) -> None:
    memory = MemoryFactory(project=project, tags=["one"])
    with transaction.atomic(), unanswered():
        _tag(memory, "two")
        assert set(memory.tags.values_list("name", flat=True)) == {"one", "two"}
        _tag(memory, "three")
    assert memory.tags.count() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("after", ["nothing", "a write", "a read"])
def test_what_fails_says_so_as_ever_and_takes_back_all(project: Project, after: str) -> None:
    memory = MemoryFactory(project=project, tags=["one"])

    def write() -> None:
        with transaction.atomic(), unanswered():
            _tag(memory, "two")
            _tag(memory, "one")
            if after == "a write":
                _tag(memory, "three")
            if after == "a read":
                memory.tags.count()

    with pytest.raises(IntegrityError):
        write()
    assert list(memory.tags.values_list("name", flat=True)) == ["one"]
    assert not connection.in_atomic_block
    with transaction.atomic(), unanswered():
        _tag(memory, "two")
    assert memory.tags.count() == 2
