"""Agent runs and errors where a comparison stops early: python bench/stopping.py [--tasks 100] [--runs 500]

With --clock it times the decisions: what a verdict after each of 10,000 pairs takes, and the last look at 1,000.

Seeded comparisons of scripted arms whose rates are known, decided as `stop_early: true` decides them, for the truths of
the table in docs/statistics.md. No model, no network. `right` and `wrong` are shares of the comparisons whose
verdict is one that the truth allows, or one that it does not; the others are undecided.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import time
from typing import NamedTuple

import msgspec

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.estimate import Estimate, Load
from loopworth.comparisons.named_scores import scorer
from loopworth.comparisons.scores import Score
from loopworth.comparisons.stopping import Stopping
from loopworth.comparisons.tasks import Task
from loopworth.comparisons.trial import tried
from loopworth.comparisons.verdict import Rule
from loopworth.runs.budget import Limits
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.compile import Compiled
from loopworth.workflows.type_expression import parse_type

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


RULES = {"a stated gain": Rule(), "prices": Rule(correct_is_worth_usd=1.0, second_costs_usd=0.001)}


def clocked(tasks: int, rule: Rule, challengers: int) -> tuple[float, float]:
    """Seconds for all decisions while a comparison runs that settles nothing before its end, and for its verdict."""
    chance, names = random.Random(1), ["pipeline", *(f"agent {n}" for n in range(challengers))]
    arms = (arm(names[0], 2), *(arm(name, 3) for name in names[1:]))
    stopping = Stopping(dataclasses.replace(comparison(tasks, 1), arms=arms, rule=rule))
    spent, ahead = 0.0, dict.fromkeys(names, 1)
    while True:
        began = time.process_time()
        planned = stopping.due(ahead)
        if planned is None:
            break
        stopping.start(planned)
        spent += time.process_time() - began
        dear = planned.arm != "pipeline"
        trial = tried(planned, SCRIPT, Score(chance.random() < (0.7 if dear else 0.6)), keep=False)
        usd = chance.uniform(0.05, 0.15) if dear else 0.001
        trial = msgspec.structs.replace(trial, usage=Usage(1, 1, usd=usd), latency=chance.random())
        began = time.process_time()
        stopping.take(trial)
        spent += time.process_time() - began
    began = time.process_time()
    stopping.verdict()
    return spent, time.process_time() - began


def clock() -> None:
    print("CPU of our own; smallest gain and truth alike, so that all pairs are read")
    print("rule             challengers   ms a pair of 10,000   seconds for the last look at 1,000")
    for words, rule in RULES.items():
        for challengers in (1, 3):
            each, last = (
                clocked(10_000, rule, challengers)[0] / 10_000 / challengers,
                clocked(1000, rule, challengers)[1],
            )
            print(f"{words:15}  {challengers:11}  {1000 * each:20.3f}  {last:37.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--clock", action="store_true")
    given = parser.parse_args()
    if given.clock:
        clock()
        return
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
