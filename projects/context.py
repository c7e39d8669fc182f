"""What the shell around every page needs: the look, and the projects to switch to."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from projects.models import Project

THEME_COOKIE = "theme"
THEMES = {"system": "System", "light": "Light", "dark": "Dark"}
DENSITY_COOKIE = "density"
DENSITIES = {"comfortable": "Comfortable", "compact": "Compact"}
# The switcher is a short cut; Home has them all.
SWITCHER_MAX = 30


def shell(request: HttpRequest) -> dict[str, Any]:
    """The look, what there is to choose, and `switcher`, read when a template asks for it and not before."""
    theme, density = (request.COOKIES.get(name, "") for name in (THEME_COOKIE, DENSITY_COOKIE))

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
        "switcher": switcher,
    }
