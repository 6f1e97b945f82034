"""Quantiles of latency, with limits from order statistics: no shape is assumed, and a small n has no upper limit."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isnan, log

from loopworth.runs.usage import Value


class Latency(Value, frozen=True):
    """Seconds that runs took. `p95_upper` is a one-sided 95 % upper limit, None where n is too small for one."""

    n: int
    p50: float | None
    p95: float | None
    p95_upper: float | None
    words: str


def latency(seconds: Sequence[float]) -> Latency:
    """The median and the 95th percentile of some runs, and what can be said of them at this n."""
    n = len(seconds)
    if not n:
        return Latency(0, None, None, None, "no run was timed")
    p50, p95 = quantile(seconds, 0.5), quantile(seconds, 0.95)
    upper = quantile_ci(seconds, 0.95, 0.90)[1]
    least = min_n_quantile_upper(0.95, 0.95)
    words = f"p95 has no upper limit at n = {n} (it takes {least})" if upper is None else f"p95 is under {upper:.3g} s"
    return Latency(n, p50, p95, upper, words)


def quantile(values: Sequence[float], p: float) -> float | None:
    """The p-quantile, interpolated between its neighbours; None without a value."""
    if not values:
        return None
    ordered, place = sorted(values), p * (len(values) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def quantile_ci(values: Sequence[float], p: float, conf: float = 0.95) -> tuple[float | None, float | None]:
    """The two-sided interval of the p-quantile; an end is None where there is no finite limit at this n."""
    if not values:
        return (None, None)
    from scipy.stats import quantile_test  # scipy takes a second to load

    found = quantile_test(list(values), q=0, p=p).confidence_interval(confidence_level=conf)
    low, high = float(found.low), float(found.high)
    return (None if isnan(low) else low, None if isnan(high) else high)


def min_n_quantile_upper(p: float, conf: float = 0.95) -> int:
    """The fewest values from which the p-quantile has a one-sided upper limit: the first n with p^n <= 1 - conf."""
    n = max(1, floor(log(1 - conf) / log(p)))
    while p**n > 1 - conf:
        n += 1
    return n
