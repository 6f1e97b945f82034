"""The repeats of a run: seeds of their own, and where an arm is shown to do the same every time, no repeats.

An arm that cannot be told to sample (it asks no model, or each at temperature 0, and no fault is put into its tools) is
shown to do the same once its first three tasks came out the same in three runs each (STATISTICS.md 3.3). Its later
repeats are skipped: one run stands for all of a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.faults import Faults
from loopworth.comparisons.schedule import Planned, plan
from loopworth.comparisons.trial import Trial
from loopworth.models import Model, ModelSpec
from loopworth.models.doubts import Doubts
from loopworth.runs.message import Reply, Request
from loopworth.runs.world import Ask, Live, Strike

PROBES = 3
"""On how many tasks, in how many runs each, an arm has to do the same."""


class Repeated(Live):
    """The live world of one run. From the second repeat on a model that has a seed gets another, the same for all
    arms. `faults` are those that its tools meet."""

    def __init__(
        self,
        models: Mapping[str, Model],
        ask: Ask | None,
        specs: Mapping[str, ModelSpec],
        repeat: int,
        faults: Faults | None = None,
    ) -> None:
        super().__init__(models, ask, doubts=Doubts(models))
        self.specs, self.repeat, self.faults = specs, repeat, faults

    def strike(self, tool: str) -> Strike | None:
        return None if self.faults is None else self.faults.strike(tool)

    async def model(self, request: Request, id: str, seconds: float | None) -> Reply:
        if self.repeat and request.model in self.specs:  # a model that was not given has no seed, and no answer
            seed = seed_of(self.specs[request.model]) if request.seed is None else request.seed
            seed = None if seed is None else reseeded(seed, self.repeat)
            request = msgspec.structs.replace(request, seed=seed)
        return await super().model(request, id, seconds)


def seed_of(spec: ModelSpec) -> int | None:
    """The seed of a model; the embedded one always has one, or its repeats would all be the same run."""
    return 1 if spec.seed is None and spec.provider == "local" else spec.seed


def reseeded(seed: int, repeat: int) -> int:
    """The seed of a later repeat."""
    return int.from_bytes(blake2b(f"{seed}/{repeat}".encode(), digest_size=4).digest()) >> 1


# -- arms that do the same every time ---------------------------------------------------------------------------------


def samples(spec: ModelSpec) -> bool:
    """Whether a model may answer otherwise the next time: an endpoint's own temperature is not known."""
    if spec.provider == "scripted" or spec.labels is not None:
        return False
    default = 0.0 if spec.provider == "local" else None
    return (spec.temperature if spec.temperature is not None else spec.extra.get("temperature", default)) != 0


def tellable(arm: Arm) -> bool:
    """Whether a few equal runs can show that it always does the same: of a program, or a log, too little is known."""
    return not (arm.foreign or arm.log is not None) and not any(map(samples, arm.workflow.models.values()))


@dataclass
class Watched:
    """Of one arm the runs that are to come, by task and repeat, and what each task's runs came out as."""

    left: set[tuple[str, int]]
    said: dict[str, str] = field(default_factory=dict)


class Alike:
    """Which arms are shown to do the same every time. It depends on the trials alone, not on when they ended.

    The runs of an arm count that are planned up to the third run on the third task: none of a task's may differ, and
    none be broken. `shown` holds the arms whose later repeats are skipped.
    """

    def __init__(self, comparison: Comparison) -> None:
        runs = prefix(comparison)
        arms = [arm.name for arm in comparison.arms if runs and tellable(arm) and not comparison.faults]
        self.watched = {name: Watched(set(runs)) for name in arms}
        self.shown = set[str]()

    def take(self, trial: Trial) -> bool:
        """A run has ended; whether that shows its arm to do the same every time."""
        one = self.watched.get(trial.arm)
        if one is None or trial.attempt or (trial.task, trial.repeat) not in one.left:
            return False
        one.left.discard((trial.task, trial.repeat))
        same = trial.right is not None and one.said.setdefault(trial.task, trial.digest) == trial.digest
        if one.left and same:
            return False
        del self.watched[trial.arm]
        self.shown |= {trial.arm} if same else set()
        return same

    def skips(self, planned: Planned) -> bool:
        """Whether a run need not be made."""
        return planned.repeat > 0 and planned.arm in self.shown

    def needs(self, planned: Planned) -> bool:
        """Whether a run has to be made whatever others come to."""
        watched = self.watched.get(planned.arm)
        if watched is None or not planned.repeat:
            return not self.skips(planned)
        return (planned.task, planned.repeat) in watched.left


def prefix(comparison: Comparison) -> list[tuple[str, int]]:
    """The runs of an arm that can show it; none where there are too few tasks or repeats."""
    if comparison.repeats < PROBES or len(comparison.tasks) < PROBES:
        return []
    runs = [(one.task, one.repeat) for one in plan(comparison, ("",), PROBES)]
    third = list(dict.fromkeys(task for task, _ in runs))[PROBES - 1]
    return runs[: runs.index((third, PROBES - 1)) + 1]


def shown_alike(comparison: Comparison, trials: Iterable[Trial]) -> set[str]:
    """The arms that these trials show to do the same every time."""
    alike = Alike(comparison)
    for trial in trials if alike.watched else ():
        alike.take(trial)
    return alike.shown


def missing(comparison: Comparison, order: Iterable[Planned], trials: Iterable[Trial]) -> list[Planned]:
    """The planned runs that are still to be made: those that were not and had to be, and those that an endpoint failed
    and that were not made once more. A log has the runs that it has."""
    made = {trial.planned: trial for trial in sorted(trials, key=lambda trial: trial.attempt)}
    once, logs = shown_alike(comparison, made.values()), comparison.logged
    left = [one for one in order if (one not in made or made[one].owed) and one.arm not in logs]
    return [one for one in left if not one.repeat or one.arm not in once]
