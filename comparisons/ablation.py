"""What each change was worth: arms of one file beside the one of them that has the fewest changes, task by task.

Descriptive: the verdict compares each arm with whichever holds the place, and these are outside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.evidence import interval, pair
from loopworth.comparisons.intervals import Interval
from loopworth.comparisons.verdict import Measured
from loopworth.runs.usage import Value
from loopworth.workflows.variant import Difference, inside, replaced

ERROR = 0.025
"""On each side of all intervals together, which hold at once with a chance of 95 %."""


class Ablation(Value, frozen=True):
    """An arm beside its base: exactly which parts it has otherwise, and what they, all together, were worth.

    n tasks that both ran; b that only the arm got right (or did better on), c that only its base did. `difference` is
    the gain of accuracy, with its `interval` at 1 - 2 · `error`; `usd` is what a task cost more on average, None where
    a cost is unknown.
    """

    arm: str
    base: str
    changed: tuple[Difference, ...]
    n: int
    b: int
    c: int
    difference: float | None
    interval: Interval | None
    error: float
    usd: float | None


def ablations(
    arms: Sequence[Arm], measured: Sequence[Measured], clusters: Mapping[str, str] | None
) -> tuple[Ablation, ...]:
    """Each arm that is another one but for some parts of their file; with K of them each gets a K-th of the error."""
    found = {one.arm: one for one in measured}
    based = [(arm, base) for arm in arms if (base := base_of(arm, arms)) is not None]
    parted = [(arm, base, parts) for arm, base in based if (parts := between(base.differences, arm.differences))]
    error = ERROR / max(len(parted), 1)
    return tuple(ablation(found[arm.name], found[base.name], parts, clusters, error) for arm, base, parts in parted)


def base_of(arm: Arm, arms: Sequence[Arm]) -> Arm | None:
    """The arm of the same file with the fewest changes, the first of several; None for that one itself."""
    alike = [other for other in arms if other.file and other.file == arm.file]
    base = min(alike, key=lambda other: len(other.differences), default=None)
    return None if base is arm else base


def between(base: Sequence[Difference], arm: Sequence[Difference]) -> tuple[Difference, ...]:
    """The parts that two variants of one file have otherwise, from the first to the second."""
    theirs, mine = ({one.key: one for one in found} for found in (base, arm))
    keys = dict.fromkeys([*theirs, *mine])
    outer = [key for key in keys if not any(inside(key, other) for other in keys if other != key)]
    parts = [Difference(key, now(key, theirs, mine), now(key, mine, theirs)) for key in outer]
    return tuple(part for part in parts if part.before != part.after)


def now(key: str, one: Mapping[str, Difference], other: Mapping[str, Difference]) -> object:
    """What a variant has at a path: its change, else what the file says, which the other's change tells, with what it
    has otherwise within it."""
    if key in one:
        return one[key].after
    value = other[key].before
    for inner in (found for found in one.values() if inside(found.key, key)):
        value = replaced(key, value, inner.key, inner.after)
    return value


def ablation(
    arm: Measured, base: Measured, changed: tuple[Difference, ...], clusters: Mapping[str, str] | None, error: float
) -> Ablation:
    pairs = pair(arm.right, base.right, clusters)
    shared = [t for t, right in arm.right.items() if right is not None and base.right.get(t) is not None]
    costs = [(arm.usd.get(task), base.usd.get(task)) for task in shared]
    extra = [mine - theirs for mine, theirs in costs if mine is not None and theirs is not None]
    return Ablation(
        arm=arm.arm,
        base=base.arm,
        changed=changed,
        n=pairs.n,
        b=pairs.b,
        c=pairs.c,
        difference=pairs.difference,
        interval=interval(pairs, error) if pairs.n else None,
        error=error,
        usd=fmean(extra) if extra and len(extra) == len(costs) else None,
    )
