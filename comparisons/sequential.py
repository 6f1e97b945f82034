"""The plan: the verdict on one pair of arms with the fewest runs, valid at any number of looks and when it is extended.

The error is split over three tests: a gate on what is left to be gained, the e-process after every pair, and one exact
look at the number of tasks chosen beforehand. The split and its error rates are in docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from typing import Literal

from loopworth.comparisons.e_process import KAPPAS, log_factor, log_mean
from loopworth.comparisons.evidence import (
    MOST_EXACT,
    Pairs,
    Prices,
    Ruling,
    forecast,
    highest,
    ruled,
    rules_out_from,
    rules_out_up_to,
    runs_out_up_to,
)
from loopworth.comparisons.intervals import Interval, event_upper, tango
from loopworth.runs.usage import Value

GATE, RUNNING = 0.2, 0.4
"""The parts of the error that the gate, and each side of the e-process, may use."""
By = Literal["", "gate", "e-process", "look"]
"""The test that settled a pair."""


class Split(Value, frozen=True):
    """How the error of a pair is shared out: to the gate, to the e-process on each side, to the look on each side."""

    gate: float
    earns: float
    suffices: float
    look_earns: float
    look_suffices: float


def split(error: float, planned: int, gate: bool) -> Split:
    """The shares for `planned` pairs. Above 1,000 the look, which takes too long there, leaves its to the e-process."""
    shut = GATE * error if gate else 0.0
    if planned > MOST_EXACT:
        return Split(shut, error, error - shut, 0.0, 0.0)
    each = RUNNING * error
    return Split(shut, each, each, error - each, error - each - shut)


class Wealth:
    """`e_process.log_e` against a mean of `margin` or less of values of `low` or more, kept up value by value."""

    def __init__(self, margin: float, values: Sequence[float] = (), low: float = -1.0) -> None:
        self.margin, self.low, self.logs, self.sure = margin, low, [0.0] * len(KAPPAS), margin < low
        for value in values:
            self.bet(value)

    def bet(self, value: float) -> None:
        if self.low == -inf:  # nothing can be bet where a value may be anything
            return
        if self.margin <= self.low:
            self.sure = self.sure or value > self.margin
            return
        gain = (value - self.low) / (self.margin - self.low)
        self.logs = [so_far + log_factor(kappa, gain) for so_far, kappa in zip(self.logs, KAPPAS, strict=True)]

    @property
    def log(self) -> float:
        if self.margin <= self.low:
            return inf if self.sure else 0.0
        return log_mean(self.logs)


class Course:
    """One arm against another, read pair by pair in an order that was fixed before any result.

    `delta` is the smallest gain worth having. None: it is the one that pays for itself, task by task; then a pair comes
    with what its task costs `more`, as a gain of accuracy, and `most` is what a run of either arm may cost. `found` is
    what the first test that crosses says, `at` after how many pairs, `by` which test.
    """

    def __init__(self, shares: Split, delta: float | None, most: tuple[float, float] = (inf, inf)) -> None:
        self.shares, self.delta, self.most = shares, delta, most
        self.values, self.costs = list[float](), list[float]()
        self.found: Ruling = "undecided"
        self.by: By = ""
        self.at, self.looked, self.known = 0, False, True
        low, high = (-1.0, 1.0) if delta is not None else (-1.0 - most[0], 1.0 + most[1])
        gain = delta or 0.0
        self.up, self.none, self.down = Wealth(gain, low=low), Wealth(0.0), Wealth(-gain, low=-high)

    def read(self, value: float, more: float | None = None) -> None:
        """The next pair's difference. Once a cost that is needed is unknown nothing can be settled any more."""
        self.values.append(value)
        if self.delta is None:
            self.known = self.known and more is not None
            self.costs.append(more or 0.0)
        if self.found != "undecided" or not self.known:
            return
        net = value - (self.costs[-1] if self.delta is None else 0.0)
        self.up.bet(net)
        self.none.bet(-value)
        self.down.bet(-net)
        enough, little = log(1 / self.shares.earns), log(1 / self.shares.suffices)
        self.settle(
            ruled(
                lambda _: self.up.log >= enough,
                lambda _: self.down.log >= little,
                self.delta or 0.0,
                lambda: self.none.log >= little,
            ),
            "e-process",
        )

    def look(self) -> None:
        """The one look at the number of pairs that was planned."""
        if self.looked:
            return
        self.looked, pairs, shares = True, self.pairs, self.shares
        if self.found != "undecided" or not self.known or not pairs.n:
            return
        self.settle(
            ruled(
                lambda margin: shares.look_earns > 0 and rules_out_up_to(pairs, margin, shares.look_earns),
                lambda margin: shares.look_suffices > 0 and rules_out_from(pairs, margin, shares.look_suffices),
                (self.delta or 0.0) if pairs.prices is None else pairs.prices.break_even,
                lambda: shares.look_suffices > 0 and rules_out_from(pairs.plain, 0.0, shares.look_suffices),
            ),
            "look",
        )

    @property
    def pairs(self) -> Pairs:
        return Pairs(tuple(self.values), prices=Prices(tuple(self.costs), *self.most) if self.costs else None)

    def settle(self, found: Ruling, by: By) -> None:
        if found != "undecided":
            self.found, self.at, self.by = found, len(self.values), by


class Running(Value, frozen=True):
    """The pairs that were read, and what the plan's tests say of them: `evidence.Evidence`.

    `looked` is how many pairs there were at the one look, None where it was not taken.
    """

    pairs: Pairs
    error: float
    shares: Split
    found: Ruling = "undecided"
    by: By = ""
    at: int = 0
    looked: int | None = None

    @property
    def account(self) -> str:
        each = f"at {self.shares.earns:.3g} on each side" if self.by == "e-process" else ""
        look = f"at {self.shares.look_earns:.3g} and {self.shares.look_suffices:.3g}" if self.by == "look" else ""
        test = {"e-process": f"the e-process {each}", "look": f"the one exact look {look}"}.get(self.by)
        if test is None:
            return "None of the plan's tests settled it."
        return f"The plan settled it after {self.at} pairs, by {test}."

    def ruling(self, delta: float) -> Ruling:  # noqa: ARG002
        return self.found

    def not_worse_by(self, margin: float) -> bool:
        return self.out_up_to(-margin, self.pairs.plain)

    def out_up_to(self, margin: float, pairs: Pairs) -> bool:
        seen, shares = self.at_look(pairs), self.shares
        return runs_out_up_to(pairs, margin, shares.earns) or (
            seen is not None and shares.look_earns > 0 and rules_out_up_to(seen, margin, shares.look_earns)
        )

    def out_from(self, margin: float, pairs: Pairs) -> bool:
        seen, shares = self.at_look(pairs), self.shares
        return runs_out_up_to(pairs.swapped, -margin, shares.suffices) or (
            seen is not None and shares.look_suffices > 0 and rules_out_from(seen, margin, shares.look_suffices)
        )

    def at_look(self, pairs: Pairs) -> Pairs | None:
        return None if self.looked is None else pairs.first(self.looked)

    def interval(self) -> Interval | None:
        """It holds at any number of looks, so it is wider than that of one look at the same pairs."""
        return self.limits(0.0, self.pairs.plain)

    def switch_points(self, delta: float) -> Interval | None:
        return self.limits(delta, self.pairs)

    def limits(self, delta: float, pairs: Pairs) -> Interval | None:
        if not pairs.n:
            return None
        low, high = self.near()
        return (
            highest(lambda margin: self.out_up_to(margin, pairs), delta, low),
            -highest(lambda margin: self.out_from(-margin, pairs), -delta, high),
        )

    def near(self) -> tuple[float | None, float | None]:
        """About where the look's limits are, since its test is slow."""
        seen, shares = self.at_look(self.pairs), self.shares
        if (
            seen is None
            or not seen.whole
            or seen.weighed is not None
            or not shares.look_earns
            or not shares.look_suffices
        ):
            return (None, None)
        up, down = (tango(seen.b, seen.c, seen.n, 1 - 2 * s) for s in (shares.look_earns, shares.look_suffices))
        return (up and up[0], down and -down[1])

    def forecast(self, delta: float) -> int | None:
        return forecast(self.pairs, delta, self.shares.earns)


class Shut(Value, frozen=True):
    """A gate that stayed shut: so little was left to be gained that no gain worth having is possible.

    Of `planned` tasks the holder `failed` some, on `ran` of which the arm was run; it `gained` some of these. Where
    an outcome is missing (`left_out`), the task counts as gained.
    """

    error: float
    level: float
    planned: int
    failed: int
    ran: int
    gained: int
    left_out: int
    most: int

    @property
    def pairs(self) -> Pairs:
        """There are none: the arm ran on tasks chosen by the holder's result."""
        return Pairs((), self.left_out, self.planned)

    @property
    def limit(self) -> float:
        """The smallest gain that is ruled out."""
        return event_upper(self.gained + self.left_out, self.planned, self.level)
