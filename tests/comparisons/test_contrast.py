"""Cost and time of one arm beside another, and whether several differ: descriptive, outside the verdict."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from loopworth.comparisons.contrast import any_differ, contrasts
from loopworth.comparisons.export import to_json
from loopworth.comparisons.homogeneity import holm
from loopworth.comparisons.paired_test import mcnemar_exact
from loopworth.comparisons.ratios import ratio_of_means
from loopworth.comparisons.table import render
from loopworth.comparisons.verdict import Measured, decide
from tests.comparisons.contenders import Says, arm, compared, comparison
from tests.comparisons.test_odd_data import run

TASKS = [str(n) for n in range(12)]


def contender(name: str, right: range, usd: float, seconds: float) -> Measured:
    costs = {task: usd * (1 + int(task) / 8) for task in TASKS}
    return Measured(name, {t: float(int(t) in right) for t in TASKS}, costs, dict.fromkeys(TASKS, seconds))


PIPELINE, AGENT, FREE = (
    contender("pipeline", range(5), 0.004, 1.0),
    contender("agent", range(1, 12), 0.04, 2.0),
    contender("free", range(0), 0.0, 0.5),
)


def test_cost_and_time_are_paired_ratios_of_means() -> None:
    """With the interval of the delta method; cost per right answer beside it; p is McNemar's."""
    (found,) = contrasts([PIPELINE, AGENT], decide([PIPELINE, AGENT]))
    assert found.usd == ratio_of_means([AGENT.usd[t] or 0 for t in TASKS], [PIPELINE.usd[t] or 0 for t in TASKS])
    assert found.usd is not None
    assert found.seconds is not None
    assert found.seconds.ratio == 2.0
    assert found.usd_per_right == pytest.approx(found.usd.ratio * 5 / 11)
    assert found.p == found.holm == mcnemar_exact(7, 1)


def test_the_median_task_stands_beside_the_mean() -> None:
    """One dear task moves a mean, and not the median; there is none over a task that cost nothing."""
    dear = Measured("dear", AGENT.right, {**AGENT.usd, "11": 40.0}, AGENT.seconds)
    (found,) = contrasts([PIPELINE, dear], decide([PIPELINE, dear]))
    assert found.usd is not None
    assert found.usd.ratio > 100
    assert (found.usd_median, found.seconds_median) == (pytest.approx(10.0), 2.0)
    once = Measured("once", PIPELINE.right, {**PIPELINE.usd, "3": 0.0}, PIPELINE.seconds)
    (found,) = contrasts([once, AGENT], decide([once, AGENT]))
    assert (found.usd is None, found.usd_median) == (False, None)


def test_no_ratio_is_formed_over_an_arm_that_cost_nothing_or_was_never_right() -> None:
    """None, and the reader is told that there is no correct answer."""
    (found,) = contrasts([FREE, AGENT], decide([FREE, AGENT]))
    assert (found.usd, found.usd_per_right, found.any_right) == (None, None, False)


def test_the_p_of_several_challengers_are_corrected() -> None:
    """By Holm over all of them."""
    found = contrasts([PIPELINE, FREE, AGENT], decide([PIPELINE, FREE, AGENT]))
    assert [one.holm for one in found] == holm([one.p or 0.0 for one in found])
    assert found[0].holm != found[0].p


def test_of_tasks_that_were_not_chosen_beforehand_there_is_no_p() -> None:
    """Runs that are stopped by what they show make a p too small; what they cost and took is told all the same."""
    both = [PIPELINE, AGENT]
    (found,) = contrasts(both, decide(both), tested=False)
    assert (found.p, found.holm) == (None, None)
    assert found.usd == contrasts(both, decide(both))[0].usd


def test_whether_any_of_three_arms_differ_is_one_test() -> None:
    """Cochran's Q; none for two arms, or where repeats give halves."""
    assert any_differ([PIPELINE, AGENT]) is None
    q = any_differ([PIPELINE, AGENT, FREE])
    assert q is not None
    assert (q.df, q.p < 0.05) == (2, True)
    assert any_differ([PIPELINE, AGENT, Measured("half", dict.fromkeys(TASKS, 0.5))]) is None


def test_the_report_shows_them_beside_the_verdict() -> None:
    """A line for Cochran's Q, a row for each challenger with the interval of its ratio, and both in the JSON."""
    result = run([("right", "wrong"), ("wrong", "right"), ("right", "wrong")] * 3)
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(render(result))
    assert "cost and time beside the arm that held the place" in console.export_text()
    (one,) = json.loads(to_json(result))["contrasts"]
    assert (one["usd"]["ratio"], one["p"], one["provenance"]["p"]) == (1.0, mcnemar_exact(3, 6), "measured")
    three = compared(comparison([arm("a", Says(str)), arm("b", Says(lambda q: "no")), arm("c", Says(str))], 9))
    console.print(render(three))
    assert "Cochran's Q" in console.export_text()
    assert json.loads(to_json(three))["any_differ"]["df"] == 2
