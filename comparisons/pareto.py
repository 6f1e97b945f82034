"""The Pareto set: the arms that no other is shown to be as right as, cheaper and faster (STATISTICS.md 2.3).

What is unclear is not shown: it takes no arm out of the set. The list is descriptive, outside the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


class Standing(Value, frozen=True):
    """An arm, and those that are shown to be not worse, cheaper and faster; in the Pareto set where there is none."""

    arm: str
    dominated_by: tuple[str, ...]


def standings(arms: Sequence[Measured], rule: Rule, clusters: Mapping[str, str] | None = None) -> tuple[Standing, ...]:
    """Every arm beside every other, each pair at its part of the rule's error; the number of tasks was chosen
    beforehand."""
    arms, error = [known(arm) for arm in arms], share(rule.error, len(arms))
    return tuple(
        Standing(one.arm, tuple(o.arm for o in arms if o is not one and dominates(o, one, rule, clusters, error)))
        for one in arms
    )


def dominates(arm: Measured, other: Measured, rule: Rule, clusters: Mapping[str, str] | None, error: float) -> bool:
    """Whether an arm is shown to be cheaper, faster and not worse than another."""
    mine, theirs = on_common(arm, other), on_common(other, arm)
    if not (less(mine.usd, theirs.usd, error) and less(mine.seconds, theirs.seconds, error)):
        return False
    pairs = pairs_of(arm, other, rule, clusters)
    delta = smallest_gain(pairs, rule)
    if delta is None or too_many_lost(pairs) or not any(arm.right.values()):
        return False
    return OneLook(pairs, error).not_worse_by(not_worse_margin(rule, delta))


def less(mine: Figures, theirs: Figures, error: float) -> bool:
    """Whether one takes less, as shown by the ratio; or nothing, where the other takes something on every task."""
    both = paired(mine, theirs)
    free = both is not None and not any(both[0]) and all(both[1])
    return free or saving(mine, theirs, error) is not None
