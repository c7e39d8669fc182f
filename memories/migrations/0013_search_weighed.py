"""How the index is asked: PostgreSQL scores the words that an entry has, not all that are asked for."""

from django.db import migrations

from memories.search import postgres


def forwards(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(postgres.CREATE_WEIGHED)


class Migration(migrations.Migration):
    dependencies = [("memories", "0012_search_scored")]
    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
