"""Tests on pairs: b tasks that only the agent got right, c that only the pipeline got right, of n."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIE = 1e-9
"""Score statistics this close count as equal, so that rounding never drops an outcome from the tail."""
NEGLIGIBLE = 1e-14
"""Numbers of gains less likely than this are not looked into; their chance is added to p."""
MOST_SUMMED = 1000
"""Tosses of a coin whose chances are summed exactly; of more the sum takes long."""
GRID, ROUNDS, KEPT = 80, 5, 3
"""The nuisance grid: its first number of points, how often it is looked at, and how many of its peaks are refined."""


def mcnemar_exact(b: int, c: int) -> float:
    """McNemar's exact test, two-sided: the binomial test of b against c. McNemar 1947, Psychometrika 12:153."""
    return min(1.0, 2 * half_tail(b, c))


def mcnemar_midp(b: int, c: int) -> float:
    """McNemar's test, two-sided, with the mid-p correction. Fagerland, Lydersen and Laake 2013, BMC MRM 13:91."""
    return float(min(1.0, 2 * half_tail(b, c) - comb(b + c, b) / 2 ** (b + c)))


def half_tail(b: int, c: int) -> float:
    """P(X <= min(b, c)) for a fair coin tossed b + c times."""
    if b + c > MOST_SUMMED:
        from scipy.special import bdtr  # scipy takes a while to load

        return float(bdtr(min(b, c), b + c, 0.5))
    return float(sum(comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c))


@lru_cache(maxsize=256)
def exact_p(b: int, c: int, n: int, margin: float) -> float:
    """The exact unconditional one-sided p of "the agent gains `margin` or less": small where it gains more.

    The largest probability, over all rates of loss, of a score statistic at least as large as the one seen. For "the
    agent gains `margin` or more" swap b and c and negate `margin`. Without a pair it is 1. Hsueh, Liu and Chen 2001,
    Biometrics 57:478; Berger and Sidik 2003, Stat Methods Med Res 12:91. Below a second at n = 1,000.
    """
    if n <= 0 or margin >= 1:
        return 1.0
    if margin <= -1:
        return 0.0 if margin < -1 or c < n else 1.0
    import numpy as np  # numpy takes a tenth of a second to load

    limits = tail(b, c, n, margin)
    lowest, highest = max(0.0, -margin), (1 - margin) / 2
    # Spaced by a cosine: the tail's chance may be steep where no task, or every task, parts the arms.
    points = lowest + (highest - lowest) * (1 - np.cos(np.linspace(0, np.pi, GRID))) / 2
    best = 0.0
    for _ in range(ROUNDS):
        chances = tail_chances(limits, n, margin, points)
        best = max(best, float(chances.max()))
        peaks = np.argsort(chances)[-KEPT:]
        left, right = points[np.maximum(peaks - 1, 0)], points[np.minimum(peaks + 1, len(points) - 1)]
        points = np.unique(np.linspace(left, right, 11))
    return min(1.0, best)


def tail(b: int, c: int, n: int, margin: float) -> NDArray[Any]:
    """For each number of gains the largest number of losses whose score is at least that of (b, c); -1 for none.

    It is found by bisection, since every loss lowers the score (Barnard's convexity; Sidik 2003, Biom J 45:874).
    """
    import numpy as np

    seen = scores(np.array(b), np.array(c), n, margin) - TIE
    gains = np.arange(n + 1)
    inside, outside = np.full(n + 1, -1), n - gains + 1
    while (outside - inside > 1).any():
        middle = (inside + outside) // 2
        enough = (middle > inside) & (scores(gains, np.maximum(middle, 0), n, margin) >= seen)
        inside, outside = np.where(enough, middle, inside), np.where(enough | (middle == inside), outside, middle)
    return inside


def scores(gains: NDArray[Any], losses: NDArray[Any], n: int, margin: float) -> NDArray[Any]:
    """Tango's score statistic (`intervals.score`) of many outcomes at once."""
    import numpy as np

    linear = -gains - losses + (2 * n - gains + losses) * margin
    root = np.sqrt(np.maximum(linear * linear + 8 * n * losses * margin * (1 - margin), 0.0))
    loss = np.maximum((root - linear) / (4 * n), max(0.0, -margin))
    spread = np.sqrt(np.maximum(n * (2 * loss + margin * (1 - margin)), 0.0))
    excess = gains - losses - n * margin
    flat = np.where(np.abs(excess) < TIE, 0.0, np.copysign(np.inf, excess))
    return np.where(spread > 0, excess / np.where(spread > 0, spread, 1.0), flat)


def tail_chances(limits: NDArray[Any], n: int, margin: float, points: NDArray[Any]) -> NDArray[Any]:
    """The chance of the tail at each rate of loss in `points`: the sum over gains of P(gains) · P(losses | gains)."""
    import numpy as np
    from scipy.special import bdtr, gammaln, xlog1py, xlogy  # scipy takes a while to load

    gains = np.flatnonzero(limits >= 0)
    most = np.minimum(limits[gains], n - gains)
    rates = np.clip(points + margin, 0.0, 1.0)[:, None]
    rest = np.clip(np.divide(points[:, None], 1 - rates, out=np.zeros_like(rates), where=rates < 1), 0.0, 1.0)
    ways = gammaln(n + 1) - gammaln(gains + 1) - gammaln(n - gains + 1)
    chances = np.exp(ways + xlogy(gains, rates) + xlog1py(n - gains, -rates))
    # bdtr is the slow part: it is left out where the number of gains is next to impossible, and counted as 1.
    likely = chances > NEGLIGIBLE
    chances[likely] *= bdtr(*(np.broadcast_to(x, chances.shape)[likely] for x in (most, n - gains, rest)))
    return np.asarray(chances.sum(axis=1))
