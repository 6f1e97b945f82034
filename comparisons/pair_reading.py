"""A pair of arms read task by task, for a comparison that may stop early."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from loopworth.comparisons.net_benefit import Price
from loopworth.comparisons.result import known_costs
from loopworth.comparisons.sequential import Course
from loopworth.comparisons.trial import Trial
from loopworth.comparisons.verdict import less
from loopworth.runs.usage import Value


class Measure(Value, frozen=True):
    """One arm on one task: the share of its runs that were right (None: it cannot be judged), their mean cost, and the
    latency of the first. `late`: an endpoint broke one of them; `final`: none of them may be made again."""

    right: float | None
    usd: float | None
    seconds: float
    late: bool
    final: bool


def measure(runs: Sequence[Trial]) -> Measure:
    right = [run.right for run in runs if run.right is not None and not run.unscored]
    usd = known_costs(runs)
    return Measure(
        right=fmean(right) if len(right) == len(runs) else None,
        usd=fmean(usd) if len(usd) == len(runs) else None,
        seconds=min(runs, key=lambda run: run.repeat).latency,
        late=any(run.attempt or run.exit == "provider_error" for run in runs),
        final=all(run.exit != "provider_error" for run in runs),
    )


class Reading:
    """One arm against another: how far the two were read, and what that settled."""

    def __init__(self, arm: str, holder: str, course: Course) -> None:
        self.arm, self.holder, self.course = arm, holder, course
        self.place, self.closed = 0, 0
        self.late, self.read, self.dropped = list[int](), list[int](), list[int]()
        self.looked: int | None = None
        self.extra_usd: float | None = 0.0
        self.seconds, self.tasks, self.any_right, self.tied = 0.0, 0, False, True
        self.taken: bool | None = None

    def add(self, arm: Measure, holder: Measure, price: Price | None) -> tuple[float, float | None] | None:
        """The difference on one task, and what it costs more as a gain of accuracy, where that has a `price` and is
        known; None where one of the two arms cannot be judged."""
        if arm.right is None or holder.right is None:
            return None
        self.tasks += 1
        self.any_right = self.any_right or arm.right > 0 or holder.right > 0
        self.tied = self.tied and arm.right == holder.right
        seconds, usd = arm.seconds - holder.seconds, less(arm.usd, holder.usd)
        self.seconds += seconds
        self.extra_usd = None if self.extra_usd is None or usd is None else self.extra_usd + usd
        return arm.right - holder.right, None if price is None else price.gain(usd, seconds)

    @property
    def cheaper(self) -> bool:
        """Whether the arm was cheaper and faster so far, and so may earn its place without a gain."""
        return self.extra_usd is not None and self.extra_usd < 0 and self.seconds < 0
