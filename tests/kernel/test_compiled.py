"""Compiled querysets: the rows of the queryset, with other values each time, a statement a connection."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, connections
from django.db.models import Model, Prefetch
from django.test.utils import CaptureQueriesContext

from memories.models import Memory, Tag
from memoryhub.kernel.compiled import Compiled, padded
from projects.models import Project, User
from tests.factories import ProjectFactory
from tests.memories.verbs import add

pytestmark = pytest.mark.django_db


def _seen(reader: int, project: int, title: str) -> object:
    user = User(pk=reader)
    found = Memory.objects.in_project(Project(pk=project)).visible_to(user).for_rows(user)
    return found.filter(title=title).order_by("number")


def test_answers_as_the_queryset_with_each_reader(alice: User, bob: User, project: Project) -> None:
    for visibility in ("shared", "private"):
        add(alice, project, title="Deploys", summary=f"Said {visibility}.", visibility=visibility)
    compiled = Compiled(_seen)
    for user in (alice, bob, alice):
        rows = compiled.rows(reader=user.pk, project=project.pk, title="Deploys")
        assert rows == list(_seen(user.pk, project.pk, "Deploys"))
    assert len(rows) == 2
    assert compiled.rows(reader=alice.pk, project=project.pk, title="Else") == []
    assert compiled.first(reader=alice.pk, project=project.pk, title="Else") is None


def test_what_is_prefetched_comes_along(alice: User, project: Project) -> None:
    add(alice, project, title="Deploys", tags=["one", "two"])
    add(alice, project, title="Deploys", summary="Another.", tags=[])
    compiled = Compiled(_seen)
    compiled.rows(reader=alice.pk, project=project.pk, title="Deploys")
    with CaptureQueriesContext(connection) as asked:
        rows = compiled.rows(reader=alice.pk, project=project.pk, title="Deploys")
        assert [row.tag_names for row in rows] == [["one", "two"], []]
        assert {row.author.username for row in rows} == {"alice"}
    assert len(asked) == 2


def test_what_is_known_of_a_value_is_the_same_on_the_hundredth_call(alice: User, project: Project) -> None:
    by_slug = Compiled(lambda slug: Project.objects.at(slug)[:1])
    other = ProjectFactory(slug="other")
    for slug, found in [("harbor", project), ("other", other), ("' OR 1=1 --", None), ("%s", None)] * 25:
        assert by_slug.first(slug=slug) == found


def test_a_value_that_no_parameter_takes_is_a_mistake(project: Project) -> None:
    with pytest.raises(ValueError, match="takes: reader"):
        Compiled(lambda reader, project: Project.objects.filter(pk=project)).rows(
            reader=1, project=project.pk
        )


def test_a_statement_is_compiled_once_and_runs_on_the_connection_of_each_thread(project: Project) -> None:
    built: list[str] = []

    def build(slug: str) -> object:
        built.append(slug)
        return Project.objects.at(slug).values_list("slug", flat=True)

    by_slug = Compiled(build)  # type: ignore[arg-type]
    assert by_slug.rows(slug="harbor") == ["harbor"]
    failed: list[BaseException] = []
    asked: list[int] = []

    def elsewhere() -> None:
        try:
            with CaptureQueriesContext(connections["default"]) as queries:
                by_slug.rows(slug="harbor")
            asked.append(len(queries))
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=elsewhere) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    # Each thread's own connection was asked, which no other may use.
    assert asked == [1, 1, 1]
    assert len(built) == 1


def test_what_a_prefetch_narrows_comes_along(alice: User, project: Project) -> None:
    add(alice, project, title="Deploys", tags=["one", "two"])
    some = Prefetch("tags", queryset=Tag.objects.filter(name="two").only("memory", "name"))
    compiled = Compiled(lambda project: Memory.objects.filter(project=project).prefetch_related(some))
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            [row] = compiled.rows(project=project.pk)
            assert row.tag_names == ["two"]
        assert len(asked) == 2


@pytest.mark.parametrize(("many", "full"), [(1, 10), (10, 10), (11, 20)])
def test_padded_repeats_the_last(many: int, full: int) -> None:
    values = padded(range(many))
    assert list(values.values()) == [*range(many), *[many - 1] * (full - many)]


def test_several_are_asked_before_the_first_is_read(alice: User, bob: User, project: Project) -> None:
    for name in ("one", "two", "three"):
        add(alice, project, title="Deploys", summary=f"Said {name}.", tags=[name])
        add(alice, project, title="Restores", summary=f"Asked {name}.", tags=[name, "more"])
    compiled = Compiled(_seen)
    titles = ("Deploys", "Restores", "Nothing", "Deploys")
    asked = [compiled.ask(reader=alice.pk, project=project.pk, title=title) for title in titles]
    fetched = [each.fetch() for each in asked]
    found = [[row.tag_names for row in each.rows()] for each in reversed(fetched)]
    deploys, restores = [["one"], ["two"], ["three"]], [["one", "more"], ["two", "more"], ["three", "more"]]
    assert found == [deploys, [], restores, deploys]
    assert [row.tag_names for row in asked[0].rows()] == deploys, "read again"


def test_what_is_prefetched_is_asked_for_before_the_rows_are_read(alice: User, project: Project) -> None:
    """Where their ids are known. A row that isn't there has no parts."""
    for name in ("one", "two"):
        add(alice, project, title="Deploys", summary=f"Said {name}.", tags=[name])
    gone = add(alice, project, title="Restores", tags=["three"])
    ids = [memory.pk for memory in Memory.objects.order_by("number")]
    compiled = Compiled(lambda title: Memory.objects.filter(title=title).prefetch_related("tags"))
    with CaptureQueriesContext(connection) as asked:
        found = compiled.ask(title="Deploys").with_parts_of(ids)
        assert len(asked) == 2
        assert {row.pk: row.tag_names for row in found.rows()} == {ids[0]: ["one"], ids[1]: ["two"]}
        assert sorted(row.tag_names for row in found.rows()) == [["one"], ["two"]], "read again"
    assert len(asked) == 2
    assert gone.memory.pk in ids


def test_what_is_written_after_a_question_is_not_in_its_answer(alice: User, project: Project) -> None:
    for number in range(3):
        add(alice, project, title="Deploys", summary=f"Said {number}.")
    asked = Compiled(lambda title: Memory.objects.filter(title=title).order_by("pk")).ask(title="Deploys")
    add(alice, project, title="Deploys", summary="Said since.")
    assert len(asked.rows()) == 3


def test_a_row_is_what_django_makes_of_it(alice: User, project: Project) -> None:
    """But for the constructor's detour: the same values, and what wasn't asked for is loaded when wanted."""
    add(alice, project, title="Deploys", body="On Fridays.", tags=["one"])
    quick = Memory.objects.defer("body").get(title="Deploys")
    names = [name for name in vars(quick) if name != "_state"]
    plain = Model.from_db.__func__(Memory, "default", names, [vars(quick)[name] for name in names])
    assert {name: vars(plain)[name] for name in names} == {name: vars(quick)[name] for name in names}
    assert vars(quick).keys() == vars(plain).keys()
    assert (quick._state.db, quick._state.adding) == ("default", False)
    assert "body" not in vars(quick)
    assert quick.body == "On Fridays."
    quick.save(update_fields=["title"])
    assert quick == Memory.objects.get(pk=quick.pk)
