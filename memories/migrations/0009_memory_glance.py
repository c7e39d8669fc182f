from django.db import migrations, models
from memoryhub.kernel.indexes import AddIndexServing


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('memories', '0008_commits_by_path'),
    ]

    operations = [
        AddIndexServing(
            model_name='memory',
            index=models.Index(fields=['project', 'status', 'weight', 'parent', '-touched_at', 'number', 'visibility', 'author', 'erased_at', 'kind', 'created_at', 'id'], name='memory_glance'),
        ),
    ]
