from django.db import migrations, models


def unlogged(apps, schema_editor):
    """On PostgreSQL a count of a minute needs no log: a crash may forget it, and no call waits for a disk."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE projects_tally SET UNLOGGED")
        schema_editor.execute("ALTER TABLE projects_tally SET (fillfactor = 50)")


class Migration(migrations.Migration):
    dependencies = [("projects", "0002_calls")]

    operations = [
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("minute", models.BigIntegerField()),
                ("calls", models.BigIntegerField()),
            ],
        ),
        migrations.RunPython(unlogged, migrations.RunPython.noop),
    ]
