"""Who does something, and from where: every write takes an actor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from memoryhub.kernel.errors import Problems
from memoryhub.kernel.text import printable, text_problem

if TYPE_CHECKING:
    from projects.models import AccessToken, User


# Who writes where no user does: whoever runs the hub. No user name holds a space.
OPERATOR = "the operator"


class Door(StrEnum):
    """Where a write came in. It decides the origin of what is created."""

    WEB = "web"
    ADMIN = "admin"
    REST = "rest"
    MCP = "mcp"
    COMMAND = "command"


class ActorKind(StrEnum):
    """A person at a page, a person's agent, or the operator's own command."""

    PERSON = "person"
    AGENT = "agent"
    SYSTEM = "system"


@dataclass(frozen=True)
class WriteContext:
    """Where a write came from: stored with every revision, shown as provenance."""

    MAX_LENGTHS: ClassVar[dict[str, int]] = {
        "session": 80,
        "client": 80,
        "model": 80,
        "branch": 200,
        "commit": 64,
    }

    session: str = ""
    client: str = ""
    model: str = ""
    branch: str = ""
    commit: str = ""

    @classmethod
    def read(cls, given: Mapping[str, Any], problems: Problems) -> WriteContext:
        """From a door's object; what is wrong goes into `problems` under `write_context.<field>`."""
        values: dict[str, str] = {}
        for name, value in given.items():
            most = cls.MAX_LENGTHS.get(name)
            if most is None:
                allowed = ", ".join(cls.MAX_LENGTHS)
                problems.add(f"write_context.{printable(name)}", f"Unknown. Allowed: {allowed}.")
            elif value is not None:
                least = 1 if name == "session" else 0
                problems.add(
                    f"write_context.{name}", text_problem(value, most=most, least=least, one_line=True)
                )
                values[name] = value
        if not values.get("session"):
            problems.add(
                "write_context.session", "Required: any id that stays the same through your session."
            )
        return cls(**values) if not problems else cls()

    def as_dict(self) -> dict[str, str]:
        """The fields that say something."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name)}


@dataclass(frozen=True)
class Actor:
    """A user at a door, with the access token that speaks for them and the write's context.

    `user` is None for the system alone (management commands without a user).
    """

    user: User | None
    door: Door
    token: AccessToken | None = None
    context: WriteContext = field(default_factory=WriteContext)

    @property
    def kind(self) -> ActorKind:
        if self.door is Door.COMMAND:
            return ActorKind.SYSTEM
        return ActorKind.AGENT if self.token or self.door is Door.MCP else ActorKind.PERSON

    @property
    def is_agent(self) -> bool:
        return self.kind is ActorKind.AGENT

    @property
    def token_name(self) -> str:
        """What the access token is called; empty for people."""
        return self.token.name if self.token else ""

    @property
    def name(self) -> str:
        """For sentences: `alice`, `alice's agent`, `the operator`."""
        if self.user is None:
            return OPERATOR
        return f"{self.user.username}'s agent" if self.is_agent else self.user.username


def signed_name(user: User | None, kind: str, token_name: str = "") -> str:
    """Who, as a history says it: a person, somebody's agent with its token's name, or the operator."""
    if user is None:
        return OPERATOR
    if kind == ActorKind.AGENT:
        return f"{user.username}'s agent" + (f" ({token_name})" if token_name else "")
    return user.username
