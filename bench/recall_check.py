"""Whether recall accounts for everything: its lines and the number it doesn't show are all there is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bench.mcp import Agent

_LINE = re.compile(r"^\[#(\d+)\]", re.MULTILINE)
_FOOTER = re.compile(r"^Not shown: (\d+) \(", re.MULTILINE)

# Besides the project's own: the smallest, a tight one, one where everything may fit.
BUDGETS = (500, 2_000, 50_000)
_DEFAULT = 6_000


@dataclass(frozen=True)
class Account:
    """A recall, read as its reader does."""

    lines: list[int]
    not_shown: int
    length: int


@dataclass(frozen=True)
class Checked:
    """One project's recall at one budget."""

    project: str
    budget: int
    account: Account
    active: int

    @property
    def problem(self) -> str:
        """What is wrong, or nothing."""
        problems = []
        if self.account.length > self.budget:
            problems.append(f"{self.account.length} characters in a budget of {self.budget}")
        told = len(self.account.lines) + self.account.not_shown
        if told != self.active:
            problems.append(f"accounts for {told} of {self.active}")
        if len(set(self.account.lines)) != len(self.account.lines):
            problems.append("lists one twice")
        return f"{self.project} at {self.budget}: {', '.join(problems)}" if problems else ""


def read_account(text: str) -> Account:
    """The numbers of the lines, and of the footer. Raises ValueError without a footer, or with two."""
    footers = _FOOTER.findall(text)
    if len(footers) != 1:
        raise ValueError(f"{len(footers)} footers in the recall")
    return Account([int(number) for number in _LINE.findall(text)], int(footers[0]), len(text))


def check_recall(agent: Agent, projects: Sequence[str]) -> list[Checked]:
    """Every project at its own budget and at others."""
    checked = []
    for project in projects:
        active = agent.call("memory_list", project=project, status="active", limit=1).json["total"]
        for budget in (None, *BUDGETS):
            more = {"budget": budget} if budget else {}
            text = agent.call("memory_recall", project=project, **more).text
            checked.append(Checked(project, budget or _DEFAULT, read_account(text), active))
    return checked
