"""The Pareto set: the arms that no other is shown to beat on accuracy, cost and time at once (STATISTICS.md 2.3).

What is unclear is not shown: it takes no arm out of the set. What two arms have alike, or both leave unknown, is no
advantage of either: the other axes decide. The list is descriptive, outside the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Literal, TypeAlias

from loopworth.comparisons.evidence import OneLook
from loopworth.comparisons.verdict import (
    Figures,
    Measured,
    Rule,
    known,
    not_worse_margin,
    on_common,
    share,
    smallest_gain,
    too_many_lost,
)
from loopworth.comparisons.verdict import paired as pairs_of
from loopworth.comparisons.vetoes import paired, saving
from loopworth.runs.usage import Value

Axis = Literal["accuracy", "cost", "time"]
AXES: tuple[Axis, ...] = ("accuracy", "cost", "time")
Taken = Literal["less", "no more", "unknown", "unclear"]
"""What an arm takes beside another: shown less, no more on any task, known of neither, or nothing that is shown."""

Takes: TypeAlias = Mapping[tuple[str, str], Mapping[Axis, Taken]]


class Beaten(Value, frozen=True):
    """By which arm another is beaten: `on` accuracy no worse, and better on the other axes; better on accuracy where
    that is the only one. It costs or takes `no_more`, or what either does is `unknown`."""

    by: str
    on: tuple[Axis, ...]
    no_more: tuple[Axis, ...] = ()
    unknown: tuple[Axis, ...] = ()


class Standing(Value, frozen=True):
    """An arm, and those that are shown to beat it; in the Pareto set where there is none. It differs on its `axes`."""

    arm: str
    dominated_by: tuple[str, ...]
    axes: tuple[Axis, ...]
    beaten: tuple[Beaten, ...]


def standings(arms: Sequence[Measured], rule: Rule, clusters: Mapping[str, str] | None = None) -> tuple[Standing, ...]:
    """Every arm beside every other, each pair at its part of the rule's error; the number of tasks was chosen
    beforehand."""
    arms, error = [known(arm) for arm in arms], share(rule.error, len(arms))
    takes = {(one.arm, other.arm): beside(one, other, error) for one, other in permutations(arms, 2)}
    return tuple(standing(one, arms, takes, rule, clusters, error) for one in arms)


def standing(
    one: Measured, arms: Iterable[Measured], takes: Takes, rule: Rule, clusters: Mapping[str, str] | None, error: float
) -> Standing:
    """An arm beside all others; `takes` says of each pair what the one costs and takes beside the other."""
    told, beaten = set[Axis](("accuracy",)), list[Beaten]()
    for other in (arm for arm in arms if arm is not one):
        for pair in ((one.arm, other.arm), (other.arm, one.arm)):
            told |= {axis for axis, state in takes[pair].items() if state in ("less", "unclear")}
        if found := beats(other, one, takes[other.arm, one.arm], rule, clusters, error):
            beaten.append(found)
    axes = tuple(axis for axis in AXES if axis in told)
    return Standing(one.arm, tuple(found.by for found in beaten), axes, tuple(beaten))


def beats(
    arm: Measured,
    other: Measured,
    takes: Mapping[Axis, Taken],
    rule: Rule,
    clusters: Mapping[str, str] | None,
    error: float,
) -> Beaten | None:
    """How an arm is shown to beat another; None where anything that tells them apart is not shown."""
    pairs = pairs_of(arm, other, rule, clusters)
    delta = smallest_gain(pairs, rule)
    if "unclear" in takes.values() or delta is None or too_many_lost(pairs) or not any(arm.right.values()):
        return None
    less, no_more, unknown = (
        tuple(axis for axis, state in takes.items() if state == which) for which in ("less", "no more", "unknown")
    )
    # An arm that has no other advantage has to be better, or two that are alike would beat each other.
    if not OneLook(pairs, error).not_worse_by(not_worse_margin(rule, delta) if less else 0.0):
        return None
    return Beaten(arm.arm, ("accuracy", *less), no_more, unknown)


def beside(arm: Measured, other: Measured, error: float) -> dict[Axis, Taken]:
    """What an arm costs and takes beside another, on the tasks that both can be judged on."""
    mine, theirs = on_common(arm, other), on_common(other, arm)
    return {"cost": taken(mine.usd, theirs.usd, error), "time": taken(mine.seconds, theirs.seconds, error)}


def taken(mine: Figures, theirs: Figures, error: float) -> Taken:
    """Less as shown by the ratio; of an arm that takes nothing, where the other takes something on every task."""
    if all(one is None for one in (*mine.values(), *theirs.values())):
        return "unknown"
    if (both := paired(mine, theirs)) is None:
        return "unclear"
    a, b = both
    if a == b or (not any(a) and not all(b)):
        return "no more"
    return "less" if not any(a) or saving(mine, theirs, error) is not None else "unclear"
