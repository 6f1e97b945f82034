"""Agent runs and errors where a comparison stops early: python bench/stopping.py [--tasks 100] [--runs 500]

Seeded comparisons of scripted arms whose rates are known, decided as `stop_early: true` decides them, for the truths of
the table in docs/statistics.md. No model, no network. `right` and `wrong` are shares of the comparisons whose
verdict is one that the truth allows, or one that it does not; the others are undecided.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import NamedTuple

import msgspec

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.estimate import Estimate, Load
from loopworth.comparisons.scores import Score, scorer
from loopworth.comparisons.stopping import Stopping
from loopworth.comparisons.tasks import Task
from loopworth.comparisons.trial import tried
from loopworth.runs.budget import Limits
from loopworth.runs.outcome import Outcome
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.compile import Compiled
from loopworth.workflows.types import parse_type

DELTA = 0.10


class Truth(NamedTuple):
    """The rates of the pipeline and of the agent, and the share of tasks on which they differ."""

    pipeline: float
    agent: float
    discordance: float

    @property
    def allowed(self) -> tuple[str, ...]:
        gain = self.agent - self.pipeline
        return ("earns",) if gain > DELTA else ("suffices", "better") if gain < 0 else ("suffices",)

    def draw(self, tasks: int, chance: random.Random) -> list[tuple[bool, bool]]:
        """Whether each arm is right, task by task."""
        gain = self.agent - self.pipeline
        won, lost = (self.discordance + gain) / 2, (self.discordance - gain) / 2
        outcomes, weights = [(False, True), (True, False), (True, True), (False, False)], [won, lost, self.agent - won]
        return chance.choices(outcomes, [*weights, max(0.0, 1 - sum(weights))], k=tasks)


TRUTHS = (
    Truth(1.00, 0.40, 0.60),
    Truth(0.98, 0.98, 0.02),
    Truth(0.90, 0.90, 0.06),
    Truth(0.90, 0.90, 0.18),
    Truth(0.68, 0.60, 0.28),
    Truth(0.60, 0.80, 0.28),
    Truth(0.60, 0.80, 0.44),
    Truth(0.85, 0.90, 0.09),
    Truth(0.85, 0.90, 0.22),
    Truth(0.50, 0.90, 0.50),
    Truth(0.40, 1.00, 0.60),
)
SCRIPT = msgspec.structs.replace(Outcome(), answer="x")


def arm(name: str, calls: float) -> Arm:
    load = Load(calls, 300 * calls, 0.0)
    made = Compiled(name, "pipeline", None, Limits(), Toolbox({}), {}, parse_type({}))  # type: ignore[arg-type]
    return Arm(name, made, Estimate(load, load))


def comparison(tasks: int, seed: int) -> Comparison:
    """A pipeline without a model, and an agent with one, so that the gate is used."""
    rows = tuple(Task(str(n), {}) for n in range(tasks))
    arms = (arm("pipeline", 0), arm("agent", 2))
    return Comparison("bench", "", arms, rows, scorer("equals"), seed=seed, stop_early=True)


def played(truth: Truth, tasks: int, seed: int) -> tuple[str, int]:
    """The verdict's token and the agent runs of one comparison."""
    drawn = truth.draw(tasks, random.Random(f"{seed}/{truth}"))
    stopping, runs = Stopping(comparison(tasks, seed)), 0
    while (planned := stopping.due({"pipeline": 1, "agent": 1})) is not None:
        stopping.start(planned)
        right = drawn[int(planned.task)][planned.arm == "agent"]
        stopping.take(tried(planned, SCRIPT, Score(right), keep=False))
        runs += planned.arm == "agent"
    return stopping.verdict().token, runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--runs", type=int, default=500)
    given = parser.parse_args()
    print(f"{given.runs} comparisons of {given.tasks} tasks each; smallest gain worth having {DELTA}, error 0.05")
    print("pipeline  agent  differ   right   wrong  agent runs  seconds")
    for truth in TRUTHS:
        began = time.perf_counter()
        found = [played(truth, given.tasks, seed) for seed in range(given.runs)]
        right = sum(token in truth.allowed for token, _ in found) / given.runs
        wrong = sum(token not in (*truth.allowed, "undecided") for token, _ in found) / given.runs
        mean = sum(runs for _, runs in found) / given.runs
        rates = f"{truth.pipeline:8.2f}  {truth.agent:5.2f}  {truth.discordance:6.2f}"
        print(f"{rates}  {right:6.3f}  {wrong:6.3f}  {mean:10.1f}  {time.perf_counter() - began:7.1f}", flush=True)


if __name__ == "__main__":
    main()
