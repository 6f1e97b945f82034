"""The one order in which all arms meet all tasks, fixed before any result is known."""

from __future__ import annotations

import random
from collections.abc import Sequence

from loopworth.runs.usage import Value


class Planned(Value, frozen=True):
    """A run that is due: one arm on one task, for the `repeat`-th time (from 0)."""

    arm: str
    task: str
    repeat: int


def order(arms: Sequence[str], tasks: Sequence[str], repeats: int, seed: int) -> tuple[Planned, ...]:
    """Every arm on every task, `repeats` times: rounds of one shuffled task order, the same for all arms.

    A task's arms follow each other, so that all arms see the same hours of an endpoint; which of them goes first
    rotates from task to task, so that no arm always finds the caches cold. Depends on its arguments alone.
    """
    shuffler = random.Random(seed)
    shuffled = list(tasks)
    shuffler.shuffle(shuffled)
    first = shuffler.randrange(len(arms)) if arms else 0
    places = [(repeat, task) for repeat in range(repeats) for task in shuffled]
    return tuple(
        Planned(arm, task, repeat)
        for place, (repeat, task) in enumerate(places)
        for arm in rotated(arms, first + place)
    )


def rotated(arms: Sequence[str], by: int) -> list[str]:
    """The arms, begun at the `by`-th."""
    start = by % len(arms)
    return [*arms[start:], *arms[:start]]
