"""Lanes: the runs that share the same endpoints, so that a slow endpoint never holds up a fast one, nor a slow model a
fast one beside it."""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Callable, Iterable
from statistics import fmean

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.endpoints import Endpoints
from loopworth.comparisons.schedule import Planned

Models = tuple[str, ...]
"""The models that an arm calls."""
AHEAD = 8
"""The most units that an arm is run ahead of what was read, where a comparison may be settled any moment."""


@dataclasses.dataclass
class Lane:
    """The runs that share the same endpoints, and how many of them may be under way.

    `models` are those of each arm; `due` are the runs to come by these, each with its place in the order. `first`
    is when an arm's first run was through, `took` the seconds of those that were begun after it.
    """

    endpoints: tuple[str, ...]
    slots: int
    models: dict[str, Models]
    due: dict[Models, deque[tuple[int, Planned]]]
    left: int
    done: int = 0
    first: dict[str, float] = dataclasses.field(default_factory=dict)
    took: dict[str, list[float]] = dataclasses.field(default_factory=dict)

    def end(self, arm: str, began: float, at: float) -> None:
        """A run of an arm has ended. Those under way before the arm's first was through say nothing of the others: a
        model warms up."""
        self.done, self.left = self.done + 1, self.left - 1
        if began >= self.first.setdefault(arm, at):
            self.took.setdefault(arm, []).append(at - began)

    @property
    def seconds_left(self) -> float | None:
        """As long as a run of each arm takes on average, so many at once; None before that is known of each."""
        if len(self.took) < len(self.models):
            return None
        mean, under_way = fmean(fmean(runs) for runs in self.took.values()), min(self.slots, self.left)
        return mean * (self.left - under_way / 2) / self.slots

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(self.models)

    def next(self, flying: Iterable[Planned]) -> Planned | None:
        """The next run: of those models of which the fewest are under way, and of equals the first in order."""
        under_way = Counter(self.models.get(one.arm) for one in flying)
        waiting = [models for models, runs in self.due.items() if runs]
        if not waiting:
            return None
        return self.due[min(waiting, key=lambda models: (under_way[models], self.due[models][0][0]))].popleft()[1]

    @property
    def ahead(self) -> int:
        """How many units an arm may be ahead of what was read where a comparison stops early: what is under way when it
        is settled was not needed. Scripted models answer at once, so they need not be."""
        return 1 if self.endpoints == ("scripted",) else min(self.slots, AHEAD)


def laid(due: Iterable[Planned], arm_of: Callable[[Planned], Arm], endpoints: Endpoints) -> list[Lane]:
    """One lane for each set of endpoints that an arm reaches.

    An arm with several endpoints has as many slots as the narrowest of them; the models themselves keep each endpoint
    within its own limit, across lanes.
    """
    lanes: dict[tuple[str, ...], Lane] = {}
    for place, planned in enumerate(due):
        arm = arm_of(planned)
        ends = endpoints.of(arm)
        lane = lanes.setdefault(ends, Lane(ends, endpoints.slots(ends), {}, {}, 0))
        lane.models[planned.arm] = arm.models
        lane.due.setdefault(arm.models, deque()).append((place, planned))
        lane.left += 1
    return list(lanes.values())


def eta(lanes: Iterable[Lane]) -> float | None:
    """Seconds until the slowest lane is through; None while that of any lane cannot be told."""
    left = [lane.seconds_left for lane in lanes if lane.left]
    known = [seconds for seconds in left if seconds is not None]
    return max(known) if known and len(known) == len(left) else None
