"""Ratios of cost or latency between two arms that ran the same tasks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import exp, isfinite, sqrt
from statistics import fmean
from typing import Any

from loopworth.comparisons.intervals import Interval, t_of
from loopworth.runs.usage import Value


class Ratio(Value, frozen=True):
    """How many times as much one arm took as the other, with an interval."""

    ratio: float
    interval: Interval


def ratio_of_means(numerator: Sequence[float], denominator: Sequence[float], conf: float = 0.95) -> Ratio | None:
    """The paired ratio of means with a delta-method interval on the log scale, Student's t with n - 1 df.

    None under two pairs, and where a mean is not above 0: no ratio is formed over nothing.
    """
    n = len(numerator)
    if n < 2 or fmean(numerator) <= 0 or fmean(denominator) <= 0:
        return None
    over, under = fmean(numerator), fmean(denominator)
    parts = [a / over - p / under for a, p in zip(numerator, denominator, strict=True)]
    reach = exp(t_of(conf, n - 1) * spread(parts) / sqrt(n))
    return Ratio(over / under, (over / under / reach, over / under * reach))


def spread(values: Sequence[float]) -> float:
    """The standard deviation of a sample; by numpy, since a report takes it of tens of thousands of values."""
    import numpy as np

    return float(np.std(values, ddof=1))


def ratio_of_means_bca(
    numerator: Sequence[float], denominator: Sequence[float], conf: float = 0.95, resamples: int = 9999, seed: int = 0
) -> Interval | None:
    """The same interval by a paired bootstrap (BCa), on request only: delta-t covers better at n = 25 to 100.

    None where `ratio_of_means` is, and where so much is 0 that an end has no finite value.
    """
    if ratio_of_means(numerator, denominator, conf) is None:
        return None
    import numpy as np

    shares = {a / p for a, p in zip(numerator, denominator, strict=True) if p}
    if len(shares) == 1 and all(denominator):  # nothing varies, so that no resample differs
        return (ratio := shares.pop(), ratio)
    from scipy.stats import (  # type: ignore[attr-defined]  # untyped; it takes a second to load
        DegenerateDataWarning,
        bootstrap,
    )

    def log_ratio(a: Any, p: Any, axis: int = -1) -> Any:
        return np.log(np.mean(a, axis=axis) / np.mean(p, axis=axis))

    with np.errstate(all="ignore"), warnings.catch_warnings():  # a resample of nothing but zeros has no ratio
        warnings.simplefilter("ignore", DegenerateDataWarning)
        found = bootstrap(
            (numerator, denominator),
            log_ratio,
            paired=True,
            vectorized=True,
            n_resamples=resamples,
            confidence_level=conf,
            method="BCa",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    low, high = float(found.low), float(found.high)
    return (exp(low), exp(high)) if isfinite(low) and isfinite(high) else None


def cost_per_correct(cost: float, correct: float) -> float | None:
    """What a correct answer cost; None where there was none (say "no correct answer")."""
    return cost / correct if correct > 0 else None


def cost_per_correct_ratio(cost_a: float, correct_a: float, cost_p: float, correct_p: float) -> float | None:
    """The agent's cost per correct answer over the pipeline's; None where either has no answer or the latter cost 0."""
    a, p = cost_per_correct(cost_a, correct_a), cost_per_correct(cost_p, correct_p)
    return a / p if a is not None and p else None
