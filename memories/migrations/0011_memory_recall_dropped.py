from django.db import migrations
from memoryhub.kernel.indexes import RemoveIndexServing


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('memories', '0010_memory_summary_look'),
    ]

    operations = [
        RemoveIndexServing(
            model_name='memory',
            name='memory_recall',
        ),
    ]
