"""What some runs of one arm came to: how much was right, and what they took."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from loopworth.comparisons.intervals import Interval, wilson, wilson_clustered
from loopworth.comparisons.result import Result, by_task
from loopworth.comparisons.trial import Trial
from loopworth.runs.usage import Value


class Amount(Value, frozen=True):
    """Tokens or US dollars of some runs: the known total, how many runs it is of, and how many are unknown."""

    total: float
    known: int
    unknown: int

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
    """What some runs of one arm came to. Means are per scored run; runs counted apart are in `apart` alone."""

    accuracy: Accuracy
    model_calls: float | None
    tool_calls: float | None
    tokens: Amount
    usd: Amount


def figured(result: Result, arm: str, trials: Sequence[Trial]) -> Sequence[Trial]:
    """The trials that an arm's figures stand on: where a comparison stopped early, not those on selected tasks."""
    tasks = result.counted.get(arm, frozenset(task.id for task in result.comparison.tasks))
    return [trial for trial in trials if tasks is not None and trial.task in tasks]


def figures(result: Result, trials: Iterable[Trial], repeats: int | None = None) -> Figures:
    runs = [trial for trial in trials if trial.right is not None]
    return Figures(
        accuracy=accuracy(result, runs, lambda run: bool(run.right), repeats),
        model_calls=fmean(run.model_calls for run in runs) if runs else None,
        tool_calls=fmean(run.tool_calls for run in runs) if runs else None,
        tokens=amount([run.usage.tokens for run in runs]),
        usd=amount([run.usage.usd for run in runs]),
    )


def amount(parts: Sequence[float | None]) -> Amount:
    known = [part for part in parts if part is not None]
    return Amount(sum(known), len(known), len(parts) - len(known))


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
