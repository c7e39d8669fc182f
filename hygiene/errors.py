"""Why something about hygiene may not be done."""

from __future__ import annotations

from memoryhub.kernel.errors import Invalid


class NoSuchRule(Invalid):
    """Not one of the rules of the report."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(fields={"rule": f"Must be one of: {', '.join(names)}."})
