"""Latency: medians and tails, and the honest absence of a limit."""

from __future__ import annotations

from math import isclose, isnan

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom, quantile_test

from loopworth.comparisons.quantiles import latency, min_n_quantile_upper, quantile, quantile_ci


def test_a_tail_has_no_upper_limit_at_25() -> None:
    """The words say so, and how many runs it takes."""
    found = latency([float(i) for i in range(25)])
    assert (found.p50, found.p95_upper) == (12.0, None)
    assert found.note == "p95 has no upper limit at n = 25 (it takes 59)"


def test_a_tail_has_an_upper_limit_from_59() -> None:
    """59 runs give one, 58 do not: it is the largest of them."""
    assert latency([float(i) for i in range(58)]).p95_upper is None
    assert latency([float(i) for i in range(59)]).p95_upper == 58.0


def test_no_run_has_no_quantile() -> None:
    """A sentence, not 0 and not NaN."""
    assert latency([]).note == "no run was timed"
    assert quantile([], 0.5) is None
    assert quantile_ci([], 0.5) == (None, None)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=80), st.sampled_from([0.1, 0.5, 0.95]))
def test_limits_stand_on_both_sides_of_the_quantile(values: list[float], p: float) -> None:
    """An end that exists lies on its side, and is one of the values."""
    low, high = quantile_ci(values, p, 0.9)
    middle = quantile(values, p)
    assert middle is not None
    assert low is None or (low in values and low <= middle)
    assert high is None or (high in values and high >= middle)


@given(st.integers(1, 400), st.sampled_from([0.05, 0.5, 0.95, 0.99]), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_limits_are_those_of_the_quantile_test(n: int, p: float, conf: float) -> None:
    """As scipy has it, whose whole package of statistics takes too long to load for two binomial quantiles; where a
    chance is just the one that is wanted, scipy's ends are a matter of rounding."""
    chances, tail = binom(n, p).cdf(range(n)), (1 - conf) / 2
    assume(not any(isclose(chance, wanted, rel_tol=1e-9) for chance in chances for wanted in (tail, 1 - tail)))
    values = [float(k) for k in range(n)]
    theirs = quantile_test(values, q=0, p=p).confidence_interval(confidence_level=conf)
    assert quantile_ci(values, p, conf) == tuple(None if isnan(end) else end for end in theirs)


@pytest.mark.parametrize(
    ("n", "p", "conf", "places"),
    [
        (1, 0.05, 0.9, (None, 0)),
        (1, 0.95, 0.9, (None, None)),
        (2, 0.5, 0.5, (None, 1)),
        (2, 0.9, 0.98, (None, None)),
        (2, 0.1, 0.98, (None, 1)),
    ],
)
def test_a_chance_that_is_just_the_one_wanted(
    n: int, p: float, conf: float, places: tuple[int | None, int | None]
) -> None:
    """An upper end holds then, and a lower one does not, however the chance is rounded."""
    assert quantile_ci(range(n), p, conf) == places


@pytest.mark.parametrize(("p", "least"), [(0.5, 5), (0.95, 59), (0.99, 299)])
def test_the_fewest_runs_for_a_limit(p: float, least: int) -> None:
    """The first n with p^n at most 5 %."""
    assert min_n_quantile_upper(p, 0.95) == least
