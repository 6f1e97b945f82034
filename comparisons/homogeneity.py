"""Tests of whether several independent groups differ, and the correction for testing many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ChiSquare(NamedTuple):
    statistic: float
    df: int
    p: float


def fisher_two_sided(k1: int, n1: int, k2: int, n2: int) -> float:
    """Fisher's exact test of k1 right of n1 against k2 of n2, two-sided.

    It is for different tasks: the same tasks want a paired test.
    """
    from scipy.stats import fisher_exact  # scipy takes a second to load

    return float(fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue)


def chi2_homogeneity(k: Sequence[int], n: Sequence[int]) -> ChiSquare | None:
    """Pearson's test that all groups have one rate; None where every answer is alike or a group is empty."""
    if not 0 < sum(k) < sum(n) or not all(n):
        return None
    from scipy.stats import chi2_contingency  # type: ignore[attr-defined]  # untyped; it takes a second to load

    found = chi2_contingency([list(k), [m - hits for hits, m in zip(k, n, strict=True)]], correction=False)
    return ChiSquare(float(found.statistic), int(found.dof), float(found.pvalue))


def cochran_q(table: Sequence[Sequence[int]]) -> ChiSquare | None:
    """The test that several arms are right equally often on the same tasks: a row of 0 and 1 for each task, one place
    for each arm. None where no task parts them. Cochran 1950, Biometrika 37:256."""
    rows, k = [sum(row) for row in table], len(table[0]) if table else 0
    spread = sum(k * row - row * row for row in rows)
    if spread == 0:
        return None
    from scipy.special import chdtrc  # scipy takes a while to load

    columns = [sum(row[place] for row in table) for place in range(k)]
    q = (k - 1) * (k * sum(one * one for one in columns) - sum(rows) ** 2) / spread
    return ChiSquare(float(q), k - 1, float(chdtrc(k - 1, q)))


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given. Holm 1979, Scand J Stat 6:65."""
    adjusted, reached = [0.0] * len(p), 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        reached = max(reached, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = reached
    return adjusted
