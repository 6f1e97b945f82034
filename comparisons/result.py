"""What a comparison leaves: every trial, and why it ended."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

from loopworth.comparisons.agreement import LABELS, Agreement, agreement
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.judge import Judge
from loopworth.comparisons.repeats import shown_alike
from loopworth.comparisons.schedule import Planned
from loopworth.comparisons.trial import Trial
from loopworth.comparisons.verdict import Measured, Verdict, decide, withheld
from loopworth.runs.usage import Usage, Value

if TYPE_CHECKING:
    from loopworth.comparisons.controls import Controlled


class Spared(Value, frozen=True):
    """What stopping early saved on one arm: of the `planned` runs those that were not needed, and about what they would
    have cost, None where that cannot be told."""

    arm: str
    planned: int
    made: int
    usd: float | None

    @property
    def runs(self) -> int:
        return self.planned - self.made


@dataclass(frozen=True)
class Result:
    """All trials in the order in which they ended, the superseded ones (provider errors that were rerun) too.

    `stopped` says why it ended early, and is empty where it did not; where it ended after its verdict, among its
    controls, `controls_stopped` says why. `prepared` is the seconds each model took before
    the clocks started. `began` is UTC (ISO 8601). There is no verdict on a part of the plan, nor on a single arm.
    `id` is that of the run store, `made` counts the trials of an earlier part that this one went on from. Where it
    is `replayed` (or `rescored`: judged anew, or `retold`: told again as it was), nothing was spent, and what the
    trials cost is as recorded. Where it stopped early, `spared` says what that saved, and `counted` on which tasks an
    arm's figures stand: None where its tasks were selected by another's results, so that it has none. `labels` are
    what an LLM judge said of its labelled rows. `environment` is what it was run on, where that was elsewhere or
    before, and is kept. `remarks` are what else is to be known of it. `reheard_usd` is what a judge is known to have
    cost that was asked again for it.
    """

    comparison: Comparison
    order: tuple[Planned, ...]
    trials: tuple[Trial, ...]
    began: str
    seconds: float
    prepared: Mapping[str, float] = field(default_factory=dict)
    interrupted: bool = False
    stopped: str = ""
    controls_stopped: str = ""
    endpoint_failed: bool = False
    id: str = ""
    made: int = 0
    replayed: bool = False
    rescored: bool = False
    retold: bool = False
    verdict: Verdict | None = None
    spared: tuple[Spared, ...] = ()
    counted: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    controls: tuple[Controlled, ...] = ()
    labels: tuple[Trial, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    reheard_usd: float = 0.0

    @property
    def agreement(self) -> Agreement | None:
        """How far an LLM judge agrees with its labelled rows; None where none judges."""
        judge = self.comparison.panel
        if judge is None:
            return None
        said = {trial.planned: trial.right for trial in self.labels}
        rows = zip(label_runs(judge), judge.labels, strict=True)
        return agreement((said[planned], label.right) for planned, label in rows if planned in said)

    @property
    def doubt(self) -> str:
        """Why nothing is shown by what is right: an LLM judge says it that is not shown to agree with people; "" where
        it does, or none judges."""
        return "" if (known := self.agreement) is None else known.doubt

    @property
    def tested(self) -> bool:
        """Whether anything may be called shown beside the verdict: the tasks were chosen beforehand, and what is right
        is in no doubt."""
        return not self.spared and not self.doubt

    @cached_property
    def final(self) -> tuple[Trial, ...]:
        """One trial for each run that was made, in the planned order: the rerun where there is one."""
        latest = {trial.planned: trial for trial in sorted(self.trials, key=lambda trial: trial.attempt)}
        return tuple(latest[planned] for planned in self.order if planned in latest)

    @cached_property
    def measured(self) -> list[Measured]:
        """What each arm came to, by task."""
        return measured(self.comparison, self.final)

    def but(self, **changes: Any) -> Result:
        """The same runs, with another verdict or other words on them: what was found of the runs is not looked for
        again."""
        found = dataclasses.replace(self, **changes)
        vars(found).update({name: vars(self)[name] for name in ("final", "measured") if name in vars(self)})
        return found

    @property
    def whole(self) -> bool:
        """Whether all that was planned for the arms was run, so that there is a verdict."""
        return not self.stopped and (not self.interrupted or bool(self.controls_stopped))

    @property
    def finished(self) -> bool:
        """Whether there is nothing to go on with."""
        return self.whole and not self.controls_stopped and not self.unreached

    @property
    def unreached(self) -> int:
        """How many runs and labelled rows the judge is still to be asked about, since its endpoint failed."""
        return sum(trial.unreached for trial in self.runs)

    @property
    def runs(self) -> Iterator[Trial]:
        """Every run that was made, for the controls too."""
        yield from self.trials
        for control in self.controls:
            yield from control.runs
        yield from self.labels

    def paid(self, trial: Trial) -> Usage:
        """What a run took of what the comparison spent: of one that was logged, what its judge did."""
        return trial.judging if trial.arm in self.comparison.logged else trial.spent

    @property
    def usd(self) -> float:
        """What is known to have been spent, reruns included; where it is replayed, on a judge that was asked again."""
        return self.reheard_usd if self.replayed else self.paid_usd

    @property
    def paid_usd(self) -> float:
        """What the comparison is known to have spent when it was made."""
        return sum(self.paid(trial).usd or 0.0 for trial in self.runs)

    @property
    def recorded_usd(self) -> float:
        """What the trials are known to have cost when they were made, those that were logged too."""
        return sum((trial.usage.usd or 0.0) + (trial.judging.usd or 0.0) for trial in self.runs)

    @property
    def status(self) -> int:
        """The exit status of the command: 130 interrupted, 3 the outside world or the harness failed, else 0."""
        if self.interrupted:
            return 130
        scored = {trial.arm for trial in self.final if trial.right is not None}
        failed = any(trial.exit == "harness_error" for trial in self.final)
        ran = {trial.arm for trial in self.final}
        silent = any(arm.name not in scored and (arm.name in ran or not self.spared) for arm in self.comparison.arms)
        return 3 if self.endpoint_failed or failed or silent else 0


def by_task(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """Trials by their task's id."""
    found = defaultdict[str, list[Trial]](list)
    for trial in trials:
        found[trial.task].append(trial)
    return found


def measured(comparison: Comparison, trials: Iterable[Trial]) -> list[Measured]:
    """What each arm's trials came to, by task: what the verdict is decided on. Of an arm that is shown to do the same
    every time the first run stands for all."""
    found = list(trials)
    once = shown_alike(comparison, found)
    found = [trial for trial in found if not trial.repeat or trial.arm not in once]
    repeats = {arm.name: 1 if arm.name in once else comparison.repeats for arm in comparison.arms}
    return [arm_measured(comparison, arm, [t for t in found if t.arm == arm], n) for arm, n in repeats.items()]


def arm_measured(comparison: Comparison, arm: str, trials: list[Trial], repeats: int) -> Measured:
    """A task counts where all its repeats could be scored; else it is left out, for this arm and for its pairs. So is
    one on which the score itself failed, whose runs the figures count as wrong."""
    tasks = by_task(trials)
    right, usd, seconds, harmful = dict[str, float | None](), dict[str, float | None](), {}, {}
    for task in comparison.tasks:
        runs = tasks.get(task.id, [])
        marks = [run.right for run in runs if run.right is not None and not run.unscored]
        whole = len(marks) == len(runs) == repeats
        right[task.id] = sum(marks) / repeats if whole else None
        costs = known_costs(runs) if whole else []
        usd[task.id] = fmean(costs) if len(costs) == repeats else None
        if whole:
            seconds[task.id] = min(runs, key=lambda run: run.repeat).latency
        looked_at = [run.harmful for run in runs if run.harmful is not None]
        if looked_at:
            harmful[task.id] = any(looked_at)
    most = next(one.most for one in comparison.arms if one.name == arm)
    return Measured(arm, right, usd, seconds, None if comparison.harm is None else harmful, *most)


def known_costs(runs: Iterable[Trial]) -> list[float]:
    """The US dollars of the runs whose cost is known."""
    return [run.usage.usd for run in runs if run.usage.usd is not None]


def settled(result: Result) -> Result:
    """The result with the verdict on all that was planned; a single arm has none."""
    comparison = result.comparison
    if len(comparison.arms) < 2:
        return result
    return result.but(verdict=decide(result.measured, comparison.rule, comparison.clusters))


def label_runs(judge: Judge) -> list[Planned]:
    """What the runs on a judge's labelled rows are kept under, in the order of the rows."""
    return [Planned(LABELS, f"row {k}", 0) for k, _ in enumerate(judge.labels, 1)]


def believed(result: Result) -> Result:
    """The result, whose verdict is undecided where an LLM judge is not shown to agree with people."""
    if result.verdict is None or not (why := result.doubt):
        return result
    return result.but(verdict=withheld(result.verdict, result.comparison.arms[0].name, why))
