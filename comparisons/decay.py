"""How accuracy falls with the number of steps k."""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt
from typing import NamedTuple


class Trend(NamedTuple):
    z: float
    p: float


class Slope(NamedTuple):
    slope: float
    se: float


def per_step(accuracy: float, k: float) -> float:
    """The accuracy of one step if k equal, independent steps give `accuracy`."""
    return float(accuracy ** (1 / k))


def chain(p: float, k: float) -> float:
    """The accuracy of k equal, independent steps of accuracy p."""
    return float(p**k)


def cumulative_turns(n: int) -> int:
    """How many turns' worth of transcript n turns send, when each sends all that came before: 1 + 2 + … + n."""
    return n * (n + 1) // 2


def cochran_armitage(k: Sequence[float], n: Sequence[int], x: Sequence[float]) -> Trend | None:
    """The trend of k right of n over the levels x, two-sided. Cochran 1954, Biometrics 10:417; Armitage 1955, 11:375.

    None where nothing can trend: one level, or every answer alike.
    """
    total, right = sum(n), sum(k)
    if not 0 < right < total:
        return None
    p = right / total
    moment = sum(m * v for m, v in zip(n, x, strict=True))
    spread = p * (1 - p) * (sum(m * v * v for m, v in zip(n, x, strict=True)) - moment * moment / total)
    if spread <= 0:
        return None
    z = sum(v * (hits - m * p) for hits, m, v in zip(k, n, x, strict=True)) / sqrt(spread)
    return Trend(z, erfc(abs(z) / sqrt(2)))


def logit_slope(k: Sequence[int], n: Sequence[int], x: Sequence[float]) -> Slope | None:
    """The slope of the log odds of being right over x, by Newton's method; None where it has no finite maximum."""
    import numpy as np  # numpy takes a tenth of a second to load

    if cochran_armitage(k, n, x) is None or separated(k, n, x):
        return None
    design = np.column_stack([np.ones(len(x)), np.asarray(x, float)])
    trials, beta = np.asarray(n, float), np.zeros(2)
    for _ in range(100):
        p = 1 / (1 + np.exp(-design @ beta))
        information = design.T @ (design * (trials * p * (1 - p))[:, None])
        step = np.linalg.solve(information, design.T @ (np.asarray(k, float) - trials * p))
        beta += step
        if np.abs(step).max() < 1e-10:
            break
    return Slope(float(beta[1]), float(np.sqrt(np.linalg.inv(information)[1, 1])))


def separated(k: Sequence[int], n: Sequence[int], x: Sequence[float]) -> bool:
    """Whether some level of x parts the right answers from the wrong ones, so that the slope has no limit."""
    right = [v for hits, v in zip(k, x, strict=True) if hits]
    wrong = [v for hits, m, v in zip(k, n, x, strict=True) if hits < m]
    return max(right) <= min(wrong) or max(wrong) <= min(right)
