"""Intervals: where they lie, how they mirror, and what they say at the edges."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons import intervals
from loopworth.comparisons.ratios import ratio_of_means

Counts = tuple[int, int, int]


@st.composite
def counts(draw: st.DrawFn) -> Counts:
    """(b, c, n) of paired tasks."""
    n = draw(st.integers(1, 300))
    b = draw(st.integers(0, n))
    return b, draw(st.integers(0, n - b)), n


@given(st.integers(1, 5000), st.floats(0, 1), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_holds_the_share_and_stays_between_0_and_1(n: int, share: float, conf: float) -> None:
    """It is never ± 0, also where every answer is alike."""
    k = round(share * n)
    lower, upper = intervals.wilson(k, n, conf) or (1, 0)
    assert 0 <= lower <= k / n <= upper <= 1
    assert upper - lower > 0


def test_wilson_is_wider_for_fewer_tasks() -> None:
    """Nothing right of 25 says less than nothing right of 5,000."""
    few, many = intervals.wilson(0, 25), intervals.wilson(0, 5000)
    assert few
    assert many
    assert few[1] > 100 * many[1] > 0


def test_the_reference_experiments_intervals_come_out() -> None:
    """The published table of native tool calls, k = 1..5, in percent."""
    found = [intervals.wilson(k, 25) or (0, 0) for k in (25, 24, 20, 17, 10)]
    assert [(round(100 * low, 1), round(100 * high, 1)) for low, high in found] == [
        (86.7, 100.0),
        (80.5, 99.3),
        (60.9, 91.1),
        (48.4, 82.8),
        (23.4, 59.3),
    ]


def test_no_task_has_no_interval() -> None:
    """None, never NaN and never 0."""
    assert intervals.wilson(0, 0) is None
    assert intervals.wilson_clustered([], 3) is None
    assert intervals.tango(0, 0, 0) is None
    assert intervals.newcombe_paired(0, 0, 0, 0) is None
    assert intervals.newcombe_unpaired(0, 0, 1, 2) is None
    assert intervals.miettinen_nurminen(1, 2, 0, 0) is None
    assert intervals.paired_t([0.5]) is None


@given(st.lists(st.floats(0.001, 1000), min_size=2, max_size=60))
def test_the_interval_of_a_mean_is_that_of_its_ratio_to_a_constant(amounts: list[float]) -> None:
    """It holds the mean, and has no limit under 0."""
    low, high = intervals.mean_log_t(amounts, [1] * len(amounts)) or (1, 0)
    ratio = ratio_of_means(amounts, [1.0] * len(amounts))
    assert ratio is not None
    assert (low, high) == pytest.approx(ratio.interval)
    assert 0 < low <= ratio.ratio * (1 + 1e-9)
    assert ratio.ratio <= high * (1 + 1e-9)


@given(st.lists(st.tuples(st.floats(0.001, 1000), st.integers(1, 5)), min_size=2, max_size=30), st.integers(2, 5))
def test_more_runs_of_the_same_tasks_say_no_more_of_others(units: list[tuple[float, int]], times: int) -> None:
    """Repeats that take what the first runs took leave the interval of a mean as it is."""
    totals, sizes = [total for total, _ in units], [size for _, size in units]
    again = intervals.mean_log_t([times * total for total in totals], [times * size for size in sizes])
    assert again == pytest.approx(intervals.mean_log_t(totals, sizes))


def test_a_mean_of_nothing_is_nothing_and_one_task_has_no_interval() -> None:
    """Nor has what is not finite; a mean under the least number that there is, is nothing too."""
    assert intervals.mean_log_t([0.0, 0.0], [1, 1]) == (0.0, 0.0)
    assert intervals.mean_log_t([5e-324, 0.0, 0.0], [1, 1, 1]) == (0.0, 0.0)
    assert intervals.mean_log_t([5.0], [1]) is None
    assert intervals.mean_log_t([1.0, float("inf")], [1, 1]) is None


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=60))
def test_repeats_of_a_task_never_count_as_tasks_of_their_own(shares: list[float]) -> None:
    """The interval is at least as wide as Wilson's on all runs, and holds the mean."""
    clustered = intervals.wilson_clustered(shares, 4) or (1, 0)
    naive = intervals.wilson(4 * sum(shares), 4 * len(shares)) or (0, 1)
    assert clustered[0] - 1e-9 <= sum(shares) / len(shares) <= clustered[1] + 1e-9
    assert clustered[1] - clustered[0] >= naive[1] - naive[0] - 1e-9


@given(counts(), st.sampled_from([0.8, 0.9, 0.95]))
def test_tango_mirrors_when_the_arms_swap(found: Counts, conf: float) -> None:
    """It holds the difference, stays between -1 and 1, and swapping b and c turns it round."""
    b, c, n = found
    lower, upper = intervals.tango(b, c, n, conf) or (1, 0)
    assert -1 <= lower <= (b - c) / n <= upper <= 1
    assert intervals.tango(c, b, n, conf) == pytest.approx((-upper, -lower), abs=1e-9)


@given(counts())
def test_tango_limits_are_where_the_score_is_z(found: Counts) -> None:
    """Each limit within (-1, 1) has a score statistic of ± z."""
    b, c, n = found
    lower, upper = intervals.tango(b, c, n, 0.9) or (0, 0)
    z = intervals.z_of(0.9)
    assert lower == -1 or intervals.score(b, c, n, lower) == pytest.approx(z, abs=1e-4)
    assert upper == 1 or intervals.score(b, c, n, upper) == pytest.approx(-z, abs=1e-4)


@given(counts(), st.integers(0, 300))
def test_newcombe_holds_the_difference_and_mirrors(found: Counts, both: int) -> None:
    """The closed form, too, is the same story told from the other arm."""
    b, c, neither = found
    lower, upper = intervals.newcombe_paired(both, b, c, neither) or (1, 0)
    assert -1 <= lower <= (b - c) / (both + b + c + neither) <= upper <= 1
    assert intervals.newcombe_paired(both, c, b, neither) == pytest.approx((-upper, -lower))


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_unpaired_score_interval_mirrors(n1: int, n2: int, data: st.DataObject) -> None:
    """Miettinen and Nurminen's interval holds the difference, and swapping the groups turns it round."""
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    lower, upper = intervals.miettinen_nurminen(k1, n1, k2, n2) or (1, 0)
    assert -1 <= lower <= k1 / n1 - k2 / n2 <= upper <= 1
    assert intervals.miettinen_nurminen(k2, n2, k1, n1) == pytest.approx((-upper, -lower), abs=1e-9)


def test_the_limit_of_a_rate_falls_with_clean_runs_and_rises_with_harm() -> None:
    """Zero harm in 25, 100 and 299 runs leaves 11.3, 3.0 and 1.0 %; Clopper-Pearson takes over after the first."""
    limits = [intervals.event_upper(0, n) for n in (0, 25, 100, 299)]
    assert [round(100 * limit, 1) for limit in limits] == [100.0, 11.3, 3.0, 1.0]
    assert all(a < b for a, b in pairwise(intervals.event_upper(k, 50) for k in range(51)))
    assert intervals.event_upper(50, 50) == 1
