"""What pairs rule out: the rule's table, its agreement with the switch points, and which test is used when."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopworth.comparisons.evidence import (
    Pairs,
    by_e_process,
    by_exact_test,
    by_interval,
    interval,
    pair,
    rules_out_from,
    rules_out_up_to,
    ruling,
    switch_points,
)


def counted(b: int, c: int, n: int) -> Pairs:
    return Pairs((1.0,) * b + (-1.0,) * c + (0.0,) * (n - b - c), 0, n)


@pytest.mark.parametrize(
    ("lower", "upper", "found"),
    [
        (0.12, 0.50, "earns"),
        (-0.10, 0.05, "suffices"),
        (0.01, 0.08, "suffices"),
        (-0.60, -0.20, "better"),
        (0.02, 0.40, "undecided"),
        (0.10, 0.30, "undecided"),
        (-0.05, 0.10, "undecided"),
        (-0.20, 0.20, "undecided"),
        (float("nan"), float("nan"), "undecided"),
    ],
)
def test_the_rule_has_its_truth_table(lower: float, upper: float, found: str) -> None:
    """Strict inequalities: a tie stays with the pipeline, and a limit that equals the smallest gain decides nothing."""
    assert by_interval(lower, upper, 0.1) == found


@given(st.integers(1, 30), st.data())
def test_the_other_arm_sees_the_mirror_image(n: int, data: st.DataObject) -> None:
    """What is ruled out from above for one is ruled out from below for the other."""
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    there, back = counted(b, c, n), counted(c, b, n)
    assert rules_out_from(there, 0.1, 0.05) == rules_out_up_to(back, -0.1, 0.05)


@settings(max_examples=30)
@given(st.integers(1, 30), st.sampled_from([0.0, 0.05, 0.1, 0.2]), st.data())
def test_switch_points_agree_with_the_verdict(n: int, delta: float, data: st.DataObject) -> None:
    """It earns just where the smallest gain lies under the first, and suffices just above the second."""
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    pairs = counted(b, c, n)
    earns, suffices = switch_points(pairs, delta, 0.05) or (0, 0)
    found = ruling(pairs, delta, 0.05)
    assert (found == "earns") is (earns >= delta and rules_out_up_to(pairs, delta, 0.05))
    assert (found in ("suffices", "better")) is (found != "earns" and rules_out_from(pairs, min(suffices, delta), 0.05))
    assert earns <= suffices


def test_whole_pairs_are_decided_by_the_exact_test() -> None:
    """Up to 1,000 of them; with more the e-process alone decides."""
    for b, c, n in ((15, 0, 25), (6, 0, 25), (0, 0, 28), (0, 0, 29), (90, 60, 1000)):
        assert ruling(counted(b, c, n), 0.1, 0.05) == by_exact_test(b, c, n, 0.1, 0.05)
    pairs = counted(150, 0, 1001)
    assert ruling(pairs, 0.1, 0.05) == by_e_process(150, 0, 1001, 0.1, 0.05)
    assert by_exact_test(140, 0, 1001, 0.1, 0.05) == "earns"
    assert ruling(counted(125, 0, 1001), 0.1, 0.05) == "undecided"


def test_a_few_tasks_with_repeats_are_decided_without_an_approximation() -> None:
    """Under 25 differences Student's t is not asked: 24 tasks, each gaining a quarter alike, do not earn at 0.1."""
    few, many = Pairs((0.25,) * 24, 0, 24), Pairs((0.25,) * 20 + (0.3,) * 20, 0, 40)
    assert ruling(few, 0.1, 0.05) == "undecided"
    assert ruling(many, 0.1, 0.05) == "earns"
    limits = interval(few, 0.05)
    assert limits
    assert limits[0] < 0.25 < limits[1]


def test_tasks_of_one_cluster_count_once() -> None:
    """By their mean; a task without a cluster is its own."""
    arm, against = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 1.0}, {"a": 0.0, "b": 1.0, "c": 0.0, "d": 0.0}
    pairs = pair(arm, against, {"a": "t1", "b": "t1", "c": "t2"})
    assert sorted(pairs.differences) == [0.0, 0.5, 1.0]


def test_what_has_no_outcome_is_left_out_and_counted() -> None:
    """A missing task, None and NaN alike, on either side."""
    pairs = pair({"a": 1.0, "b": None, "c": float("nan"), "e": 1.0}, {"a": 0.0, "b": 1.0, "c": 1.0, "d": 1.0})
    assert (pairs.differences, pairs.left_out, pairs.planned) == ((1.0,), 4, 5)


def test_nothing_is_ruled_out_by_no_pair() -> None:
    """And there is no interval and no switch point."""
    none = Pairs(())
    assert not rules_out_up_to(none, -0.9, 0.5)
    assert (none.difference, interval(none, 0.05), switch_points(none, 0.1, 0.05)) == (None, None, None)


def test_repeats_are_rarely_decided_wrongly_at_the_boundary() -> None:
    """A true gain of exactly 0.1 with 4 runs a task: either wrong verdict in at most 8 % of 300 comparisons."""
    draw, wrong = random.Random(3), {"earns": 0, "suffices": 0, "better": 0, "undecided": 0}
    for _ in range(300):
        rates = [draw.uniform(0.1, 0.9) for _ in range(60)]
        runs = [sum((draw.random() < p) - (draw.random() < p - 0.1) for _ in range(4)) / 4 for p in rates]
        wrong[ruling(Pairs(tuple(runs), 0, 60), 0.1, 0.05)] += 1
    assert wrong["earns"] <= 24
    assert wrong["suffices"] + wrong["better"] <= 24
