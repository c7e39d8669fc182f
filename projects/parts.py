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


# Where the last is true the settings of the project are other than those that are stored: it keeps nothing.
SettingsPart = Callable[[Project, User, bool], Part]
_on_settings: dict[str, SettingsPart] = {}


def register_settings_part(name: str, provider: SettingsPart) -> None:
    """Add to the settings page what the settings that are being chosen would do."""
    _on_settings[name] = provider


def settings_parts(project: Project, reader: User, *, trying: bool) -> list[Part]:
    """Those of a settings page, for the values of `project` in memory: `trying` ones that aren't stored."""
    return [provider(project, reader, trying) for provider in _on_settings.values()]
