"""The plan on one pair of arms: how the error is split, the e-process pair by pair, and the one look."""

from __future__ import annotations

import time
from math import inf, isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.e_process import log_e
from loopworth.comparisons.evidence import Pairs, by_e_process, rules_out_up_to
from loopworth.comparisons.sequential import Course, Running, Shut, Wealth, split

DIFFERENCES = st.lists(st.sampled_from([-1.0, 0.0, 1.0, 0.5, -0.25]), max_size=60)


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize("planned", [25, 1000, 1001])
def test_the_shares_of_each_side_come_to_the_error(planned: int, gate: bool) -> None:
    """Both wrong verdicts keep the error whole; above 1,000 the look has none, and below a gate all of its share."""
    found = split(0.05, planned, gate)
    assert isclose(found.earns + found.look_earns, 0.05)
    assert isclose(found.gate + found.suffices + found.look_suffices, 0.05)
    assert isclose(found.gate, 0.01 if gate else 0.0)
    assert (found.look_earns > 0) == (planned <= 1000)


@given(DIFFERENCES, st.sampled_from([-0.1, 0.0, 0.05, 0.1, 0.5]))
def test_wealth_kept_up_is_the_e_process(values: list[float], margin: float) -> None:
    """Value by value it comes to what the e-process says of all of them."""
    assert isclose(Wealth(margin, values).log, log_e(values, margin, -1.0), abs_tol=1e-9)


def test_wealth_against_a_gain_that_cannot_be() -> None:
    """A mean of -1 or less is ruled out by the first value above -1, one under -1 at once."""
    assert (Wealth(-1.0, [-1.0]).log, Wealth(-1.0, [0.0]).log, Wealth(-1.1).log) == (0.0, inf, inf)


@given(DIFFERENCES)
def test_a_pair_is_settled_at_its_first_crossing(values: list[float]) -> None:
    """Course and counts agree: at the first look at which the e-process says anything, and not before."""
    whole = [round(value) * 1.0 for value in values]
    course = Course(split(0.05, 100, False), 0.1)
    for value in whole:
        course.read(value)
    looks = (
        (n, by_e_process(whole[:n].count(1.0), whole[:n].count(-1.0), n, 0.1, 0.02)) for n in range(1, len(whole) + 1)
    )
    first = next(((n, found) for n, found in looks if found != "undecided"), (0, "undecided"))
    assert (course.at, course.found) == first


def test_the_look_is_taken_once_at_its_own_share() -> None:
    """At the planned number the exact test decides at what is left of the error; a second look decides nothing."""
    course = Course(split(0.05, 30, False), 0.1)
    for value in [0.0] * 22 + [1.0] * 8:
        course.read(value)
    assert course.found == "undecided"
    course.look()
    assert (course.found, course.by) == ("earns", "look")
    late = Course(split(0.05, 30, False), 0.1)
    late.look()
    for value in [0.0] * 22 + [1.0] * 8:
        late.read(value)
    late.look()
    assert late.found == "undecided"


def test_nothing_is_settled_once_a_cost_that_is_needed_is_unknown() -> None:
    """Whatever comes after; with every cost known the same pairs settle it."""
    for second, found in ((0.05, "earns"), (None, "undecided")):
        course = Course(split(0.05, 30, False), None, (0.2, 0.2))
        for n in range(30):
            course.read(1.0, second if n == 1 else 0.04)
        course.look()
        assert course.found == found


def test_a_gain_has_to_pay_for_what_its_task_costs() -> None:
    """Net of its cost each pair is a loss of .1: half of them are gained, and none pays for itself."""
    course = Course(split(0.05, 400, False), None, (1.5, 0.0))
    for n in range(400):
        course.read(float(n % 2), 1.1 if n % 2 else 0.1)
    assert course.found == "suffices"
    plain = Course(split(0.05, 400, False), 0.0)
    for n in range(400):
        plain.read(float(n % 2))
    assert plain.found == "earns"


def test_nothing_is_bet_where_no_cap_on_costs_is_known() -> None:
    """A mean of what may be anything is never bounded by a few of it; the look decides by Student's t."""
    course = Course(split(0.05, 60, False), None)
    for n in range(60):
        course.read(float(n % 3 > 0), 0.01 * (n % 4))
    assert course.found == "undecided"
    course.look()
    assert (course.found, course.by) == ("earns", "look")
    assert Wealth(0.0, [1.0, 1.0], low=-inf).log == 0.0


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_the_switch_points_hold_by_the_tests_of_the_plan(b: int, c: int, ties: int) -> None:
    """Under the lower one a gain is ruled out by the e-process or by the look, above it by neither."""
    pairs = Pairs((1.0,) * b + (-1.0,) * c + (0.0,) * ties)
    found = Running(pairs, 0.05, split(0.05, 60, False), looked=pairs.n)
    points = found.switch_points(0.1)
    if points is None:
        assert pairs.n == 0
        return
    for margin, out in ((points[0] - 1e-3, True), (points[0] + 1e-3, False)):
        if -1 < margin < 1:
            running = log_e(pairs.differences, margin, -1.0) >= log(1 / 0.02)
            assert (running or rules_out_up_to(pairs, margin, 0.03)) == out


def test_a_shut_gate_rules_out_what_its_tasks_could_hold() -> None:
    """Its limit is the binomial's: the gate of 3 in 100 at .01 closes on .10, a missing outcome counts as gained."""
    shut = Shut(error=0.05, level=0.01, planned=100, failed=9, ran=9, gained=3, left_out=0, most=3)
    assert shut.limit < 0.1
    assert Shut(0.05, 0.01, 100, 9, 9, 3, 1, 3).limit > 0.1


def test_a_verdict_after_each_of_ten_thousand_pairs_takes_less_than_a_millisecond() -> None:
    """The amortised time of one more pair does not grow with those before it."""
    course, began = Course(split(0.05, 10_000, False), None, (0.2, 0.2)), time.process_time()
    for n in range(10_000):
        course.read((0.0, 0.5, -0.5)[n % 3], 0.1 + n / 1e6)
        course.found = "undecided"
    assert time.process_time() - began < 10
