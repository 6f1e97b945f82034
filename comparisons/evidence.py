"""What paired tasks rule out about the gain of one arm over another.

"Ruled out" means at a stated error: with whole outcomes by the exact unconditional test up to 1,000 pairs and by the
e-process above; with repeats or clusters by Student's t where at least 25 differences are not 0, else by the e-process.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cached_property
from math import isfinite, log
from statistics import fmean
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


class Pairs(Value, frozen=True, dict=True):
    """The differences in accuracy, task by task (or cluster by cluster), of an arm against another.

    `left_out` of `planned` tasks have no difference, since one of the arms left no outcome that can be judged.
    """

    differences: tuple[float, ...]
    left_out: int = 0
    planned: int = 0

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
    def swapped(self) -> Pairs:
        """The same pairs seen from the other arm."""
        return Pairs(tuple(-x for x in self.differences), self.left_out, self.planned)


def pair(arm: Shares, against: Shares, clusters: Mapping[str, str] | None = None) -> Pairs:
    """Pair two arms' shares of right answers by task; tasks of one cluster count as one, by their mean."""
    planned = dict.fromkeys([*against, *arm])
    groups: defaultdict[str, list[float]] = defaultdict(list)
    lost = 0
    for task in planned:
        a, p = arm.get(task), against.get(task)
        if a is None or p is None or not isfinite(a) or not isfinite(p):
            lost += 1
        else:
            groups[task if clusters is None else clusters.get(task, task)].append(a - p)
    return Pairs(tuple(fmean(group) for group in groups.values()), lost, len(planned))


def rules_out_up_to(pairs: Pairs, margin: float, error: float) -> bool:
    """Whether a gain of `margin` or less is ruled out."""
    n, b, c = pairs.n, pairs.b, pairs.c
    if not n:
        return False
    if pairs.whole and n <= MOST_EXACT:
        return exact_p(b, c, n, margin) <= error
    if pairs.whole:
        return log_e_counts(b, c, n, margin) >= log(1 / error)
    if b + c >= LEAST_VARIED and (limits := intervals.paired_t(pairs.differences, 1 - 2 * error)):
        return limits[0] > margin
    return log_e(pairs.differences, margin, -1.0) >= log(1 / error)


def rules_out_from(pairs: Pairs, margin: float, error: float) -> bool:
    """Whether a gain of `margin` or more is ruled out."""
    return rules_out_up_to(pairs.swapped, -margin, error)


def ruling(pairs: Pairs, delta: float, error: float) -> Ruling:
    """What accuracy alone says of an arm that must gain more than `delta`; each answer but one is wrong ≤ `error`."""
    return ruled(
        lambda margin: rules_out_up_to(pairs, margin, error), lambda margin: rules_out_from(pairs, margin, error), delta
    )


def ruled(out_up_to: Callable[[float], bool], out_from: Callable[[float], bool], delta: float) -> Ruling:
    """The rule itself, over what is ruled out: ties and doubt leave the place with the simpler arm."""
    if out_up_to(delta):
        return "earns"
    if out_from(0.0):
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
    near = intervals.tango(pairs.b, pairs.c, pairs.n, 1 - 2 * error) if pairs.whole else None
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
    def out_up_to(self, margin: float) -> bool: ...
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

    def out_up_to(self, margin: float) -> bool:
        return rules_out_up_to(self.pairs, margin, self.error)

    def interval(self) -> Interval | None:
        return interval(self.pairs, self.error)

    def switch_points(self, delta: float) -> Interval | None:
        return switch_points(self.pairs, delta, self.error)

    def forecast(self, delta: float) -> int | None:
        return forecast(self.pairs, delta, self.error)


def forecast(pairs: Pairs, delta: float, error: float) -> int | None:
    """How many more tasks would decide if the rates seen so far hold; None where ten times as many would not.

    It may be followed: it reckons with the e-process, which stays valid when a comparison is extended.
    """
    gains, losses = (sum(max(sign * x, 0.0) for x in pairs.differences) for sign in (1, -1))
    return n_more(gains, losses, pairs.n, delta, error)
