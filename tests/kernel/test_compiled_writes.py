"""Compiled writes: the row that saving it would have stored, by a statement a connection."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.forms.models import model_to_dict
from django.test.utils import CaptureQueriesContext

from hygiene.models import SimilarPair
from memories.models import Memory, Revision, SummaryKey, Tag
from memoryhub.kernel.compiled_writes import Insert, Update, insert_together
from projects.models import Project, User
from tests.memories.verbs import add

pytestmark = pytest.mark.django_db


def _stored(row: Memory | Revision) -> dict[str, object]:
    found = type(row)._default_manager.get(pk=row.pk)
    return {field.attname: getattr(found, field.attname) for field in found._meta.concrete_fields}


def _memory(project: Project, author: User, number: int, **given: object) -> Memory:
    at = dt.datetime(2026, 3, 1, 12, 30, 0, 123456, tzinfo=dt.UTC)
    moments = {"created_at": at, "updated_at": at, "touched_at": at, "summary_changed_at": at}
    fixed = {"kind": "fact", "origin": "user", "title": "“Ä” %s", "summary": "'%'"}
    return Memory(project=project, author=author, number=number, **fixed, **moments, **given)


def test_a_row_is_what_saving_it_would_have_stored(project: Project, alice: User) -> None:
    given = {
        "details": {"a": ["é", 1.5, None]},
        "retrieval_hints": ["x"],
        "body": "%s " * 9,
        "verified_by": alice,
    }
    saved = _memory(project, alice, 1, **given)
    saved.save(force_insert=True)
    insert = Insert(Memory)
    for number in (2, 3):
        mine = insert.one(_memory(project, alice, number, **given))
        assert mine.pk
        assert not mine._state.adding
        its, own = _stored(saved), _stored(mine)
        assert {key for key in its if its[key] != own[key]} == {"id", "uid", "number"}
    mine.title = "Changed"
    mine.save(update_fields=["title"])
    assert model_to_dict(Memory.objects.get(pk=mine.pk))["title"] == "Changed"


def test_several_at_once_and_none(project: Project, alice: User) -> None:
    memory = add(alice, project, tags=[]).memory
    insert = Insert(Tag)
    insert.many([])
    insert.many([Tag(memory=memory, name=name, position=at) for at, name in enumerate(("b", "a"))])
    assert memory.tag_names == ["b", "a"]


def test_what_is_there_already_is_left_updated_or_refused(project: Project, alice: User) -> None:
    one, other = (add(alice, project, title=title).memory for title in ("One", "Other"))
    pairs = Insert(SimilarPair, ignore_conflicts=True)
    SimilarPair.objects.all().delete()
    for _ in range(2):
        pairs.many([SimilarPair(first=one, second=other)])
    assert SimilarPair.objects.count() == 1
    keys = Insert(SummaryKey, unique=("memory",), update=("key",))
    for key in ("k1", "k2"):
        keys.one(SummaryKey(memory=one, key=key))
    assert SummaryKey.objects.get(memory=one).key == "k2"
    with pytest.raises(IntegrityError), transaction.atomic():
        Insert(Memory).one(_memory(project, alice, one.number))


def test_fields_are_stored_by_the_rows_id(project: Project) -> None:
    project.last_number, project.name = 7, "Not stored"
    Update(Project, "last_number")(project)
    found = Project.objects.get(pk=project.pk)
    assert (found.last_number, found.name) == (7, Project.objects.get(slug=project.slug).name)
    assert found.name != "Not stored"


def test_every_connection_has_its_own_statement(project: Project, alice: User) -> None:
    insert = Insert(Tag)
    insert.many([Tag(memory=add(alice, project, tags=[]).memory, name="a", position=0)])
    assert (insert, False) in vars(connections["default"])["_memoryhub_compiled_writes"]


def test_rows_of_several_models_go_together(project: Project, alice: User) -> None:
    """Also none of a model, and one that has its id already."""
    insert, tags, keys = Insert(Memory), Insert(Tag), Insert(SummaryKey)
    memory = _memory(project, alice, 7)
    ahead = insert.ask_id()
    memory.pk = ahead() if ahead else insert.one(_memory(project, alice, 8)).pk + 1
    names = [Tag(memory=memory, name=name, position=at) for at, name in enumerate(("one", "two"))]
    with CaptureQueriesContext(connection) as asked:
        insert_together(
            (insert, [memory]), (tags, names), (tags, []), (keys, [SummaryKey(memory=memory, key="k")])
        )
    assert len(asked) == (1 if connection.vendor == "postgresql" else 3)
    found = Memory.objects.get(number=7)
    assert (found.pk, found.tag_names, found.summarised.key) == (memory.pk, ["one", "two"], "k")
    assert not memory._state.adding
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_together((tags, names), (keys, [SummaryKey(memory=memory, key="other")]))
    assert found.tags.count() == 2
