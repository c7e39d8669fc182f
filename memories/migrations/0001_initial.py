import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('projects', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('project', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='memories', to='projects.project')),
                ('number', models.PositiveIntegerField(editable=False)),
                ('kind', models.CharField(choices=[('decision', 'decision'), ('constraint', 'constraint'), ('pipeline', 'pipeline'), ('fact', 'fact'), ('preference', 'preference'), ('note', 'note'), ('session_summary', 'session summary')], max_length=20)),
                ('title', models.CharField(max_length=120)),
                ('summary', models.TextField(blank=True)),
                ('hardness', models.CharField(blank=True, choices=[('absolute', 'absolute'), ('advisory', 'advisory')], max_length=10)),
                ('weight', models.CharField(choices=[('critical', 'critical'), ('normal', 'normal'), ('low', 'low')], default='normal', max_length=10)),
                ('visibility', models.CharField(choices=[('private', 'private'), ('shared', 'shared'), ('public', 'public')], default='shared', max_length=10)),
                ('status', models.CharField(choices=[('active', 'active'), ('superseded', 'superseded'), ('archived', 'archived')], default='active', editable=False, max_length=12)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='memories.memory')),
                ('origin', models.CharField(choices=[('user', 'user'), ('agent', 'agent'), ('import', 'import')], editable=False, max_length=10)),
                ('author', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='memories', to=settings.AUTH_USER_MODEL)),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('verified_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('verified_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('summary_changed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('touched_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('archived_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('archive_reason', models.TextField(blank=True, editable=False)),
                ('erased_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('duplicate_key', models.CharField(editable=False, max_length=64)),
                ('retrieval_hints', models.JSONField(blank=True, default=list)),
                ('details', models.JSONField(blank=True, default=dict)),
                ('body', models.TextField(blank=True)),
            ],
            options={
                'verbose_name_plural': 'memories',
                'ordering': ('-number',),
                'indexes': [models.Index(fields=['project', 'status', 'weight', 'parent', '-touched_at', 'number', 'visibility', 'author', 'erased_at'], name='memory_recall'), models.Index(fields=['project', 'status', '-number'], name='memory_list'), models.Index(fields=['parent', 'status', 'number'], name='memory_children'), models.Index(fields=['project', 'duplicate_key', 'status'], name='memory_duplicate')],
                'constraints': [models.UniqueConstraint(fields=('project', 'number'), name='memory_number_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['decision', 'constraint', 'pipeline', 'fact', 'preference', 'note', 'session_summary'])), name='memory_kind'), models.CheckConstraint(condition=models.Q(('weight__in', ['critical', 'normal', 'low'])), name='memory_weight'), models.CheckConstraint(condition=models.Q(('visibility__in', ['private', 'shared', 'public'])), name='memory_visibility'), models.CheckConstraint(condition=models.Q(('status__in', ['active', 'superseded', 'archived'])), name='memory_status'), models.CheckConstraint(condition=models.Q(('origin__in', ['user', 'agent', 'import'])), name='memory_origin'), models.CheckConstraint(condition=models.Q(('hardness', ''), models.Q(('hardness__in', ['absolute', 'advisory']), ('kind', 'constraint')), _connector='OR'), name='memory_hardness_of_constraints'), models.CheckConstraint(condition=models.Q(models.Q(('weight', 'critical'), _negated=True), ('parent', None), _connector='OR'), name='memory_critical_in_no_bag'), models.CheckConstraint(condition=models.Q(('status', 'active'), ('parent', None), _connector='OR'), name='memory_active_in_bag'), models.CheckConstraint(condition=models.Q(('parent', models.F('id')), _negated=True), name='memory_not_in_itself'), models.CheckConstraint(condition=models.Q(('version__gte', 1), ('number__gte', 1)), name='memory_counts_from_one')],
            },
        ),
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='memories.memory')),
                ('name', models.CharField(max_length=30)),
                ('position', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ('memory', 'position'),
                'indexes': [models.Index(fields=['name', 'memory'], name='tag_name')],
                'constraints': [models.UniqueConstraint(fields=('memory', 'name'), name='tag_once')],
            },
        ),
        migrations.CreateModel(
            name='ScopePath',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scopes', to='memories.memory')),
                ('path', models.CharField(max_length=300)),
                ('position', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ('memory', 'position'),
                'indexes': [models.Index(fields=['path', 'memory'], name='scope_path')],
                'constraints': [models.UniqueConstraint(fields=('memory', 'path'), name='scope_once')],
            },
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links_out', to='memories.memory')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links_in', to='memories.memory')),
                ('type', models.CharField(choices=[('supersedes', 'supersedes'), ('related', 'related to'), ('contradicts', 'contradicts'), ('not_similar', 'not similar to')], max_length=12)),
                ('reason', models.TextField(blank=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('resolved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('resolved_reason', models.TextField(blank=True)),
            ],
            options={
                'ordering': ('-created_at', '-id'),
                'constraints': [models.UniqueConstraint(condition=models.Q(('resolved_at', None)), fields=('source', 'target', 'type'), name='link_once'), models.CheckConstraint(condition=models.Q(('source', models.F('target')), _negated=True), name='link_between_two')],
            },
        ),
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='memories.memory')),
                ('version', models.PositiveIntegerField()),
                ('fields', models.JSONField(default=dict)),
                ('visibility', models.CharField(choices=[('private', 'private'), ('shared', 'shared'), ('public', 'public')], max_length=10)),
                ('reason', models.TextField(blank=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('actor_kind', models.CharField(max_length=10)),
                ('token_name', models.CharField(blank=True, max_length=80)),
                ('door', models.CharField(max_length=10)),
                ('session', models.CharField(blank=True, max_length=80)),
                ('client', models.CharField(blank=True, max_length=80)),
                ('model', models.CharField(blank=True, max_length=80)),
                ('branch', models.CharField(blank=True, max_length=200)),
                ('commit', models.CharField(blank=True, max_length=64)),
                ('request_digest', models.CharField(blank=True, max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ('memory', '-version'),
                'constraints': [models.UniqueConstraint(fields=('memory', 'version'), name='revision_once')],
            },
        ),
    ]
