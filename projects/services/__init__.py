"""Every write to users, projects, members and tokens. Doors call these and nothing else."""

from projects.services.access import (
    add_member,
    change_role,
    check_role,
    create_token,
    note_token_use,
    prune_tokens,
    remove_member,
    revoke_token,
    role_of,
)
from projects.services.calls import prune_calls
from projects.services.counting import count_calls, prune_tallies
from projects.services.people import (
    change_account,
    change_password,
    create_user,
    deactivate_user,
    name_at_home,
    reactivate_user,
    stand_in_for,
)
from projects.services.projects import (
    archive_project,
    bring_project,
    change_settings,
    create_project,
    restore_project,
)
from projects.services.writing import ProjectWrite, finish, lock_project, next_number, standing_of

__all__ = [
    "ProjectWrite",
    "add_member",
    "archive_project",
    "bring_project",
    "change_account",
    "change_password",
    "change_role",
    "change_settings",
    "check_role",
    "count_calls",
    "create_project",
    "create_token",
    "create_user",
    "deactivate_user",
    "finish",
    "lock_project",
    "name_at_home",
    "next_number",
    "note_token_use",
    "prune_calls",
    "prune_tallies",
    "prune_tokens",
    "reactivate_user",
    "remove_member",
    "restore_project",
    "revoke_token",
    "role_of",
    "stand_in_for",
    "standing_of",
]
