"""The search index: derived tables of the engine's own, outside the models, rebuilt by `reindex`."""

from django.db import migrations

from memories.search import postgres, sqlite


def _module(schema_editor):
    return postgres if schema_editor.connection.vendor == "postgresql" else sqlite


def create(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        _module(schema_editor).create(cursor)


def drop(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        _module(schema_editor).drop(cursor)


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
