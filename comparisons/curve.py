"""How an arm's accuracy goes with `group_by`, where its levels are numbers: the trend, and whether p^k describes it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from loopworth.comparisons.decay import Trend, chain, cochran_armitage, per_step
from loopworth.runs.usage import Value


class Point(Value, frozen=True):
    """One level: `right` of n tasks (shares, where each was run several times), and the accuracy of one step if the
    level is a number of equal, independent steps."""

    level: str
    right: float
    n: int
    per_step: float | None = None


class Fit(Value, frozen=True):
    """One accuracy per step for all levels, and a test of whether it describes them (None: nothing to test)."""

    p: float
    chi_square: float | None
    df: int
    p_value: float | None


class Curve(Value, frozen=True):
    arm: str
    points: tuple[Point, ...]
    trend: Trend | None
    fit: Fit | None
    words: str


def curve(arm: str, group: str, points: Sequence[Point], test: bool = True) -> Curve:
    """The curve of one arm. Without `test` no library is loaded for it."""
    known = [point for point in points if point.n]
    levels = [number(point.level) for point in known]
    if len(known) < 2:
        level = f"only one level of {group} was run" if known else "no level was run"
        return Curve(arm, tuple(points), None, None, f"{level}: there is no curve")
    sizes = [size for size in levels if size is not None]
    if len(sizes) < len(levels):
        return Curve(arm, tuple(points), None, None, f"the levels of {group} are no numbers: there is no trend")
    right, n = [point.right for point in known], [point.n for point in known]
    trend = cochran_armitage(right, n, sizes)
    fit = fitted(right, n, sizes, test) if min(sizes) > 0 else None
    steps = {p.level: per_step(p.right / p.n, k) for p, k in zip(known, sizes, strict=True) if k > 0}
    placed = tuple(Point(p.level, p.right, p.n, steps.get(p.level)) for p in points)
    return Curve(arm, placed, trend, fit, " ".join([*trend_words(trend, right, group), *fit_words(fit, group)]))


def number(level: str) -> float | None:
    """The level as a number; None for a word, and for what no level can be."""
    try:
        found = float(level)
    except ValueError:
        return None
    return found if -inf < found < inf else None


def fitted(right: Sequence[float], n: Sequence[int], k: Sequence[float], test: bool) -> Fit:
    """The p of p^k by maximum likelihood, and Pearson's test of it."""
    p = likeliest(right, n, k)
    shares = [chain(p, level) for level in k]
    if not test or not 0 < p < 1:
        return Fit(p, None, len(k) - 1, None)
    from scipy.special import chdtrc  # scipy takes a while to load

    spread = [m * share * (1 - share) for m, share in zip(n, shares, strict=True)]
    parts = zip(right, n, shares, spread, strict=True)
    chi = sum((x - m * share) ** 2 / s for x, m, share, s in parts if s > 0)
    return Fit(p, chi, len(k) - 1, float(chdtrc(len(k) - 1, chi)))


def likeliest(right: Sequence[float], n: Sequence[int], k: Sequence[float]) -> float:
    """The root of the score, which falls in p; 1 where all is right, 0 where nothing is."""
    if not any(right):
        return 0.0
    if all(x >= m for x, m in zip(right, n, strict=True)):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        odds = [chain(p, level) / (1 - chain(p, level)) for level in k]
        slope = sum(v * (x - (m - x) * odd) for x, m, v, odd in zip(right, n, k, odds, strict=True))
        low, high = (p, high) if slope > 0 else (low, p)
    return (low + high) / 2


def trend_words(trend: Trend | None, right: Sequence[float], group: str) -> list[str]:
    if trend is None:
        alike = "right" if all(right) else "wrong"
        return [f"every answer is {alike} at every level of {group}: no trend can be tested."]
    way = "falls" if trend.z < 0 else "rises"
    shown = f"accuracy {way} with {group}" if trend.p < 0.05 else f"no trend with {group} is shown"
    return [f"{shown} (Cochran-Armitage z = {trend.z:.2f}, p {chance(trend.p)})."]


def fit_words(fit: Fit | None, group: str) -> list[str]:
    if fit is None or fit.p_value is None or fit.chi_square is None:
        return []
    fits = "is not ruled out" if fit.p_value >= 0.05 else "does not describe it"
    return [
        f"p^{group} with p = {fit.p:.3f} a step {fits} (chi-square {fit.chi_square:.2f}, {fit.df} df, "
        f"p {chance(fit.p_value)})."
    ]


def chance(p: float) -> str:
    return "< .0001" if p < 1e-4 else f"= {p:.3g}"
