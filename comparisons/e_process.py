"""The e-process: evidence on a mean gain that stays valid however often it is looked at.

A wealth that starts at 1 is bet against a hypothesis, task after task; under it the wealth ever reaches 1/a with a
probability of at most a (Ville 1939). Waudby-Smith and Ramdas 2024, JRSSB 86:1, with a uniform mixture over the bets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, inf, isfinite, log

from loopworth.comparisons.intervals import Interval, crossing

KAPPAS: tuple[float, ...] = tuple(i / 20 for i in range(1, 21))
"""The shares of the wealth that are bet; the process is the mean over them."""


def log_e(x: Sequence[float], margin: float, lower_bound: float) -> float:
    """The log of the evidence against "each value has a mean of `margin` or less", after the last value.

    No value may be under `lower_bound`. For "of `margin` or more" pass -x, -margin and minus the upper bound.
    """
    if any(not isfinite(value) or value < lower_bound for value in x):
        raise ValueError(f"every value must be a number of {lower_bound} or more")
    if margin <= lower_bound:
        return inf if margin < lower_bound or any(value > lower_bound for value in x) else 0.0
    gains = [((value - lower_bound) / (margin - lower_bound), count) for value, count in Counter(x).items()]
    return log_mean(sum(count * log_factor(kappa, gain) for gain, count in gains) for kappa in KAPPAS)


def log_e_counts(b: float, c: float, n: float, margin: float) -> float:
    """`log_e` of n pairs of which b are 1, c are -1 and the rest 0: a closed form in the three counts."""
    if margin <= -1:
        return inf if margin < -1 or c < n else 0.0
    outcomes = [(count, gain / (1 + margin)) for count, gain in ((b, 2.0), (n - b - c, 1.0), (c, 0.0)) if count]
    return log_mean(sum(count * log_factor(kappa, gain) for count, gain in outcomes) for kappa in KAPPAS)


def log_factor(kappa: float, gain: float) -> float:
    """The log of what betting the share `kappa` makes of the wealth when the stake grows by `gain`."""
    factor = 1 - kappa + kappa * gain
    return log(factor) if factor > 0 else -inf


def log_mean(logs: Iterable[float]) -> float:
    """The log of the mean of numbers given by their logs."""
    values = list(logs)
    top = max(values)
    return top if top == -inf else top + log(sum(exp(value - top) for value in values) / len(values))


def conf_seq(b: int, c: int, n: int, alpha_each_end: float) -> Interval | None:
    """The confidence sequence for the paired gain at n pairs: the margins that the e-process has not ruled out."""
    if n <= 0:
        return None
    needed = log(1 / alpha_each_end)
    lower = crossing(lambda m: log_e_counts(b, c, n, m) - needed, -1.0, (b - c) / n)
    upper = -crossing(lambda m: log_e_counts(c, b, n, m) - needed, -1.0, (c - b) / n)
    return (lower, upper)


def n_more(b: float, c: float, n: int, delta: float, alpha: float, cap: int = 10) -> int | None:
    """How many more pairs decide if the rates seen so far hold; None where cap · n more would not.

    The log evidence of counts scaled by s is convex in s and 0 at 0, so that past its crossing it stays past.
    """
    needed, low, high = log(1 / alpha), 0, cap * n

    def decided(more: int) -> bool:
        scale = (n + more) / n
        sides = ((b, c, delta), (c, b, 0.0), (c, b, -delta))
        return any(log_e_counts(x * scale, y * scale, n + more, margin) >= needed for x, y, margin in sides)

    if n <= 0 or not decided(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high
