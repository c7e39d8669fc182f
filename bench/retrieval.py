"""How well search answers, over MCP: the measures of the design's page on retrieval."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.load import Loaded, load
from bench.mapping import nuzo_project, read_asked, read_stored, slug_of
from bench.mcp import Agent
from bench.report import Figure

_FIRST = 5
_RANKED = 50


@dataclass
class Judged:
    """Questions with the places of their answers."""

    recalls: list[float] = field(default_factory=list)
    reciprocal_ranks: list[float] = field(default_factory=list)
    history: list[float] = field(default_factory=list)
    flags: dict[str, list[bool]] = field(default_factory=lambda: {"negative": [], "answered": []})
    # The questions whose answer isn't first, for whoever wants to see why.
    missed: list[str] = field(default_factory=list)


def recall_at(ranked: Sequence[int], expected: set[int], k: int) -> float:
    """The share of the expected that stand in the first k."""
    return len(expected & set(ranked[:k])) / len(expected)


def reciprocal_rank(ranked: Sequence[int], expected: set[int]) -> float:
    """One over the place of the first expected; 0 when there is none."""
    return next((1 / place for place, number in enumerate(ranked, 1) if number in expected), 0.0)


def judge_decisions(agent: Agent, data: Path, loaded: Loaded) -> Judged:
    """Ask the questions of the decisions set."""
    judged = Judged()
    for row in read_asked(data, "decisions"):
        project = slug_of(row["store"])
        answer = _search(agent, project, row["query"], _RANKED)
        flagged = answer["no_confident_match"]
        if row["kind"] == "negative":
            judged.flags["negative"].append(flagged)
            continue
        judged.flags["answered"].append(flagged)
        ranked = [item["number"] for item in answer["items"]]
        expected = {loaded.numbers[(project, key)] for key in row["relevant"]}
        judged.recalls.append(recall_at(ranked, expected, _FIRST))
        judged.reciprocal_ranks.append(reciprocal_rank(ranked, expected))
        if row["kind"] == "history":
            judged.history.append(judged.recalls[-1])
        if judged.recalls[-1] < 1:
            places = [ranked.index(number) + 1 if number in ranked else 0 for number in sorted(expected)]
            judged.missed.append(f"{row['qid']} ({project}): answers at {places}: {row['query']}")
    return judged


def decision_figures(judged: Judged) -> list[Figure]:
    """Against what the design wants reached without embeddings."""
    negative, answered = judged.flags["negative"], judged.flags["answered"]
    return [
        Figure("decisions: recall@5", statistics.mean(judged.recalls), "", 0.82, at_least=True),
        Figure("decisions: MRR", statistics.mean(judged.reciprocal_ranks), "", 0.74, at_least=True),
        Figure("decisions: history recall@5", statistics.mean(judged.history), "", 0.80, at_least=True),
        Figure("decisions: negatives flagged", statistics.mean(negative), "", 0.5, at_least=True),
        Figure("decisions: answers flagged by mistake", statistics.mean(answered), "", 0.05),
    ]


# --- nuzo's sets ---------------------------------------------------------------------


@dataclass
class Held:
    """Expectations that held, of all, by what they are about, and those that didn't."""

    held: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def say(self, about: str, label: str, holds: bool, found: Sequence[str]) -> None:
        self.asked[about] = self.asked.get(about, 0) + 1
        self.held[about] = self.held.get(about, 0) + holds
        if not holds:
            self.failures.append(f"{about}: {label}: found {', '.join(found) or 'nothing'}")


def judge_prompts(agent: Agent, data: Path, loaded: Loaded) -> Held:
    """Ask the prompts, and compare the first few answers with each kind of expectation.

    `only` is told apart: a ranked list names what else shares a word, where nuzo's cuts it off.
    """
    held = Held()
    for row in read_asked(data, "prompts"):
        found = _keys(agent, loaded, "prompts", row)
        label = row["label"]
        if "expectedTop" in row:
            held.say("top", label, found[:1] == [row["expectedTop"]], found)
        if "expectedIncluded" in row:
            held.say("included", label, set(row["expectedIncluded"]) <= set(found), found)
        if "expectedExcluded" in row:
            held.say("excluded", label, not set(row["expectedExcluded"]) & set(found), found)
        if "expectedIncludedPrefix" in row:
            fitting = [key for key in found if key.startswith(row["expectedIncludedPrefix"])]
            held.say("counted", label, len(fitting) == row["expectedCount"], found)
        if "expectedOnly" in row:
            held.say("only", label, set(found) == set(row["expectedOnly"]), found)
    return held


def judge_paraphrases(agent: Agent, data: Path, loaded: Loaded) -> Held:
    """Ask the paraphrases: few words in common with the answer, so a lexical search misses some."""
    held = Held()
    for row in read_asked(data, "paraphrases"):
        found = _keys(agent, loaded, "paraphrases", row)
        held.say("top", row["label"], found[:1] == [row["expected"]], found)
        held.say("first five", row["label"], row["expected"] in found, found)
    return held


def held_figures(name: str, held: Held, bars: dict[str, float]) -> list[Figure]:
    return [
        Figure(f"{name}: {about} ({held.asked[about]})", held.held[about] / many, "", bars.get(about), True)
        for about, many in held.asked.items()
    ]


def _keys(agent: Agent, loaded: Loaded, set_name: str, row: dict[str, Any]) -> list[str]:
    """The keys of the first answers. With `includeGlobal` the user's own project is asked as well.

    Two projects are two rankings without a common score: the user's own come first where they are a
    confident answer, because the prompt asks for them by name.
    """
    project = nuzo_project(set_name, row["scope"])
    answers = [(project, _search(agent, project, row["query"], row["limit"]))]
    own = nuzo_project(set_name, "user:default")
    if row.get("includeGlobal"):
        answer = _search(agent, own, row["query"], row["limit"])
        answers.insert(0 if answer["items"] and not answer["no_confident_match"] else 1, (own, answer))
    keys = {place: key for (owner, key), number in loaded.numbers.items() for place in [(owner, number)]}
    found = [keys[(owner, item["number"])] for owner, answer in answers for item in answer["items"]]
    return found[: row["limit"]]


def _search(agent: Agent, project: str, query: str, limit: int) -> dict[str, Any]:
    return agent.call("memory_search", project=project, query=query, limit=limit).json


@dataclass
class Retrieved:
    """Everything that one engine answered."""

    figures: list[Figure]
    notes: list[str]
    loads: dict[str, Loaded]


def measure_retrieval(agent: Agent, data: Path) -> Retrieved:
    """Store the three sets that are asked, and ask."""
    loads = {name: load(agent, read_stored(data, name)) for name in ("decisions", "prompts", "paraphrases")}
    decisions = judge_decisions(agent, data, loads["decisions"])
    prompts = judge_prompts(agent, data, loads["prompts"])
    paraphrases = judge_paraphrases(agent, data, loads["paraphrases"])
    bars = dict.fromkeys(("top", "included", "excluded", "counted"), 1.0)
    figures = [
        *decision_figures(decisions),
        *held_figures("prompts", prompts, bars),
        *held_figures("paraphrases", paraphrases, {}),
    ]
    notes = [*decisions.missed, *(f"prompts: {failure}" for failure in prompts.failures)]
    notes += [f"paraphrases: {failure}" for failure in paraphrases.failures]
    return Retrieved(figures, notes, loads)
