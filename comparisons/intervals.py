"""Intervals for one proportion, for the difference of two, paired or not, and for one mean.

Every interval is `(lower, upper)`; where there is no data there is none, and the function returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import acos, cos, exp, isfinite, pi, sqrt
from statistics import NormalDist, fmean, variance
from typing import TypeAlias

Interval: TypeAlias = tuple[float, float]


def z_of(conf: float) -> float:
    """The normal quantile of a two-sided interval: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + conf) / 2)


def t_of(conf: float, df: int) -> float:
    """Student's quantile of a two-sided interval with `df` degrees of freedom."""
    from scipy.special import stdtrit  # scipy takes a while to load

    return float(stdtrit(df, (1 + conf) / 2))


def wilson(k: float, n: float, conf: float = 0.95) -> Interval | None:
    """Wilson's score interval for k right of n; n may be an effective size. Wilson 1927, JASA 22:209."""
    if n <= 0:
        return None
    z, p = z_of(conf), k / n
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    scale = 1 + z * z / n
    return (0.0 if k <= 0 else (middle - half) / scale, 1.0 if k >= n else (middle + half) / scale)


def wilson_clustered(shares: Sequence[float], runs: int, conf: float = 0.95) -> Interval | None:
    """Wilson's interval for the mean accuracy of tasks run `runs` times each, at the effective number of runs.

    `shares` is each task's share of right runs. The effective size is p(1 - p) / var(mean), kept between the number of
    tasks and the number of runs (the number of tasks where the shares do not vary), times (z / t)², after Korn and
    Graubard 1998, Survey Methodology 24:193.
    """
    n = len(shares)
    if n < 2:
        return wilson(sum(shares), n, conf)
    p, v = fmean(shares), variance(shares) / n
    size = min(max(p * (1 - p) / v, n), n * runs) if v > 0 else n
    size *= (z_of(conf) / t_of(conf, n - 1)) ** 2
    return wilson(p * size, size, conf)


def zero_event_upper(n: int, alpha: float = 0.05) -> float:
    """The one-sided upper limit of a rate of which n runs showed no case: 1 - alpha^(1/n), and 1 without a run."""
    return float(1 - alpha ** (1 / n)) if n else 1.0


def event_upper(k: int, n: int, alpha: float = 0.05) -> float:
    """The one-sided upper limit of a rate, k cases in n runs. Clopper and Pearson 1934, Biometrika 26:404."""
    if k == 0 or k >= n:
        return zero_event_upper(n, alpha) if k == 0 else 1.0
    from scipy.special import betaincinv  # scipy takes a while to load

    return float(betaincinv(k + 1, n - k, 1 - alpha))


def paired_t(differences: Sequence[float], conf: float = 0.95) -> Interval | None:
    """Student's interval for the mean of per-task differences; None under two tasks."""
    n = len(differences)
    if n < 2:
        return None
    mean, half = fmean(differences), t_of(conf, n - 1) * sqrt(variance(differences) / n)
    return (mean - half, mean + half)


def mean_log_t(totals: Sequence[float], sizes: Sequence[int], conf: float = 0.95) -> Interval | None:
    """The interval for a mean of amounts, none under 0: its delta interval on the log scale, Student's t with n - 1 df.

    What `ratios.ratio_of_means` is for two arms, for one. `totals` are those of n units that do not depend on each
    other, such as tasks, of `sizes` runs each; where sizes differ the mean is a ratio itself, linearized (Cochran 1977,
    Sampling Techniques, 2.11). None under two units, and where an amount is not finite.
    """
    n, runs, total = len(totals), sum(sizes), sum(totals)
    if n < 2 or not isfinite(total):
        return None
    if (mean := total / runs) <= 0:
        return (0.0, 0.0)
    spread = sqrt(sum((amount / mean - size) ** 2 for amount, size in zip(totals, sizes, strict=True)) / (n - 1))
    reach = exp(t_of(conf, n - 1) * spread * sqrt(n) / runs)
    return (mean / reach, mean * reach)


def newcombe_paired(both: int, b: int, c: int, neither: int, conf: float = 0.95) -> Interval | None:
    """Newcombe's method 10 for the difference of paired proportions: b - c over n. Newcombe 1998, Stat Med 17:2635."""
    n = both + b + c + neither
    agent, pipeline = wilson(both + b, n, conf), wilson(both + c, n, conf)
    if agent is None or pipeline is None:
        return None
    margins = (both + b) * (c + neither) * (both + c) * (b + neither)
    excess = both * neither - b * c
    corrected = max(excess - n / 2, 0.0) if excess > 0 else excess
    phi = corrected / sqrt(margins) if margins else 0.0
    return hybrid((both + b) / n, agent, (both + c) / n, pipeline, phi)


def newcombe_unpaired(k1: int, n1: int, k2: int, n2: int, conf: float = 0.95) -> Interval | None:
    """Newcombe's method 10 for the difference of independent proportions. Newcombe 1998, Stat Med 17:873."""
    first, second = wilson(k1, n1, conf), wilson(k2, n2, conf)
    if first is None or second is None:
        return None
    return hybrid(k1 / n1, first, k2 / n2, second, 0.0)


def hybrid(p1: float, first: Interval, p2: float, second: Interval, phi: float) -> Interval:
    """The interval for p1 - p2 out of the intervals of both, which correlate by `phi`."""

    def reach(x: float, y: float) -> float:
        return sqrt(max(x * x - 2 * phi * x * y + y * y, 0.0))

    below, above = reach(p1 - first[0], second[1] - p2), reach(first[1] - p1, p2 - second[0])
    return (max(p1 - p2 - below, -1.0), min(p1 - p2 + above, 1.0))


def tango(b: int, c: int, n: int, conf: float = 0.95) -> Interval | None:
    """The score interval for a paired difference: b tasks only the agent got right, c only the pipeline, of n.

    Tango 1998, Stat Med 17:891: the margins whose score statistic lies within ±z.
    """
    if n <= 0:
        return None
    z = z_of(conf)
    if b == c == 0:
        return (-z * z / (n + z * z), z * z / (n + z * z))
    upper = crossing(lambda m: score(b, c, n, m) + z, (b - c) / n, 1.0)
    lower = -crossing(lambda m: score(c, b, n, m) + z, (c - b) / n, 1.0)
    return (lower, upper)


def score(b: int, c: int, n: int, margin: float) -> float:
    """Tango's score statistic of a paired difference against `margin`: positive where more was gained than that."""
    q = restricted_loss(b, c, n, margin)
    spread = sqrt(max(n * (2 * q + margin * (1 - margin)), 0.0))
    excess = b - c - n * margin
    if spread == 0:
        return 0.0 if abs(excess) < 1e-12 else float("inf") if excess > 0 else float("-inf")
    return excess / spread


def restricted_loss(b: float, c: float, n: float, margin: float) -> float:
    """The likeliest P(only the pipeline is right) where the difference is exactly `margin` (Tango's closed form)."""
    linear = -b - c + (2 * n - b + c) * margin
    constant = -c * margin * (1 - margin)
    return max((sqrt(max(linear * linear - 8 * n * constant, 0.0)) - linear) / (4 * n), 0.0, -margin)


def miettinen_nurminen(k1: int, n1: int, k2: int, n2: int, conf: float = 0.95) -> Interval | None:
    """The score interval for the difference of independent proportions, with the factor N / (N - 1).

    Miettinen and Nurminen 1985, Stat Med 4:213; the restricted maximum likelihood in the closed form of Farrington
    and Manning 1990, Stat Med 9:1447.
    """
    if n1 <= 0 or n2 <= 0:
        return None
    z, gap = z_of(conf), k1 / n1 - k2 / n2
    upper = crossing(lambda m: unpaired_score(k1, n1, k2, n2, m) + z, gap, 1.0)
    lower = -crossing(lambda m: unpaired_score(k2, n2, k1, n1, m) + z, -gap, 1.0)
    return (lower, upper)


def unpaired_score(k1: int, n1: int, k2: int, n2: int, margin: float) -> float:
    """The score statistic of p1 - p2 against `margin`."""
    p2 = restricted_second(k1, n1, k2, n2, margin)
    p1, n = p2 + margin, n1 + n2
    v = (p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2) * n / (n - 1)
    excess = k1 / n1 - k2 / n2 - margin
    if v <= 0:
        return 0.0 if abs(excess) < 1e-12 else float("inf") if excess > 0 else float("-inf")
    return excess / sqrt(v)


def restricted_second(k1: int, n1: int, k2: int, n2: int, margin: float) -> float:
    """The likeliest p2 where p1 - p2 is exactly `margin`: the root of a cubic, by its cosine form."""
    ratio, p1, p2 = n1 / n2, k1 / n1, k2 / n2
    # In terms of the first proportion x: a x³ + q x² + r x + s = 0.
    a = 1 + 1 / ratio
    q = -(1 + 1 / ratio + p1 + p2 / ratio + margin * (1 / ratio + 2))
    r = margin * margin + margin * (2 * p1 + 1 / ratio + 1) + p1 + p2 / ratio
    s = -p1 * margin * (1 + margin)
    v = (q / (3 * a)) ** 3 - q * r / (6 * a * a) + s / (2 * a)
    u = (1 if v > 0 else -1) * sqrt(max((q / (3 * a)) ** 2 - r / (3 * a), 0.0))
    angle = (pi + acos(max(-1.0, min(1.0, v / u**3 if u else 0.0)))) / 3
    x = 2 * u * cos(angle) - q / (3 * a)
    return min(max(x - margin, 0.0, -margin), 1.0, 1 - margin)


def crossing(f: Callable[[float], float], low: float, high: float, within: float = 1e-12) -> float:
    """Where the falling function `f` turns negative between `low` and `high`; `high` where it never does."""
    if f(high) > 0:
        return high
    while high - low > within:
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return low
