"""The keys of the summaries that are stored already."""

from django.db import migrations

from memories.keys import summary_key


def fill(apps, schema_editor):
    Memory = apps.get_model("memories", "Memory")
    SummaryKey = apps.get_model("memories", "SummaryKey")
    rows = Memory.objects.filter(erased_at=None).exclude(status="archived").exclude(summary="")
    batch = []
    for pk, summary in rows.values_list("pk", "summary").iterator(chunk_size=1000):
        key = summary_key(summary)
        if key:
            batch.append(SummaryKey(memory_id=pk, key=key))
        if len(batch) == 1000:
            SummaryKey.objects.bulk_create(batch, ignore_conflicts=True)
            batch = []
    SummaryKey.objects.bulk_create(batch, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [("memories", "0003_summary_key")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
