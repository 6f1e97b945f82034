"""Limits on cost, latency and harm: checked after accuracy, they can only keep an arm from the place it earned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Literal

from loopworth.comparisons.intervals import event_upper
from loopworth.comparisons.quantiles import min_n_quantile_upper, quantile, quantile_ci
from loopworth.comparisons.ratios import Ratio, ratio_of_means
from loopworth.runs.figures import rounded
from loopworth.runs.usage import Value

LEAST_MORE, MOST_MORE = 1, 1 << 24


class Veto(Value, frozen=True):
    """Why an arm does not get the place; `undecided` where a limit is neither shown kept nor shown broken."""

    token: Literal["over_budget", "undecided", "not_shown_safe"]
    words: str


def cost_veto(
    usd: Mapping[str, float | None], against: Mapping[str, float | None], cap: float, error: float
) -> Veto | None:
    """Whether the cost ratio stays under `cap`: its interval at 1 - 2 · error must."""
    costs = paired(usd, against)
    if costs is None:
        return Veto("undecided", "its cost is unknown, so max_cost_ratio cannot be checked")
    mine, theirs = costs
    if not any(theirs):
        words = "no cost ratio is formed over an arm that cost nothing, so max_cost_ratio cannot be checked"
        return Veto("undecided", words) if any(mine) else None
    ratio = ratio_of_means(mine, theirs, 1 - 2 * error)
    if ratio is None:
        return None if not any(mine) else Veto("undecided", "one task is too few to check max_cost_ratio")
    low, high = ratio.interval
    if high <= cap:
        return None
    shown = f"it costs {rounded(ratio.ratio)} times as much ({rounded(low)} to {rounded(high)})"
    if low > cap:
        return Veto("over_budget", f"{shown}, over max_cost_ratio {cap:g}")
    return Veto("undecided", f"{shown}, which does not settle whether it keeps max_cost_ratio {cap:g}")


def latency_veto(seconds: Iterable[float], cap: float, error: float) -> Veto | None:
    """Whether the 95th percentile of latency stays under `cap` seconds, by order statistics."""
    values = list(seconds)
    if not values:
        return Veto("undecided", "no run was timed, so max_p95 cannot be checked")
    low, high = quantile_ci(values, 0.95, 1 - 2 * error)
    if high is not None and high <= cap:
        return None
    shown = f"its p95 latency is {rounded(quantile(values, 0.95) or 0.0)} s"
    if low is not None and low > cap:
        return Veto("over_budget", f"{shown} (at least {rounded(low)} s), over max_p95 {cap:g} s")
    if high is None:
        least = min_n_quantile_upper(0.95, 1 - error)
        return Veto("undecided", f"{shown}, with no upper limit at n = {len(values)}: max_p95 takes {least} tasks")
    unsettled = f"(up to {rounded(high)} s), which does not settle whether it keeps max_p95 {cap:g} s"
    return Veto("undecided", f"{shown} {unsettled}")


def harm_veto(harmful: Iterable[bool], cap: float, error: float) -> Veto | None:
    """Whether the rate of harm is shown to be under `cap`, by its one-sided upper limit."""
    runs = list(harmful)
    k, n = sum(runs), len(runs)
    upper = event_upper(k, n, error)
    if upper < cap:
        return None
    shown = f"{k} of {n} tasks did harm, so the rate may be {upper:.3g}, not under max_harm {cap:g}"
    return Veto("not_shown_safe", f"{shown}: it takes {clean_runs(k, n, cap, error)} more clean runs")


def clean_runs(k: int, n: int, cap: float, error: float) -> int:
    """How many more runs without harm bring the upper limit of the rate under `cap`."""
    low, high = LEAST_MORE - 1, LEAST_MORE
    while event_upper(k, n + high, error) >= cap and high < MOST_MORE:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if event_upper(k, n + middle, error) < cap else (middle, high)
    return high


def saving(mine: Mapping[str, float | None], theirs: Mapping[str, float | None], error: float) -> Ratio | None:
    """The ratio of two arms' cost or latency if it is shown to be under 1, else None."""
    both = paired(mine, theirs)
    ratio = ratio_of_means(*both, 1 - 2 * error) if both else None
    return ratio if ratio and ratio.interval[1] < 1 else None


def paired(
    mine: Mapping[str, float | None], theirs: Mapping[str, float | None]
) -> tuple[list[float], list[float]] | None:
    """Both arms' figures for the tasks both have; None where there is none, or one is unknown."""
    tasks = [task for task in mine if task in theirs]
    a, p = [mine[task] for task in tasks], [theirs[task] for task in tasks]
    known_a, known_p = [x for x in a if x is not None], [x for x in p if x is not None]
    return (known_a, known_p) if tasks and len(known_a) == len(known_p) == len(tasks) else None


def extra(mine: Mapping[str, float | None], theirs: Mapping[str, float | None]) -> float | None:
    """How much more an arm takes per task than another, in its unit; None where that is unknown."""
    both = paired(mine, theirs)
    return fmean(both[0]) - fmean(both[1]) if both else None
