"""What the shell around every page needs: the theme, and the projects to switch to."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from projects.models import Project

THEME_COOKIE = "theme"
THEMES = {"system": "System", "light": "Light", "dark": "Dark"}
# The switcher is a short cut; Home has them all.
SWITCHER_MAX = 30


def shell(request: HttpRequest) -> dict[str, Any]:
    """`theme`, `themes` and `switcher`, which is read when a template asks for it and not before."""
    chosen = request.COOKIES.get(THEME_COOKIE, "")

    def switcher() -> list[Project]:
        user = getattr(request, "user", None)
        if user is None or not user.is_authenticated:
            return []
        return list(Project.objects.with_role_of(user).current()[:SWITCHER_MAX])

    return {"theme": chosen if chosen in THEMES else "system", "themes": THEMES, "switcher": switcher}
