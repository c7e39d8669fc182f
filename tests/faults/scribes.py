"""Agents that write through the fault, send again what wasn't acknowledged, and remember what was."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bench.mcp import Agent, Answer, Unanswered
from tests.faults.running import PATIENCE, PROJECT

# What a client of a hub that is away may meet; everything else is an error of the hub's.
AWAY = "unavailable"


@dataclass
class Known:
    """A memory as it was acknowledged last."""

    number: int
    title: str
    summary: str
    version: int = 1
    parent: int | None = None
    status: str = "active"


class Scribe(threading.Thread):
    """One session. It alone changes what it made, so it knows what must stand there."""

    def __init__(self, name: str, url: str, token: str, seed: int, stop: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.random = random.Random(f"{seed} {name}")
        self.agent = Agent(url, token)
        self.context = {"session": name, "client": "scribe"}
        self.stopped = stop
        self.memories: dict[int, Known] = {}
        self.tasks: dict[int, str] = {}
        self.receipts: dict[int, str] = {}
        self.objective = ""
        self.saves = 0
        self.acknowledged = 0
        # What wasn't answered and was sent again, and of it what turned out to be stored already.
        self.unanswered: Counter[str] = Counter()
        self.recognised = 0
        self.errors: list[str] = []
        self._made = 0

    def run(self) -> None:
        acts = [self._add] * 6 + [self._update] * 4 + [self._move] * 2
        acts += [self._archive, self._task, self._save, self._hand_over]
        try:
            # Who claims a task and never saves is drift to the doctor, and chance alone may not lead there.
            self._save()
            while not self.stopped.is_set():
                self.random.choice(acts)()
        except Exception as problem:
            self.errors.append(f"{type(problem).__name__}: {problem}")
        finally:
            self.agent.close()

    # --- acts ------------------------------------------------------------------------

    def _next(self) -> str:
        self._made += 1
        return f"{self.name} wrote {self._made}"

    def _add(self) -> None:
        title, parent = self._next(), self._bag()
        summary = f"Entry {self._made} of {self.name}."
        # Long ones are written for longer, so that more kills meet them in the middle.
        body = " ".join(self.random.choices(_WORDS, k=self.random.choice((5, 300, 900))))
        given = {"parent": parent} if parent and self.random.random() < 0.3 else {}
        answer, again = self._send(
            "memory_add", title=title, summary=summary, kind="fact", body=body, **given
        )
        if answer.is_error:
            self.errors.append(answer.text[:300])
            return
        told = answer.json
        self.recognised += bool(told.get("duplicate"))
        if told.get("duplicate") and not again:
            self.errors.append(f"{title} was taken for a retry the first time")
        self.memories[told["number"]] = Known(told["number"], title, summary, parent=given.get("parent"))

    def _update(self) -> None:
        if known := self._one(lambda each: True):
            self._change(known, "memory_update", summary=f"Changed {known.version} times: {known.title}.")

    def _move(self) -> None:
        bag = self._bag()
        known = self._one(lambda each: each.number != bag)
        if known is None or bag is None:
            return
        parent = None if known.parent else bag
        self._change(known, "memory_update", parent=parent or 0)

    def _archive(self) -> None:
        bag = self._bag()
        if len(self.memories) > 10 and (known := self._one(lambda each: each.number != bag)):
            self._change(known, "memory_archive", reason="It was written to be archived.")

    def _task(self) -> None:
        title = self._next()
        answer, _ = self._send("task_create", title=title, summary="A task.")
        if answer.is_error:
            self.errors.append(answer.text[:300])
            return
        self.recognised += bool(answer.json.get("duplicate"))
        number = answer.json["number"]
        self.tasks[number] = title
        claimed, _ = self._send("task_claim", ref=number)
        if claimed.is_error:
            self.errors.append(claimed.text[:300])

    def _save(self) -> None:
        self.saves += 1
        objective = f"Step {self.saves} of {self.name}."
        answer, _ = self._send(
            "checkpoint_save", objective=objective, next_action="Write on.", stream=self.name.lower()
        )
        if answer.is_error:
            self.errors.append(answer.text[:300])
            return
        self.objective = objective

    def _hand_over(self) -> None:
        summary = f"{self._next()} at the end."
        answer, _ = self._send("handoff_write", summary=summary)
        if answer.is_error:
            self.errors.append(answer.text[:300])
            return
        self.recognised += bool(answer.json.get("duplicate"))
        self.receipts[answer.json["number"]] = summary

    # --- what they share ---------------------------------------------------------------

    def _bag(self) -> int | None:
        """Its first memory holds others, and goes into none."""
        return min(self.memories, default=None)

    def _one(self, fits: Any) -> Known | None:
        found = [each for each in self.memories.values() if each.status == "active" and fits(each)]
        return self.random.choice(found) if found else None

    def _change(self, known: Known, tool: str, **change: Any) -> None:
        answer, again = self._send(tool, ref=known.number, expected_version=known.version, **change)
        if answer.is_error:
            told = answer.json
            # It was stored the first time, and the answer was lost: nobody else writes this memory.
            is_mine = (
                told["code"] == "conflict" and told["details"].get("current_version") == known.version + 1
            )
            if not (again and is_mine):
                self.errors.append(f"{tool} {known}: {answer.text[:300]}")
                return
            self.recognised += 1
        known.version += 1
        known.summary = change.get("summary", known.summary)
        if "parent" in change:
            known.parent = change["parent"] or None
        if tool == "memory_archive":
            known.status, known.parent = "archived", None

    def _send(self, tool: str, **arguments: Any) -> tuple[Answer, bool]:
        """The answer, however often it has to be asked for, and whether it was more than once."""
        message = self.agent.tool(tool, project=PROJECT, write_context=self.context, **arguments)
        end, again = time.monotonic() + PATIENCE, False
        while time.monotonic() < end:
            try:
                answer = self.agent.answer(message)
            except (OSError, http.client.HTTPException) as problem:
                self.unanswered[type(problem).__name__] += 1
            except Unanswered as problem:
                if AWAY not in str(problem):
                    self.errors.append(f"{tool}: {problem}")
                self.unanswered[AWAY] += 1
            else:
                if not (answer.is_error and answer.code == AWAY):
                    self.acknowledged += 1
                    return answer, again
                self.unanswered[AWAY] += 1
            again = True
            self.agent.close()
            time.sleep(self.random.uniform(0.02, 0.1))
        raise AssertionError(f"{tool} was never answered.")


_WORDS = ["harbour", "tide", "pilot", *(f"berth{n}" for n in range(3000))]


@dataclass
class Office:
    """Several scribes at one hub."""

    scribes: list[Scribe]
    stop: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def opened(cls, url: str, token: str, seed: int, many: int = 4) -> Office:
        """Begin to write."""
        stop = threading.Event()
        office = cls([Scribe(f"Scribe-{seed}-{n}", url, token, seed, stop) for n in range(many)], stop)
        for scribe in office.scribes:
            scribe.start()
        return office

    @property
    def acknowledged(self) -> int:
        return sum(scribe.acknowledged for scribe in self.scribes)

    @property
    def unanswered(self) -> Counter[str]:
        return sum((scribe.unanswered for scribe in self.scribes), Counter[str]())

    def close(self) -> None:
        """Until the last act of each is acknowledged."""
        self.stop.set()
        for scribe in self.scribes:
            scribe.join(PATIENCE)
            assert not scribe.is_alive(), f"{scribe.name} hangs"

    def told(self) -> str:
        met = self.unanswered
        refused = met.pop("ConnectionRefusedError", 0)
        recognised = sum(scribe.recognised for scribe in self.scribes)
        return (
            f"{self.acknowledged} writes acknowledged, {met.total()} cut off and sent again ({dict(met)}), "
            f"{recognised} of them found stored; {refused} times nobody was there to connect to"
        )

    def check(self, found: dict[str, Any]) -> None:
        """What was acknowledged stands there once and as it was acknowledged, and nothing else does."""
        assert [error for scribe in self.scribes for error in scribe.errors] == []
        known = {number: each for scribe in self.scribes for number, each in scribe.memories.items()}
        assert len(known) == sum(len(scribe.memories) for scribe in self.scribes), "one number, two memories"
        assert {
            row["number"]: Known(
                row["number"],
                row["title"],
                row["summary"],
                row["version"],
                row["parent__number"],
                row["status"],
            )
            for row in found["memories"]
        } == known
        for row in found["memories"]:
            assert row["versions"] == list(range(1, row["version"] + 1)), row
        assert not found["revisions_of_nothing"]
        tasks = {number: (title, s.name) for s in self.scribes for number, title in s.tasks.items()}
        assert {row["number"]: (row["title"], row["claim_session"]) for row in found["tasks"]} == tasks
        receipts = {number: text for scribe in self.scribes for number, text in scribe.receipts.items()}
        assert {row["number"]: row["summary"] for row in found["receipts"]} == receipts
        saved = {s.name.lower(): (s.objective, s.saves) for s in self.scribes if s.saves}
        assert {row["stream"]: (row["objective"], row["version"]) for row in found["checkpoints"]} == saved
        numbers = [*known, *tasks, *receipts]
        assert sorted(numbers) == list(range(1, found["last_number"] + 1)), (
            "a number is missing, or used twice"
        )
        # Bags of one level, revisions, the index and its counts: the doctor asks all of it.
        assert found["doctor"]["code"] == 0, found["doctor"]["said"]
