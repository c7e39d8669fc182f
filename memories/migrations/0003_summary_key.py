"""A key for each summary in the index, so that the same summary is found under another title."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0002_search_index")]
    operations = [
        migrations.CreateModel(
            name="SummaryKey",
            fields=[
                (
                    "memory",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="summarised",
                        serialize=False,
                        to="memories.memory",
                    ),
                ),
                ("key", models.CharField(max_length=64)),
            ],
            options={"indexes": [models.Index(fields=["key"], name="summary_key")]},
        ),
    ]
