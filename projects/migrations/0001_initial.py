import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import projects.models
import projects.querysets
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('username', models.CharField(error_messages={'unique': 'Somebody has this name already. Choose another.'}, help_text='Letters, digits and @ . + - _; unique whatever the case.', max_length=40, unique=True, validators=[django.contrib.auth.validators.ASCIIUsernameValidator()])),
                ('time_zone', models.CharField(default='UTC', help_text='Times are shown in this zone.', max_length=64, validators=[projects.models.check_time_zone])),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('username'), name='user_username_any_case', violation_error_message='Somebody has this name already. Choose another.')],
            },
            managers=[
                ('objects', projects.querysets.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('slug', models.SlugField(error_messages={'unique': 'A project has this slug already, or had it. Choose another.'}, help_text='Part of every address. Never changes and is never used again.', unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(-[a-z0-9]+)*$', 'Use a-z, 0-9 and single hyphens, such as harbor-api.')])),
                ('name', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('archived_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('recall_budget', models.PositiveIntegerField(default=6000, help_text='How many characters a session reads at its start, 500 to 50,000.', validators=[django.core.validators.MinValueValidator(500), django.core.validators.MaxValueValidator(50000)])),
                ('recall_mode', models.CharField(choices=[('auto', 'automatic'), ('flat', 'one line after the other'), ('grouped', 'under headings')], default='auto', help_text='Automatic lists up to the grouping threshold and groups above it.', max_length=10)),
                ('grouping_threshold', models.PositiveIntegerField(default=25, help_text='From how many top-level memories on recall is grouped.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)])),
                ('critical_target', models.PositiveIntegerField(default=7, help_text='More critical memories than this are a finding.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)])),
                ('hygiene_threshold', models.PositiveIntegerField(default=70, help_text='Below this score agents are asked to clean up.', validators=[django.core.validators.MaxValueValidator(100)])),
                ('session_summary_days', models.PositiveIntegerField(default=14, help_text='After how many days a session summary is old.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(3650)])),
                ('session_summary_action', models.CharField(choices=[('lower', 'lower their weight'), ('bag', 'put them into a bag')], default='lower', help_text='What happens to old session summaries.', max_length=10)),
                ('stale_after_days', models.PositiveIntegerField(default=90, help_text='After how many days an entry that nobody changed or verified is named.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(3650)])),
                ('checkpoint_stale_hours', models.PositiveIntegerField(default=168, help_text='After how many hours a checkpoint is no longer injected.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(87600)])),
                ('default_visibility', models.CharField(choices=[('private', 'private'), ('shared', 'shared'), ('public', 'public')], default='shared', help_text="What a new memory is that doesn't say.", max_length=10)),
                ('review_policy', models.CharField(choices=[('none', 'nobody waits'), ('agents', 'agents propose, reviewers decide'), ('everyone', 'everyone proposes')], default='agents', help_text='Which changes to shared and public memories wait for a person.', max_length=10)),
                ('review_needs_second_person', models.BooleanField(default=False, help_text='Whether somebody else than the proposer has to approve.')),
                ('last_number', models.PositiveIntegerField(default=0, editable=False)),
                ('last_review_number', models.PositiveIntegerField(default=0, editable=False)),
                ('change_counter', models.PositiveBigIntegerField(default=0, editable=False)),
            ],
            options={
                'ordering': ('slug',),
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='projects.project')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(choices=[('reader', 'reader'), ('contributor', 'contributor'), ('reviewer', 'reviewer'), ('owner', 'owner')], default='contributor', max_length=12)),
                ('joined_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'ordering': ('id',),
                'constraints': [models.UniqueConstraint(fields=('project', 'user'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['reader', 'contributor', 'reviewer', 'owner'])), name='membership_role')],
            },
        ),
        migrations.CreateModel(
            name='AccessToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='access_tokens', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(help_text='What it is for, such as laptop or build.', max_length=80)),
                ('public_part', models.CharField(editable=False, max_length=16, unique=True)),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('can_read', models.BooleanField(default=True)),
                ('can_write', models.BooleanField(default=False)),
                ('can_review', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('projects', models.ManyToManyField(related_name='access_tokens', to='projects.project')),
            ],
            options={
                'ordering': ('-created_at', '-id'),
            },
        ),
    ]
