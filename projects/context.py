"""What the shell around every page needs: the look, and the projects to switch to."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from projects.models import Project

THEME_COOKIE = "theme"
THEMES = {"system": "System", "light": "Light", "dark": "Dark"}
DENSITY_COOKIE = "density"
DENSITIES = {"comfortable": "Comfortable", "compact": "Compact"}
# Letters alone that do something (`/`, and those of the queue): who dictates text sets them off by accident.
SHORTCUTS_COOKIE = "shortcuts"
SHORTCUTS = {"on": "On", "off": "Off"}
# The switcher is a short cut; Home has them all.
SWITCHER_MAX = 30


def shell(request: HttpRequest) -> dict[str, Any]:
    """The look, what there is to choose, and `switcher`, read when a template asks for it and not before."""
    cookies = (THEME_COOKIE, DENSITY_COOKIE, SHORTCUTS_COOKIE)
    theme, density, shortcuts = (request.COOKIES.get(name, "") for name in cookies)

    def switcher() -> list[Project]:
        user = getattr(request, "user", None)
        if user is None or not user.is_authenticated:
            return []
        return list(Project.objects.with_role_of(user).current()[:SWITCHER_MAX])

    return {
        "theme": theme if theme in THEMES else "system",
        "themes": THEMES,
        "density": density if density in DENSITIES else "comfortable",
        "densities": DENSITIES,
        "shortcuts": shortcuts if shortcuts in SHORTCUTS else "on",
        "shortcuts_on_or_off": SHORTCUTS,
        "switcher": switcher,
    }
