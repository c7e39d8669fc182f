import memories.models.looks
from django.db import migrations, models
from memoryhub.kernel.indexes import AddIndexServing


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('memories', '0009_memory_glance'),
    ]

    operations = [
        AddIndexServing(
            model_name='memory',
            index=models.Index(models.F('project'), models.F('status'), memories.models.looks.SummaryLook('summary'), name='memory_summary_look'),
        ),
    ]
