"""Accounts: create, change, deactivate. An account is never deleted."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from memoryhub.kernel.errors import Forbidden, Problems
from projects.models import User
from projects.services.checking import checked

ACCOUNT_FIELDS = ("username", "first_name", "last_name", "email", "time_zone")
STAFF_FIELDS = ("is_staff", "is_superuser")
# What Django's admin lets somebody do there; nothing in a project hangs on them.
ADMIN_RIGHTS = ("groups", "user_permissions")


def _check_password(password: str, user: User, problems: Problems) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        problems.add("password", " ".join(error.messages))


@transaction.atomic
def create_user(*, username: str, password: str, email: str = "", **fields: Any) -> User:
    """An account with a checked password. Raises Invalid with every bad field."""
    user = User(username=username, email=User.objects.normalize_email(email), **fields)
    problems = Problems()
    _check_password(password, user, problems)
    user.set_password(password)
    checked(user, problems, exclude=("password",))
    user.save()
    return user


@transaction.atomic
def change_account(*, user: User, fields: dict[str, Any]) -> User:
    """Change name, address, zone, staff status or admin rights. Raises Invalid with every bad field."""
    user = User.objects.select_for_update().get(pk=user.pk)
    for name in (*ACCOUNT_FIELDS, *STAFF_FIELDS):
        if name in fields:
            setattr(user, name, fields[name])
    checked(user, exclude=("password",))
    user.save()
    for name in ADMIN_RIGHTS:
        if name in fields:
            getattr(user, name).set(fields[name])
    return user


@transaction.atomic
def change_password(*, user: User, password: str) -> User:
    """Set a checked password. Raises Invalid."""
    problems = Problems()
    _check_password(password, user, problems)
    problems.raise_if_any()
    user.set_password(password)
    user.save(update_fields=["password"])
    return user


@transaction.atomic
def deactivate_user(*, by: User | None, user: User) -> User:
    """Close an account: no sign-in, no token works; what it wrote keeps its name."""
    if by is not None and by.pk == user.pk:
        raise Forbidden("You can't deactivate your own account. Ask another administrator.")
    user.is_active = False
    user.save(update_fields=["is_active"])
    return user


@transaction.atomic
def reactivate_user(*, user: User) -> User:
    """Open a closed account again, with the memberships and private memories it had."""
    user.is_active = True
    user.save(update_fields=["is_active"])
    return user


# Behind the name of a stand-in. No account can be called so: names have neither spaces nor brackets.
IMPORTED = " (imported)"


def stand_in_for(name: str) -> User:
    """Who stands for a person of that name from another hub, who has no account here: it can't sign in.

    The same one for the same name, made where there is none.
    """
    username = _stand_in_name(name)
    found = User.objects.filter(username=username).first()
    if found is not None:
        return found
    user = User(username=username, first_name=name, is_active=False)
    user.set_unusable_password()
    # Not checked as an account is: its name is none that an account may have.
    user.save(force_insert=True)
    return user


def _stand_in_name(name: str) -> str:
    whole = name + IMPORTED
    if len(whole) <= User.USERNAME_MAX_LENGTH and whole.isprintable():
        return whole
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    start = "".join(c for c in name if c.isprintable())[: User.USERNAME_MAX_LENGTH - len(IMPORTED) - 9]
    return f"{start}-{digest}{IMPORTED}"


def name_at_home(username: str, first_name: str) -> str:
    """What somebody is called where they have their account: of a stand-in, the name that it stands for."""
    return first_name if username.endswith(IMPORTED) else username
