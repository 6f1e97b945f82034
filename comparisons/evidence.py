"""What paired tasks rule out about the gain of one arm over another.

"Ruled out" means at a stated error: with whole outcomes by the exact unconditional test up to 1,000 pairs and by the
e-process above; with repeats, clusters or costs that vary by Student's t where at least 25 differences are not 0, else
by the e-process.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import ceil, inf, isfinite, log
from statistics import NormalDist, fmean, variance
from typing import Literal, Protocol, TypeAlias

from loopworth.comparisons import intervals
from loopworth.comparisons.e_process import log_e, log_e_counts, n_more
from loopworth.comparisons.intervals import Interval
from loopworth.comparisons.paired_test import exact_p
from loopworth.runs.usage import Value

Shares: TypeAlias = Mapping[str, float | None]
Ruling = Literal["earns", "suffices", "better", "undecided"]
MOST_EXACT, LEAST_VARIED, FINE = 1000, 25, 1e-4
"""The most pairs the exact test takes, the fewest non-zero differences for t, and how fine switch points are."""
SAME = 1e-9
"""Costs that differ by less than this share of them are the same."""


class Prices(Value, frozen=True, dict=True):
    """What an arm costs more than another, pair by pair, in gains of accuracy: those that would pay for it.

    `most` and `most_against` are the most that a run of each may cost, `inf` where no cap is known. `break_even` is the
    gain that pays for all: the mean, unless these are the first of more.
    """

    extra: tuple[float, ...]
    most: float = inf
    most_against: float = inf
    first_of: float | None = None

    @cached_property
    def break_even(self) -> float:
        return fmean(self.extra) if self.first_of is None else self.first_of

    @cached_property
    def vary(self) -> bool:
        """Whether tasks cost more or less than others, so that what they gain has to be weighed one by one."""
        return max(self.extra) - min(self.extra) > SAME * max(map(abs, self.extra))

    @property
    def swapped(self) -> Prices:
        first_of = None if self.first_of is None else -self.first_of
        return Prices(tuple(-one for one in self.extra), self.most_against, self.most, first_of)


class Pairs(Value, frozen=True, dict=True):
    """The differences in accuracy, task by task (or cluster by cluster), of an arm against another.

    `left_out` of `planned` tasks have no difference, since one of the arms left no outcome that can be judged. With
    `prices` a gain has to pay for what its task costs more: then the net differences are tested, against 0 where the
    smallest gain is the break-even one (`net_benefit`, divided by what is at stake).
    """

    differences: tuple[float, ...]
    left_out: int = 0
    planned: int = 0
    prices: Prices | None = None

    @property
    def n(self) -> int:
        return len(self.differences)

    @cached_property
    def b(self) -> int:
        """On how many the arm did better."""
        return sum(x > 0 for x in self.differences)

    @cached_property
    def c(self) -> int:
        """On how many it did worse."""
        return sum(x < 0 for x in self.differences)

    @property
    def tied(self) -> bool:
        """Whether the two did equally well on every one, so that none tells them apart."""
        return not self.b and not self.c

    @cached_property
    def whole(self) -> bool:
        """Whether each pair is a win, a loss or a tie, so that the counts say all."""
        return all(x in (-1, 0, 1) for x in self.differences)

    @property
    def difference(self) -> float | None:
        return fmean(self.differences) if self.differences else None

    @cached_property
    def weighed(self) -> Prices | None:
        """The prices, where costs vary from task to task; where they do not, they only shift the smallest gain."""
        return self.prices if self.prices is not None and self.prices.vary else None

    @cached_property
    def net(self) -> tuple[float, ...]:
        """What is tested: the differences, less what their tasks cost more than the break-even gain pays for."""
        if self.weighed is None:
            return self.differences
        fair = self.weighed.break_even
        return tuple(x - (extra - fair) for x, extra in zip(self.differences, self.weighed.extra, strict=True))

    @cached_property
    def lowest(self) -> float:
        """The least that a net difference can be; `-inf` where no cap on costs is known."""
        if self.weighed is None:
            return -1.0
        return min(-1.0 - self.weighed.most + self.weighed.break_even, *self.net)

    @cached_property
    def plain(self) -> Pairs:
        """The same pairs, whatever they cost."""
        return self if self.prices is None else Pairs(self.differences, self.left_out, self.planned)

    @cached_property
    def swapped(self) -> Pairs:
        """The same pairs seen from the other arm."""
        prices = None if self.prices is None else self.prices.swapped
        return Pairs(tuple(-x for x in self.differences), self.left_out, self.planned, prices)

    def first(self, n: int) -> Pairs:
        """The first n of them, held against the same break-even gain."""
        prices = self.prices
        if prices is not None:
            prices = Prices(prices.extra[:n], prices.most, prices.most_against, prices.break_even)
        return Pairs(self.differences[:n], prices=prices)


def pair(
    arm: Shares,
    against: Shares,
    clusters: Mapping[str, str] | None = None,
    extra: Mapping[str, float | None] | None = None,
    most: tuple[float, float] = (inf, inf),
) -> Pairs:
    """Pair two arms' shares of right answers by task; tasks of one cluster count as one, by their mean.

    `extra` is what the arm costs more on a task, as a gain of accuracy (None: unknown, and then nothing is priced), and
    `most` what a run of either may cost.
    """
    planned = dict.fromkeys([*against, *arm])
    groups: defaultdict[str, list[str]] = defaultdict(list)
    found: dict[str, float] = {}
    for task in planned:
        a, p = arm.get(task), against.get(task)
        if a is not None and p is not None and isfinite(a) and isfinite(p):
            groups[task if clusters is None else clusters.get(task, task)].append(task)
            found[task] = a - p
    differences = tuple(mean_of(found, group) for group in groups.values())
    known = {task: more for task in found if extra is not None and (more := extra.get(task)) is not None}
    priced = known and len(known) == len(found)
    costs = tuple(mean_of(known, group) for group in groups.values()) if priced else ()
    return Pairs(differences, len(planned) - len(found), len(planned), Prices(costs, *most) if priced else None)


def mean_of(found: Mapping[str, float], tasks: Sequence[str]) -> float:
    """The mean over these tasks; of nearly all comparisons it is one."""
    return found[tasks[0]] if len(tasks) == 1 else fmean(found[task] for task in tasks)


def rules_out_up_to(pairs: Pairs, margin: float, error: float) -> bool:
    """Whether a gain of `margin` or less is ruled out."""
    n, b, c = pairs.n, pairs.b, pairs.c
    if not n:
        return False
    counts = pairs.whole and pairs.weighed is None
    if counts and n <= MOST_EXACT:
        return exact_p(b, c, n, margin) <= error
    if counts:
        return log_e_counts(b, c, n, margin) >= log(1 / error)
    if b + c >= LEAST_VARIED and (limits := intervals.paired_t(pairs.net, 1 - 2 * error)):
        return limits[0] > margin
    return runs_out_up_to(pairs, margin, error)


def runs_out_up_to(pairs: Pairs, margin: float, error: float) -> bool:
    """`rules_out_up_to` by the e-process, at any of many looks; nothing where no cap on costs is known."""
    return isfinite(pairs.lowest) and log_e(pairs.net, margin, pairs.lowest) >= log(1 / error)


def rules_out_from(pairs: Pairs, margin: float, error: float) -> bool:
    """Whether a gain of `margin` or more is ruled out."""
    return rules_out_up_to(pairs.swapped, -margin, error)


def ruling(pairs: Pairs, delta: float, error: float) -> Ruling:
    """What accuracy alone says of an arm that must gain more than `delta`; each answer but one is wrong ≤ `error`."""
    return ruled(
        lambda margin: rules_out_up_to(pairs, margin, error),
        lambda margin: rules_out_from(pairs, margin, error),
        delta,
        lambda: rules_out_from(pairs.plain, 0.0, error),
    )


def ruled(
    out_up_to: Callable[[float], bool],
    out_from: Callable[[float], bool],
    delta: float,
    worse: Callable[[], bool] | None = None,
) -> Ruling:
    """The rule itself, over what is ruled out: ties and doubt leave the place with the simpler arm.

    `worse` says that any gain in accuracy is ruled out, where that is not the same as `out_from(0)`.
    """
    if out_up_to(delta):
        return "earns"
    if worse() if worse is not None else out_from(0.0):
        return "better"
    return "suffices" if out_from(delta) else "undecided"


def by_interval(lower: float, upper: float, delta: float) -> Ruling:
    """The rule read off an interval for the gain."""
    return ruled(lambda margin: lower > margin, lambda margin: upper < margin, delta)


def by_exact_test(b: int, c: int, n: int, delta: float, alpha: float) -> Ruling:
    """The rule for n pairs fixed beforehand and looked at once."""
    return ruled(
        lambda margin: exact_p(b, c, n, margin) <= alpha, lambda margin: exact_p(c, b, n, -margin) <= alpha, delta
    )


def by_e_process(b: int, c: int, n: int, delta: float, alpha_each: float) -> Ruling:
    """The rule at any of many looks."""
    needed = log(1 / alpha_each)
    return ruled(
        lambda margin: log_e_counts(b, c, n, margin) >= needed,
        lambda margin: log_e_counts(c, b, n, -margin) >= needed,
        delta,
    )


def interval(pairs: Pairs, error: float) -> Interval | None:
    """The interval for the gain to show, at 1 - 2 · error: Tango's score, or Student's t over tasks or clusters."""
    pairs = pairs.plain
    if pairs.whole:
        return intervals.tango(pairs.b, pairs.c, pairs.n, 1 - 2 * error)
    if pairs.b + pairs.c >= LEAST_VARIED and (limits := intervals.paired_t(pairs.differences, 1 - 2 * error)):
        return (max(limits[0], -1.0), min(limits[1], 1.0))
    return switch_points(pairs, 0.0, error)


def switch_points(pairs: Pairs, delta: float, error: float) -> Interval | None:
    """(L, U): the arm earns for any smallest gain under L, the other suffices for any above U; agrees with `ruling`.

    They come from the same test as the verdict, so that a reader with another smallest gain needs no other run.
    """
    if not pairs.n:
        return None
    near = intervals.tango(pairs.b, pairs.c, pairs.n, 1 - 2 * error) if pairs.whole and not pairs.weighed else None
    low = highest(lambda margin: rules_out_up_to(pairs, margin, error), delta, near and near[0])
    return (low, -highest(lambda margin: rules_out_from(pairs, -margin, error), -delta, near and -near[1]))


def highest(out: Callable[[float], bool], delta: float, near: float | None = None) -> float:
    """The highest margin up to which every gain is ruled `out`, within `FINE`; -1 if none. `near` is where to look."""
    low, high = (delta, 1.0) if out(delta) else (-1.0, delta)
    for probe in () if near is None else (near - 0.02, near + 0.02, near - 0.002, near + 0.002):
        if low < probe < high:
            low, high = (probe, high) if out(probe) else (low, probe)
    while high - low > FINE:
        middle = (low + high) / 2
        low, high = (middle, high) if out(middle) else (low, middle)
    return low


class Evidence(Protocol):
    """What the pairs of an arm and the holder rule out, by the tests that its comparison allows.

    `error` is their chance of being wrong on each side; `account` says how it was settled, where there is more to say
    than that all pairs were looked at once.
    """

    @property
    def pairs(self) -> Pairs: ...
    @property
    def error(self) -> float: ...
    @property
    def account(self) -> str: ...
    def ruling(self, delta: float) -> Ruling: ...
    def not_worse_by(self, margin: float) -> bool: ...
    def interval(self) -> Interval | None: ...
    def switch_points(self, delta: float) -> Interval | None: ...
    def forecast(self, delta: float) -> int | None: ...


class OneLook(Value, frozen=True):
    """The pairs of a number of tasks that was chosen beforehand, looked at once."""

    pairs: Pairs
    error: float
    account: str = ""

    def ruling(self, delta: float) -> Ruling:
        return ruling(self.pairs, delta, self.error)

    def not_worse_by(self, margin: float) -> bool:
        return rules_out_up_to(self.pairs.plain, -margin, self.error)

    def interval(self) -> Interval | None:
        return interval(self.pairs, self.error)

    def switch_points(self, delta: float) -> Interval | None:
        return switch_points(self.pairs, delta, self.error)

    def forecast(self, delta: float) -> int | None:
        return forecast(self.pairs, delta, self.error)


def forecast(pairs: Pairs, delta: float, error: float) -> int | None:
    """How many more tasks would decide if the rates seen so far hold; None where it may take more than ten times that.

    It may be followed: it reckons with the e-process, which stays valid when a comparison is extended, and takes more
    than a look at a number that is chosen beforehand.
    """
    if pairs.weighed is not None:
        return weighed_forecast(pairs, delta, error)
    gains, losses = (sum(max(sign * x, 0.0) for x in pairs.differences) for sign in (1, -1))
    return n_more(gains, losses, pairs.n, delta, error)


def weighed_forecast(pairs: Pairs, delta: float, error: float, cap: int = 10) -> int | None:
    """`forecast` where costs vary: as many as Student's t takes, by its normal limit."""
    n, changed = pairs.n, pairs.b + pairs.c
    gap = abs(fmean(pairs.net) - delta)
    if not gap or not changed or n < 2:
        return None
    tasks = max(variance(pairs.net) * (NormalDist().inv_cdf(1 - error) / gap) ** 2, n * LEAST_VARIED / changed)
    more = ceil(tasks) - n
    return max(more, 1) if more <= cap * n else None
