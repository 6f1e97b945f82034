"""The Pareto set: what is shown to be beaten on accuracy, cost and time at once, and nothing else."""

from __future__ import annotations

import io
import json
from typing import Any

from rich.console import Console

from loopworth.comparisons.export import to_json
from loopworth.comparisons.pareto import standings
from loopworth.comparisons.result import Result
from loopworth.comparisons.table import render
from loopworth.comparisons.verdict import Measured, Rule
from tests.comparisons.contenders import Says, arm, compared, comparison

TASKS = [str(n) for n in range(80)]


def contender(name: str, right: int, usd: float | None, seconds: float) -> Measured:
    """Right on the first so many tasks; every task costs and takes the same."""
    costs = dict.fromkeys(TASKS, usd)
    return Measured(name, {t: float(int(t) < right) for t in TASKS}, costs, dict.fromkeys(TASKS, seconds))


def beaten(*arms: Measured) -> dict[str, tuple[str, ...]]:
    return {one.arm: one.dominated_by for one in standings(arms, Rule())}


def test_an_arm_that_is_dearer_slower_and_no_better_is_beaten() -> None:
    """By each arm that is shown to be all three, whichever is the more complex."""
    good, poor = contender("good", 60, 0.01, 1.0), contender("poor", 60, 0.02, 2.0)
    assert beaten(good, poor) == {"good": (), "poor": ("good",)}
    assert beaten(poor, good) == {"poor": ("good",), "good": ()}


def test_what_has_one_advantage_is_not_beaten() -> None:
    """More right, cheaper, or faster: one is enough to stand."""
    base = contender("base", 60, 0.01, 1.0)
    for other in (contender("o", 75, 0.02, 2.0), contender("o", 60, 0.005, 2.0), contender("o", 60, 0.02, 0.5)):
        assert beaten(base, other) == {"base": (), "o": ()}


def test_what_is_unclear_is_not_shown() -> None:
    """An unknown cost, too few tasks, a cost that varies too much, tasks lost, or no right answer at all."""
    base, dear = contender("base", 60, 0.01, 1.0), contender("dear", 60, 0.02, 2.0)
    varied = Measured("dear", dear.right, {t: 0.1 * (t == "7") for t in TASKS}, dear.seconds)
    lost = Measured("dear", {**dear.right, **dict.fromkeys(TASKS[:3])}, dear.usd, dear.seconds)
    for other in (contender("dear", 60, None, 2.0), varied, lost):
        assert beaten(base, other)["dear"] == ()
    assert beaten(contender("base", 0, 0.01, 1.0), contender("dear", 0, 0.02, 2.0))["dear"] == ()
    few = [Measured(o.arm, {t: o.right[t] for t in TASKS[:5]}, o.usd, o.seconds) for o in (base, dear)]
    assert beaten(*few)["dear"] == ()


def test_an_arm_that_costs_nothing_is_cheaper_than_one_that_always_costs() -> None:
    """No ratio is formed over nothing; a cost of 0 on every task needs none."""
    free, paid = contender("free", 60, 0.0, 1.0), contender("paid", 60, 0.01, 2.0)
    assert beaten(free, paid) == {"free": (), "paid": ("free",)}


def test_the_set_is_shown_and_in_the_json() -> None:
    """Not where a comparison stops early, whose tasks were not chosen beforehand."""
    arms = [arm("a", Says(str)), arm("b", Says(lambda question: "no"))]
    found, text = told(compared(comparison(arms, 9)))
    assert [one["arm"] for one in found["pareto"]] == ["a", "b"]
    assert "(the Pareto set): a, b" in text
    found, text = told(compared(comparison(arms, 9, stop_early=True)))
    assert (found["pareto"], "Pareto" in text) == ([], False)


def told(result: Result) -> tuple[dict[str, Any], str]:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(render(result))
    return json.loads(to_json(result)), console.export_text()
