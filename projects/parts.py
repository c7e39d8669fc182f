"""What higher apps add to pages of projects. They register at start-up: this app imports none of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from projects.models import Project, User


@dataclass(frozen=True)
class Part:
    """A part of a page: a template, and what it shows as `part`."""

    template: str
    shown: Any = None


# Of a project whose settings may be other than those that are stored: it reads, and keeps nothing.
SettingsPart = Callable[[Project, User], Part]
_on_settings: dict[str, SettingsPart] = {}


def register_settings_part(name: str, provider: SettingsPart) -> None:
    """Add to the settings page what the settings that are being chosen would do."""
    _on_settings[name] = provider


def settings_parts(project: Project, reader: User) -> list[Part]:
    """Those of a settings page, for the values that `project` has in memory."""
    return [provider(project, reader) for provider in _on_settings.values()]
