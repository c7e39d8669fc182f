"""When a task or a receipt was erased. Every reading asks for it, so it stands before the long texts."""

from django.db import migrations, models

LONG_TEXTS = {
    "Task": ("description",),
    "Receipt": ("done", "decisions", "next_steps", "blockers", "unsurfaced_results"),
}


def long_texts_last(apps, schema_editor):
    """On SQLite a new column comes last, and reading it means reading past the texts of every row. The table is
    made anew, as for any change that SQLite can't do in place; its columns follow the fields' counters.
    """
    if schema_editor.connection.vendor != "sqlite":
        return
    for name, texts in LONG_TEXTS.items():
        model = apps.get_model("tasks", name)
        for text in texts:
            model._meta.get_field(text).creation_counter += 1_000_000
        schema_editor._remake_table(model)


class Migration(migrations.Migration):
    dependencies = [("tasks", "0001_initial")]

    operations = [
        migrations.AddField("receipt", "erased_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("task", "erased_at", models.DateTimeField(editable=False, null=True)),
        migrations.RunPython(long_texts_last, migrations.RunPython.noop),
    ]
