"""The one order in which all arms meet all tasks, fixed before any result is known."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from loopworth.runs.usage import Value

if TYPE_CHECKING:
    from loopworth.comparisons.comparison import Comparison

Unit: TypeAlias = "tuple[str, ...]"
"""The tasks that count as one."""


class Planned(Value, frozen=True):
    """A run that is due: one arm on one task, for the `repeat`-th time (from 0)."""

    arm: str
    task: str
    repeat: int


Due: TypeAlias = tuple[Planned, int]
"""A planned run, and which attempt at it."""


def plan(comparison: Comparison, arms: Sequence[str], repeats: int) -> tuple[Planned, ...]:
    """The order in which these arms meet the tasks of a comparison."""
    if comparison.early:
        return unit_order(arms, units(comparison.stages, comparison.seed, comparison.clusters), repeats)
    return order(arms, [task.id for task in comparison.tasks], repeats, comparison.seed)


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


def units(stages: Sequence[Sequence[str]], seed: int, clusters: Mapping[str, str] | None = None) -> list[Unit]:
    """What a comparison that stops early reads one after another: tasks, or all tasks of a cluster, shuffled.

    The units of a stage come after those of the stages before it, whatever is added later.
    """
    found = list[Unit]()
    for number, stage in enumerate(stages):
        groups: dict[str, list[str]] = {}
        for task in stage:
            groups.setdefault(clusters.get(task, task) if clusters else task, []).append(task)
        shuffled = [tuple(group) for group in groups.values()]
        random.Random(f"{seed}/{number}" if number else seed).shuffle(shuffled)
        found += shuffled
    return found


def unit_order(arms: Sequence[str], units: Sequence[Unit], repeats: int) -> tuple[Planned, ...]:
    """Every arm on every unit, a task's repeats one after another."""
    return tuple(
        Planned(arm, task, repeat)
        for place, unit in enumerate(units)
        for task in unit
        for arm in rotated(arms, place)
        for repeat in range(repeats)
    )
