"""What some runs of one arm came to: how much was right, and what they took."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from loopworth.comparisons.intervals import Interval, mean_log_t, wilson, wilson_clustered
from loopworth.comparisons.result import Result, by_task
from loopworth.comparisons.trial import Trial
from loopworth.runs.usage import Value


class Amount(Value, frozen=True):
    """Tokens or US dollars of some runs: the known total, how many runs it is of, and how many are unknown; the 95 %
    interval of the mean, where that is known."""

    total: float
    known: int
    unknown: int
    interval: Interval | None = None

    @property
    def mean(self) -> float | None:
        """Per run; None where a run's part is unknown, or without a run."""
        return None if self.unknown or not self.known else self.total / self.known


class Accuracy(Value, frozen=True):
    """How much was right: of `n` tasks with `runs` runs, and the Wilson 95 % interval of the share."""

    right: int
    runs: int
    n: int
    share: float | None
    interval: Interval | None


class Figures(Value, frozen=True):
    """What some runs of one arm came to. Means are per scored run; runs counted apart are in `apart` alone. Their 95 %
    intervals are over tasks (clusters, where the comparison has them): None under two."""

    accuracy: Accuracy
    model_calls: float | None
    tool_calls: float | None
    tokens: Amount
    usd: Amount
    model_calls_interval: Interval | None = None
    tool_calls_interval: Interval | None = None


def figured(result: Result, arm: str, trials: Sequence[Trial]) -> Sequence[Trial]:
    """The trials that an arm's figures stand on: where a comparison stopped early, not those on selected tasks."""
    tasks = result.counted.get(arm, frozenset(task.id for task in result.comparison.tasks))
    return [trial for trial in trials if tasks is not None and trial.task in tasks]


def figures(result: Result, trials: Iterable[Trial], repeats: int | None = None) -> Figures:
    runs = [trial for trial in trials if trial.right is not None]
    model_calls, tool_calls = [run.model_calls for run in runs], [run.tool_calls for run in runs]
    units = placed(result, runs)
    return Figures(
        accuracy=accuracy(result, runs, lambda run: bool(run.right), repeats),
        model_calls=fmean(model_calls) if runs else None,
        tool_calls=fmean(tool_calls) if runs else None,
        tokens=amount([run.usage.tokens for run in runs], units),
        usd=amount([run.usage.usd for run in runs], units),
        model_calls_interval=extent(model_calls, units),
        tool_calls_interval=extent(tool_calls, units),
    )


def amount(parts: Sequence[float | None], units: Sequence[int]) -> Amount:
    known = [part for part in parts if part is not None]
    whole = len(known) == len(parts)
    return Amount(sum(known), len(known), len(parts) - len(known), extent(known, units) if whole else None)


def placed(result: Result, runs: Sequence[Trial]) -> Sequence[int]:
    """To which unit each run belongs, by its number: a task, or the cluster that this is of. None on the way out of an
    interrupt, where nothing may load scipy."""
    if not result.whole:
        return ()
    places, clusters = dict[str, int](), result.comparison.clusters or {}
    return [places.setdefault(clusters.get(run.task, run.task), len(places)) for run in runs]


def extent(parts: Sequence[float], units: Sequence[int]) -> Interval | None:
    """The 95 % interval of the mean of what runs took, out of the totals of their units."""
    if not units:
        return None
    n = max(units) + 1
    totals, sizes = [0.0] * n, [0] * n
    for unit, part in zip(units, parts, strict=True):
        totals[unit] += part
        sizes[unit] += 1
    return mean_log_t(totals, sizes)


def firsts(runs: Iterable[Trial]) -> list[Trial]:
    """Of each task its first run."""
    found = dict[str, Trial]()
    for run in runs:
        if run.task not in found or run.repeat < found[run.task].repeat:
            found[run.task] = run
    return list(found.values())


def accuracy(
    result: Result, runs: Sequence[Trial], right: Callable[[Trial], bool], repeats: int | None = None
) -> Accuracy:
    """Repeats of a task are not independent: their interval is Wilson's at the effective number of runs."""
    shares = [sum(map(right, of_task)) / len(of_task) for of_task in by_task(runs).values()]
    n, repeats = len(shares), repeats or result.comparison.repeats
    share = fmean(shares) if shares else None
    hits = sum(right(run) for run in runs)
    # Wilson's at the effective size loads scipy: not on the way out of an interrupt, where that at n tasks will do.
    clustered = repeats > 1 and result.whole
    return Accuracy(
        hits, len(runs), n, share, wilson_clustered(shares, repeats) if clustered else wilson(sum(shares), n)
    )
