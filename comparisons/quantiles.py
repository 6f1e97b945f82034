"""Quantiles of latency, with limits from order statistics: no shape is assumed, and a small n has no upper limit."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log

from loopworth.runs.usage import Value

TIE = 1e-12
"""How far a chance may be from another and still be the same, but for rounding."""


class Latency(Value, frozen=True):
    """Seconds that runs took. `p95_upper` is a one-sided 95 % upper limit, None where `n`, the number of runs that it
    rests on, is too small for one, which `note` says then."""

    p50: float | None
    p95: float | None
    p95_upper: float | None = None
    n: int = 0
    note: str = ""


def latency(seconds: Sequence[float], once: Sequence[float] | None = None) -> Latency:
    """The median and the 95th percentile of some runs, and an upper limit of the latter, which rests on `once`: one run
    of each task, since runs of one task are not independent (None: each was run once)."""
    once = seconds if once is None else once
    p50, p95, upper = quantile(seconds, 0.5), quantile(seconds, 0.95), quantile_ci(once, 0.95, 0.90)[1]
    n, least = len(once), min_n_quantile_upper(0.95, 0.95)
    lacking = f"p95 has no upper limit at n = {n} (it takes {least})" if n else "no run was timed"
    return Latency(p50, p95, upper, n, lacking if upper is None else "")


def quantile(values: Sequence[float], p: float) -> float | None:
    """The p-quantile, interpolated between its neighbours; None without a value."""
    if not values:
        return None
    ordered, place = sorted(values), p * (len(values) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def quantile_ci(values: Sequence[float], p: float, conf: float = 0.95) -> tuple[float | None, float | None]:
    """The two-sided interval of the p-quantile; an end is None where there is no finite limit at this n.

    The ends are the values whose places are binomial quantiles. Conover 1999, Practical Nonparametric Statistics, 3.2
    (`scipy.stats.quantile_test`, for which all of scipy.stats would be loaded).
    """
    n = len(values)
    if not n:
        return (None, None)
    from numpy import arange
    from scipy.special import bdtr, bdtrc  # scipy takes a while to load

    ordered, places, tail = sorted(values), arange(n), (1 - conf) / 2
    low, high = int((bdtr(places, n, p) < tail - TIE).sum()) - 1, int((bdtrc(places, n, p) > tail + TIE).sum())
    return (ordered[low] if low >= 0 else None, ordered[high] if high < n else None)


def min_n_quantile_upper(p: float, conf: float = 0.95) -> int:
    """The fewest values from which the p-quantile has a one-sided upper limit: the first n with p^n <= 1 - conf."""
    n = max(1, floor(log(1 - conf) / log(p)))
    while p**n > 1 - conf:
        n += 1
    return n
