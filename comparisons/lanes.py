"""Lanes: the runs that share the same endpoints, so that a slow endpoint never holds up a fast one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.endpoints import Endpoints
from loopworth.comparisons.schedule import Planned

AHEAD = 8
"""The most units that an arm is run ahead of what was read, where a comparison may be settled any moment."""


@dataclasses.dataclass
class Lane:
    """The runs that share the same endpoints, and how many of them may be under way."""

    endpoints: tuple[str, ...]
    slots: int
    arms: tuple[str, ...]
    due: Iterator[Planned]
    left: int
    done: int = 0

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
    lanes: dict[tuple[str, ...], list[Planned]] = {}
    for planned in due:
        lanes.setdefault(endpoints.of(arm_of(planned)), []).append(planned)
    return [
        Lane(ends, endpoints.slots(ends), tuple({run.arm: 0 for run in runs}), iter(runs), len(runs))
        for ends, runs in lanes.items()
    ]


def eta(lanes: Iterable[Lane], spent: float) -> float | None:
    """Seconds until the slowest lane is through, at its pace in the seconds that were spent so far."""
    open = [lane for lane in lanes if lane.left]
    if not all(lane.done for lane in open):
        return None
    return max((spent * lane.left / lane.done for lane in open), default=None)
