"""Lanes: the runs that share the same endpoints, so that a slow endpoint never holds up a fast one, nor a slow model a
fast one beside it."""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Callable, Iterable

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

    `models` are those of each arm; `due` are the runs to come by these, each with its place in the order.
    """

    endpoints: tuple[str, ...]
    slots: int
    models: dict[str, Models]
    due: dict[Models, deque[tuple[int, Planned]]]
    left: int
    done: int = 0

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


def eta(lanes: Iterable[Lane], spent: float) -> float | None:
    """Seconds until the slowest lane is through, at its pace in the seconds that were spent so far."""
    open = [lane for lane in lanes if lane.left]
    if not all(lane.done for lane in open):
        return None
    return max((spent * lane.left / lane.done for lane in open), default=None)
