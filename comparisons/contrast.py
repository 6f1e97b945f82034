"""What an arm costs and takes beside another, and whether any of several differ: descriptive, outside the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import median

from msgspec.structs import replace

from loopworth.comparisons.homogeneity import ChiSquare, cochran_q, holm
from loopworth.comparisons.paired_test import mcnemar_exact
from loopworth.comparisons.ratios import Ratio, cost_per_correct_ratio, ratio_of_means
from loopworth.comparisons.verdict import Measured, Verdict, known, on_common
from loopworth.comparisons.vetoes import paired
from loopworth.runs.usage import Value

MOST_PARTED = 5000
"""Tasks on which two arms differ, above which McNemar's exact test takes too long to be worth a line."""


class Contrast(Value, frozen=True):
    """One challenger beside the arm it was compared with, on the tasks that both ran.

    `usd` and `seconds` are ratios of means with 95 % intervals, `usd_median` and `seconds_median` the medians of the
    tasks' ratios (a few dear tasks move a mean), `usd_per_right` the ratio of cost per right answer; None where a part
    is unknown, or the other's is 0. `p` is McNemar's, two-sided, and `holm` the same corrected for all challengers;
    None where tasks were run several times, or nothing is `tested`.
    """

    arm: str
    against: str
    usd: Ratio | None
    seconds: Ratio | None
    usd_per_right: float | None
    any_right: bool
    p: float | None
    holm: float | None
    usd_median: float | None = None
    seconds_median: float | None = None


def contrasts(arms: Sequence[Measured], verdict: Verdict, tested: bool = True) -> tuple[Contrast, ...]:
    """In the order of the verdict; none of an arm that ran on selected tasks alone. Without `tested` there is no p,
    which is that of a number of tasks chosen beforehand, and of what is right in no doubt."""
    by_name = {arm.arm: known(arm) for arm in arms}
    found = [contrast(by_name[one.arm], by_name[one.against]) for one in verdict.arms if one.interval is not None]
    found = [one if tested else replace(one, p=None) for one in found]
    corrected = iter(holm([one.p for one in found if one.p is not None]))
    return tuple(replace(one, holm=next(corrected)) if one.p is not None else one for one in found)


def contrast(arm: Measured, other: Measured) -> Contrast:
    mine, theirs = on_common(arm, other), on_common(other, arm)
    right = [sum(known_of(one.right, mine.usd)) for one in (mine, theirs)]
    money = paired(mine.usd, theirs.usd)
    each = cost_per_correct_ratio(sum(money[0]), right[0], sum(money[1]), right[1]) if money and all(right) else None
    usd, seconds = ratio(mine.usd, theirs.usd), ratio(mine.seconds, theirs.seconds)
    medians = median_ratio(mine.usd, theirs.usd), median_ratio(mine.seconds, theirs.seconds)
    return Contrast(arm.arm, other.arm, usd, seconds, each, all(right), chance(mine, theirs), None, *medians)


def known_of(right: Mapping[str, float | None], tasks: Mapping[str, object]) -> list[float]:
    return [right[task] or 0.0 for task in tasks]


def ratio(mine: Mapping[str, float | None], theirs: Mapping[str, float | None]) -> Ratio | None:
    both = paired(mine, theirs)
    found = ratio_of_means(*both, 0.95) if both else None
    return found if found and all(map(isfinite, (found.ratio, *found.interval))) else None


def median_ratio(mine: Mapping[str, float | None], theirs: Mapping[str, float | None]) -> float | None:
    """How many times as much the median task took; None where one is unknown, or the other arm took nothing."""
    both = paired(mine, theirs)
    return median(a / p for a, p in zip(*both, strict=True)) if both and all(p > 0 for p in both[1]) else None


def chance(mine: Measured, theirs: Measured) -> float | None:
    """McNemar's exact p, where each task is right or wrong."""
    pairs = [(mine.right[task], theirs.right[task]) for task in mine.usd]
    if not pairs or any(one not in (0.0, 1.0) for two in pairs for one in two):
        return None
    b, c = (sum(two == parted for two in pairs) for parted in ((1.0, 0.0), (0.0, 1.0)))
    return mcnemar_exact(b, c) if b + c <= MOST_PARTED else None


def any_differ(arms: Sequence[Measured]) -> ChiSquare | None:
    """Cochran's Q over the tasks that all arms ran; None for two arms, repeats, or where every task is alike."""
    tasks = [task for task in arms[0].right if all(arm.right.get(task) in (0.0, 1.0) for arm in arms)] if arms else []
    if len(arms) < 3 or any(right not in (0.0, 1.0, None) for arm in arms for right in arm.right.values()):
        return None
    return cochran_q([[int(arm.right[task] or 0) for arm in arms] for task in tasks])
