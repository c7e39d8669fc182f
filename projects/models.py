"""Users, projects, members, access tokens: who may see and do what."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.validators import ASCIIUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from memoryhub.kernel.loading import Loaded
from memoryhub.kernel.tools import Right
from projects.querysets import AccessTokenQuerySet, MembershipQuerySet, ProjectQuerySet, UserManager
from projects.zones import known_zones


def check_time_zone(name: str) -> None:
    """A zone of the IANA data base, such as Australia/Melbourne."""
    if name not in known_zones():
        raise ValidationError("Not a known time zone. Use a name such as Europe/Berlin.", code="time_zone")


class User(AbstractUser, Loaded):
    """A person. Removing one deactivates the account; names on revisions stay."""

    USERNAME_MAX_LENGTH = 40

    username = models.CharField(
        max_length=USERNAME_MAX_LENGTH,
        unique=True,
        validators=[ASCIIUsernameValidator()],
        help_text="Letters, digits and @ . + - _; unique whatever the case.",
        error_messages={"unique": "Somebody has this name already. Choose another."},
    )
    time_zone = models.CharField(
        max_length=64, default="UTC", validators=[check_time_zone], help_text="Times are shown in this zone."
    )

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                Lower("username"),
                name="user_username_any_case",
                violation_error_message="Somebody has this name already. Choose another.",
            ),
        )


class RecallMode(models.TextChoices):
    """How recall is laid out."""

    AUTO = "auto", "automatic"
    FLAT = "flat", "one line after the other"
    GROUPED = "grouped", "under headings"


class ReviewPolicy(models.TextChoices):
    """Which changes to shared and public memories wait for a person."""

    NONE = "none", "nobody waits"
    AGENTS = "agents", "agents propose, reviewers decide"
    EVERYONE = "everyone", "everyone proposes"


class SummaryAction(models.TextChoices):
    """What happens to old session summaries."""

    LOWER = "lower", "lower their weight"
    BAG = "bag", "put them into a bag"


class DefaultVisibility(models.TextChoices):
    """What a memory is that doesn't say."""

    PRIVATE = "private", "private"
    SHARED = "shared", "shared"
    PUBLIC = "public", "public"


SLUG_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class Project(Loaded):
    """A body of work with its own members, memories and settings. Never deleted: a slug is used once."""

    SLUG_MAX_LENGTH = 50
    NAME_MAX_LENGTH = 200
    RECALL_BUDGET_MIN = 500
    RECALL_BUDGET_MAX = 50_000

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(
        max_length=SLUG_MAX_LENGTH,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN, "Use a-z, 0-9 and single hyphens, such as harbor-api.")],
        help_text="Part of every address. Never changes and is never used again.",
        error_messages={"unique": "A project has this slug already, or had it. Choose another."},
    )
    name = models.CharField(max_length=NAME_MAX_LENGTH)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    recall_budget = models.PositiveIntegerField(
        default=6000,
        validators=[MinValueValidator(RECALL_BUDGET_MIN), MaxValueValidator(RECALL_BUDGET_MAX)],
        help_text="How many characters a session reads at its start, 500 to 50,000.",
    )
    recall_mode = models.CharField(
        max_length=10,
        choices=RecallMode.choices,
        default=RecallMode.AUTO,
        help_text="Automatic lists up to the grouping threshold and groups above it.",
    )
    grouping_threshold = models.PositiveIntegerField(
        default=25,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text="From how many top-level memories on recall is grouped.",
    )
    critical_target = models.PositiveIntegerField(
        default=7,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="More critical memories than this are a finding.",
    )
    hygiene_threshold = models.PositiveIntegerField(
        default=70,
        validators=[MaxValueValidator(100)],
        help_text="Below this score agents are asked to clean up.",
    )
    session_summary_days = models.PositiveIntegerField(
        default=14,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
        help_text="After how many days a session summary is old.",
    )
    session_summary_action = models.CharField(
        max_length=10,
        choices=SummaryAction.choices,
        default=SummaryAction.LOWER,
        help_text="What happens to old session summaries.",
    )
    stale_after_days = models.PositiveIntegerField(
        default=90,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
        help_text="After how many days an entry that nobody changed or verified is named.",
    )
    checkpoint_stale_hours = models.PositiveIntegerField(
        default=168,
        validators=[MinValueValidator(1), MaxValueValidator(87_600)],
        help_text="After how many hours a checkpoint is no longer injected.",
    )
    default_visibility = models.CharField(
        max_length=10,
        choices=DefaultVisibility.choices,
        default=DefaultVisibility.SHARED,
        help_text="What a new memory is that doesn't say.",
    )
    review_policy = models.CharField(
        max_length=10,
        choices=ReviewPolicy.choices,
        default=ReviewPolicy.AGENTS,
        help_text="Which changes to shared and public memories wait for a person.",
    )
    review_needs_second_person = models.BooleanField(
        default=False, help_text="Whether somebody else than the proposer has to approve."
    )

    # One sequence for memories, tasks and receipts; another for reviews. Raised under the row's lock.
    last_number = models.PositiveIntegerField(default=0, editable=False)
    last_review_number = models.PositiveIntegerField(default=0, editable=False)
    # Raised by every write to the project's contents: what caches are keyed by.
    change_counter = models.PositiveBigIntegerField(default=0, editable=False)

    objects = ProjectQuerySet.as_manager()

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "recall_budget",
        "recall_mode",
        "grouping_threshold",
        "critical_target",
        "hygiene_threshold",
        "session_summary_days",
        "session_summary_action",
        "stale_after_days",
        "checkpoint_stale_hours",
        "default_visibility",
        "review_policy",
        "review_needs_second_person",
    )

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None


class Role(models.TextChoices):
    """What a member may do; each includes the one before."""

    READER = "reader", "reader"
    CONTRIBUTOR = "contributor", "contributor"
    REVIEWER = "reviewer", "reviewer"
    OWNER = "owner", "owner"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    def includes(self, other: Role) -> bool:
        """Whether this role may do what the other may."""
        return self.rank >= other.rank


class Membership(Loaded):
    """A user in a project, with a role."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices, default=Role.CONTRIBUTOR)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("project", "user"), name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role"),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.project} ({self.role})"


class AccessToken(Loaded):
    """A secret that an agent presents: its user's rights at most, in its projects alone.

    Only the SHA-256 of the secret is kept. The public part finds the row.
    """

    NAME_MAX_LENGTH = 80

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="access_tokens")
    name = models.CharField(max_length=NAME_MAX_LENGTH, help_text="What it is for, such as laptop or build.")
    public_part = models.CharField(max_length=16, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    projects = models.ManyToManyField(Project, related_name="access_tokens")
    can_read = models.BooleanField(default=True)
    can_write = models.BooleanField(default=False)
    can_review = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"{self.name} (mh_{self.public_part}…)"

    @property
    def rights(self) -> list[Right]:
        """What it may do, in words."""
        having = {Right.READ: self.can_read, Right.WRITE: self.can_write, Right.REVIEW: self.can_review}
        return [right for right, has in having.items() if has]

    @property
    def is_revoked(self) -> bool:
        return self.revoked_at is not None

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def is_good(self) -> bool:
        """Whether it still opens anything. Its user must be active too."""
        return not (self.is_revoked or self.is_expired)


# Models of this app as well, which name those above by text.
from projects.models_calls import Call as Call  # noqa: E402
from projects.models_calls import Tally as Tally  # noqa: E402
