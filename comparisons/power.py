"""What a number of tasks can show, before they are run."""

from __future__ import annotations

from math import ceil, sqrt
from statistics import NormalDist

from loopworth.comparisons.intervals import restricted_loss


def n_fixed(gain: float, discordance: float, delta: float, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """The pairs that a one-sided test at `alpha` needs to tell a true `gain` from `delta`; None where they are equal.

    `discordance` is the share of tasks on which the arms differ. The normal approximation to Tango's test with the
    variance under the hypothesis at its restricted maximum likelihood.
    """
    if gain == delta:
        return None
    if not abs(gain) <= discordance <= 1:
        raise ValueError(f"a gain of {gain} takes a discordance between {abs(gain)} and 1")
    loss = restricted_loss((discordance + gain) / 2, (discordance - gain) / 2, 1, delta)
    null, true = 2 * loss + delta * (1 - delta), discordance - gain * gain
    reach = NormalDist().inv_cdf(1 - alpha) * sqrt(null) + NormalDist().inv_cdf(power) * sqrt(true)
    return ceil((reach / (gain - delta)) ** 2)


def gain_gate(n: int, delta: float, level: float) -> int:
    """The most failures of the pipeline in n tasks at which no gain of `delta` is left to be had; -1 if none.

    The largest g with P(Bin(n, delta) <= g) <= level: a gain cannot exceed what the pipeline gets wrong.
    """
    from scipy.special import bdtr  # scipy takes a while to load

    return int((bdtr(range(n + 1), n, delta) <= level).sum()) - 1
