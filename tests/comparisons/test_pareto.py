"""The Pareto set: what is shown to be beaten on accuracy, cost and time at once, and nothing else."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from loopworth.comparisons.export import to_json
from loopworth.comparisons.figures import pareto_words
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


def lines(*arms: Measured) -> list[str]:
    return list(pareto_words(standings(arms, Rule())))


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


COSTS = {"nothing is billed": (0.0, 0.0), "the same for both": (0.01, 0.01), "known of neither": (None, None)}


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_a_cost_that_tells_two_arms_not_apart_protects_neither(costs: tuple[float | None, float | None]) -> None:
    """An arm that is no better and slower is beaten by its time, and the lines say which axes were looked at."""
    good, poor = contender("good", 60, costs[0], 1.0), contender("poor", 60, costs[1], 2.0)
    assert beaten(poor, good) == {"poor": ("good",), "good": ()}
    why = "; what either costs is unknown" if costs[0] is None else ", at no more cost"
    assert lines(poor, good) == [
        "not shown to be beaten on accuracy and time at once (the Pareto set, cost tells none apart): good",
        f"poor: good shown not worse and faster{why}",
    ]


def test_a_cost_that_is_known_of_one_side_alone_shows_nothing() -> None:
    """On all tasks, or on some: the other may cost more, or less."""
    base, slow = contender("base", 60, 0.0, 1.0), contender("slow", 40, None, 2.0)
    part = Measured("slow", slow.right, {**slow.usd, "3": 0.0}, slow.seconds)
    for first, other in ((base, slow), (slow, base), (part, slow), (slow, part), (base, part)):
        assert not any(beaten(first, msgspec.structs.replace(other, arm="other")).values())


def test_where_accuracy_alone_tells_two_arms_apart_the_better_one_beats_the_other() -> None:
    """Not worse is not enough there: two arms that are alike would beat each other."""
    good, poor = contender("good", 60, 0.0, 1.0), contender("poor", 40, 0.0, 1.0)
    assert lines(good, poor)[0].startswith("not shown to be beaten on accuracy (the Pareto set, cost tells none apart,")
    assert lines(good, poor)[1:] == ["poor: good shown better, at no more cost and in no more time"]
    assert beaten(good, contender("twin", 60, 0.0, 1.0)) == {"good": (), "twin": ()}


def test_an_arm_that_costs_now_and_then_is_not_protected_by_that() -> None:
    """What costs nothing costs no more than what costs something on a few tasks."""
    free, part = contender("free", 60, 0.0, 1.0), contender("part", 60, 0.0, 2.0)
    part = Measured("part", part.right, {t: 0.1 * (int(t) < 9) for t in TASKS}, part.seconds)
    assert beaten(free, part) == {"free": (), "part": ("free",)}
    assert lines(free, part)[1] == "part: free shown not worse and faster, at no more cost"


@given(
    st.lists(st.sampled_from([None, 0.0, 0.01, 0.02]), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_no_two_arms_beat_each_other(figures: list[float | None], right: list[bool]) -> None:
    """Whatever is unknown, or alike: some arm is always left."""
    a, b = (
        Measured(
            name,
            {t: float(right[int(t) % 3 + at]) for t in TASKS},
            {t: figures[int(t) % 3 + at] for t in TASKS},
            {t: 1.0 + (figures[int(t) % 3 + at] or 0.0) for t in TASKS},
        )
        for name, at in (("a", 0), ("b", 3))
    )
    found = beaten(a, b)
    assert not (found["a"] and found["b"])


def test_the_set_is_shown_and_in_the_json() -> None:
    """Not where a comparison stops early, whose tasks were not chosen beforehand."""
    arms = [arm("a", Says(str)), arm("b", Says(lambda question: "no"))]
    found, text = told(compared(comparison(arms, 9)))
    assert [one["arm"] for one in found["pareto"]] == ["a", "b"]
    assert [one["axes"] for one in found["pareto"]] == [["accuracy", "time"]] * 2
    assert "(the Pareto set, cost tells none apart): " in text
    found, text = told(compared(comparison(arms, 9, stop_early=True)))
    assert (found["pareto"], "Pareto" in text) == ([], False)


def told(result: Result) -> tuple[dict[str, Any], str]:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(render(result))
    return json.loads(to_json(result)), console.export_text()
