"""Tasks and receipts that are there already are found, too: their words in the index of memories.

What `manage.py reindex` would do. The index is derived: if what is to be indexed changes later, that makes it
anew. Run again, it changes nothing.
"""

from django.db import migrations

from memories.search import postgres, sqlite
from memories.search.analyse import analyse
from memories.search.ranking import scoped

SPAN = 2**40
RECEIPT_TEXTS = ("done", "decisions", "next_steps", "blockers", "unsurfaced_results")


def _module(schema_editor):
    return postgres if schema_editor.connection.vendor == "postgresql" else sqlite


def _entries(apps):
    """The id of each entry, its scope, and its texts."""
    tasks = apps.get_model("tasks", "Task").objects.filter(erased_at=None).order_by("pk")
    for task in tasks.prefetch_related("tags").iterator(chunk_size=50):
        names = [tag.name for tag in sorted(task.tags.all(), key=lambda tag: tag.position)]
        yield SPAN + task.pk, f"{task.project_id}t", [task.title, task.summary, task.description, *names]
    receipts = apps.get_model("tasks", "Receipt").objects.filter(erased_at=None).order_by("pk")
    for receipt in receipts.iterator(chunk_size=50):
        title = [] if receipt.summary.startswith(receipt.title.removesuffix("…")) else [receipt.title]
        named = [receipt.references.get(name, "") for name in ("branch", "commit")]
        said = [getattr(receipt, name) for name in RECEIPT_TEXTS]
        texts = [*title, receipt.summary, *said, *named, *receipt.tags]
        yield 2 * SPAN + receipt.pk, f"{receipt.project_id}r", texts


def fill(apps, schema_editor):
    engine = _module(schema_editor)
    with schema_editor.connection.cursor() as cursor:
        for entry_id, scope, texts in _entries(apps):
            tokens = [token for text in texts for token in analyse(text)]
            engine.remove(cursor, entry_id)
            if tokens:
                engine.store(cursor, entry_id, scoped(scope, tokens), len(tokens))


def empty(apps, schema_editor):
    engine = _module(schema_editor)
    with schema_editor.connection.cursor() as cursor:
        for entry_id, _, _ in list(_entries(apps)):
            engine.remove(cursor, entry_id)


class Migration(migrations.Migration):
    dependencies = [("tasks", "0002_erased_at"), ("memories", "0002_search_index")]
    operations = [migrations.RunPython(fill, empty)]
