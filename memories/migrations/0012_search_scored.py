"""How the index is kept: PostgreSQL finds the parts of very long memories, SQLite merges its segments earlier."""

from django.db import migrations

from memories.search import postgres, sqlite


def forwards(apps, schema_editor):
    """No table is changed: a small index is made, or a setting is stored. What scores comes next."""
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "postgresql":
            cursor.execute(postgres.CREATE_PARTS)
        else:
            cursor.execute(sqlite.MERGE_EARLY)


class Migration(migrations.Migration):
    # An index that is built while others write can't be built in a transaction.
    atomic = False

    dependencies = [("memories", "0011_memory_recall_dropped")]
    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
