"""Another score, price or rule for runs that are kept: nothing is called, and nothing is kept of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

import msgspec

from loopworth.comparisons.agreement import LABELS
from loopworth.comparisons.arms import Arm
from loopworth.comparisons.basis import environment_of, with_given
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.control_phase import Phase, carried, wanted
from loopworth.comparisons.kept_trial import due_of
from loopworth.comparisons.result import Result, believed, label_runs, settled
from loopworth.comparisons.ruling import asked_of, part_of_judge, ruling_in, was_judged, without_judge
from loopworth.comparisons.schedule import Planned, plan
from loopworth.comparisons.sentences import counted
from loopworth.comparisons.stopping import Stopping, whole
from loopworth.comparisons.tasks import Task
from loopworth.comparisons.trial import Left, Trial, left_by, scored, tried
from loopworth.models import ModelSpec, prices
from loopworth.runs.events import AnyEvent, ModelCalled
from loopworth.runs.kept import Kept, Score
from loopworth.runs.outcome import Outcome
from loopworth.runs.shelf import Shelf

UNKEPT = Score()


class RescoreFault(ValueError):
    """What is kept cannot be scored anew; the text says why, and what can be done."""


class Trials(Protocol):
    """Where the trials of a comparison are: `runs.shelf.Shelf`, or recordings."""

    def trials(self, comparison: str) -> list[Kept]: ...

    def scores(self, comparison: str) -> dict[str, Score]: ...

    def figures(self, comparison: str) -> dict[str, bytes]: ...

    def outcomes(self, ids: Iterable[str]) -> Iterator[tuple[str, Outcome]]: ...


def rescored(comparison: Comparison, shelf: Shelf, before: Kept) -> Result:
    """The kept trials of a comparison by the score, the prices and the rule that its file has now.

    Arms that were not run have no figures; of the controls that are called for now those count that are kept. Raises
    RescoreFault where a judge would have to be asked.
    """
    return folded(judged(comparison, shelf, before), before)


def judged(comparison: Comparison, shelf: Shelf, before: Kept) -> Again:
    """The kept trials, about which the judge of the file was asked. Raises RescoreFault where it was not."""
    again = Again(with_given(comparison, before), shelf, before)
    if why := again.unasked():
        raise RescoreFault(
            f"{before.id} cannot be rescored by this judge: {why}, and `rescore` asks no model\n"
            f"    to have it judge these runs: `loopworth runs export {before.id} -o runs.jsonl`, and a comparison of\n"
            "    arms that are {log: runs.jsonl}: `loopworth compare` then asks the judge, and nobody else"
        )
    return again


def folded(again: Again, before: Kept) -> Result:
    """The result of what is kept, as `again` tells its trials."""
    comparison = again.comparison
    arms = {arm.name: arm for arm in comparison.arms}
    order = plan(comparison, tuple(arms), comparison.repeats)
    trials = [*again.trials(arms), *again.logged(order, arms)]
    stopping = Stopping(comparison) if comparison.early else None
    if stopping is not None:
        for trial in trials:
            stopping.take(trial)
    over = before.state == "done" or whole(comparison, order, trials)
    result = Result(
        comparison=comparison,
        order=order,
        trials=tuple(trials),
        began=before.began,
        seconds=before.seconds,
        stopped="" if over else f"{before.id} is unfinished" + (before.note and f": {before.note}"),
        id=before.id,
        replayed=True,
        rescored=True,
        labels=tuple(again.labelled()),
        environment=environment_of(before),
    )
    if not result.whole:
        return result
    if stopping is not None:
        return again.controlled(believed(stopping.concluded(result)))
    return again.controlled(believed(settled(result)))


class Again:
    """What is kept of a comparison, judged anew, and what its runs left."""

    def __init__(self, comparison: Comparison, shelf: Trials, before: Kept) -> None:
        self.comparison, self.shelf = comparison, shelf
        self.tasks = {task.id: task for task in comparison.tasks}
        self.before = before.id
        self.left: dict[Planned, Left] = {}

    @cached_property
    def done(self) -> list[Kept]:
        return [one for one in self.shelf.trials(self.before) if one.state == "done"]

    @cached_property
    def scores(self) -> dict[str, Score]:
        return self.shelf.scores(self.before)

    @property
    def kept(self) -> list[Kept]:
        """The trials that ended, on tasks that there are."""
        return [one for one in self.done if one.task in self.tasks and one.arm != LABELS]

    def ran(self, arms: Collection[str]) -> Iterator[tuple[Kept, Outcome]]:
        """The kept trials under these names that ended, with what they came to."""
        return self.came(one for one in self.kept if str(one.arm) in arms)

    def came(self, runs: Iterable[Kept]) -> Iterator[tuple[Kept, Outcome]]:
        found = {one.id: one for one in runs}
        return ((found[id], outcome) for id, outcome in self.shelf.outcomes(found))

    def trials(self, arms: Mapping[str, Arm]) -> Iterator[Trial]:
        """Each trial that is kept under one of these names, with its new score and cost."""
        for one, outcome in self.ran(arms):
            arm = arms[str(one.arm)]
            (planned, attempt), before = due_of(one), self.scores[one.id]
            self.left[planned] = left_by(planned, outcome)
            outcome = self.repriced(one, outcome, arm.workflow.models.values())
            trial = self.trial(planned, self.tasks[planned.task], outcome, before, attempt)
            yield msgspec.structs.replace(trial, latency=before.latency)

    def logged(self, order: tuple[Planned, ...], arms: Mapping[str, Arm]) -> Iterator[Trial]:
        """The runs of arms that are logs, which no store keeps."""
        for planned in order:
            outcome = (arms[planned.arm].log or {}).get((planned.task, planned.repeat))
            if outcome is not None and planned not in self.left:  # one that was judged is kept
                self.left[planned] = left_by(planned, outcome)
                yield self.trial(planned, self.tasks[planned.task], outcome)

    def labelled(self) -> Iterator[Trial]:
        """What the judge said of the labelled rows that there are now, wherever they stood then."""
        panel = self.comparison.panel
        if panel is None:
            return
        rows = {label.asks: planned for planned, label in zip(label_runs(panel), panel.labels, strict=True)}
        for one, outcome in self.came(one for one in self.done if one.arm == LABELS):
            if (planned := rows.pop(asked_of(outcome), None)) is not None:
                yield tried(planned, self.repriced(one, outcome), ruling_in(outcome).score)

    def unasked(self) -> str:
        """Why the judge that the file names now has not said what it says of these runs; "" where it has."""
        panel = self.comparison.panel
        if panel is None:
            return ""
        runs = [(task, one) for task, one in self.ended() if panel.wants(without_judge(one), task.expected)]
        new = sum(not was_judged(outcome) for _, outcome in runs)
        other = sum(not panel.asked_alike(outcome, task.fields, task.expected) for task, outcome in runs)
        if new:
            return f"no judge was asked about {new} of {counted(len(runs), 'run')}"
        return f"{other} of {counted(len(runs), 'run')} were judged by another, or on other tasks" if other else ""

    def ended(self) -> Iterator[tuple[Task, Outcome]]:
        """What is kept of the arms that the file has now, and what their logs have."""
        arms, kept = {arm.name: arm for arm in self.comparison.arms}, set[Planned]()
        for one, outcome in self.ran(arms):
            kept.add(due_of(one)[0])
            yield self.tasks[str(one.task)], outcome
        for name, arm in arms.items():
            for (task, repeat), outcome in (arm.log or {}).items():
                if Planned(name, task, repeat) not in kept:
                    yield self.tasks[task], outcome

    def repriced(self, one: Kept, outcome: Outcome, specs: Iterable[ModelSpec] = ()) -> Outcome:
        """The outcome at the prices that the files have now, the judge's too."""
        panel, made = self.comparison.panel, datetime.fromisoformat(one.began).timestamp()
        judges = {} if panel is None else {panel.model.name: panel.model}
        return repriced(outcome, {spec.name: spec for spec in specs}, made, judges)

    def trial(self, planned: Planned, task: Task, outcome: Outcome, before: Score = UNKEPT, attempt: int = 0) -> Trial:
        score = scored(outcome, lambda outcome: self.comparison.judge(task, outcome))
        harmful, trace = self.comparison.harmful(task, outcome), self.comparison.trace(task, outcome)
        return tried(planned, outcome, score, attempt=attempt, began=before.began, harmful=harmful, trace=trace)

    def controlled(self, result: Result) -> Result:
        """The result with its controls, as far as they are kept."""
        found = []
        for control in wanted(result):
            arm = Phase(result, control, self.left).arm
            made = {trial.planned: trial for trial in self.trials({control.key: arm})}
            found.append(Phase(result, control, self.left).came(made))
        return result.but(controls=tuple(found), verdict=carried(result, found))


def repriced(
    outcome: Outcome,
    specs: Mapping[str, ModelSpec],
    made: float | None = None,
    judges: Mapping[str, ModelSpec] = MappingProxyType({}),
) -> Outcome:
    """The outcome at the prices that the files have now for when it was `made` (seconds since 1970; else today), its
    judge's at those of `judges`; what a model of another name cost stays."""
    events = [priced(one, judges if part_of_judge(one.at) else specs, made) for one in outcome.events]
    return msgspec.structs.replace(outcome, events=events)


def priced(event: AnyEvent, specs: Mapping[str, ModelSpec], made: float | None) -> AnyEvent:
    spec = specs.get(event.model.partition("@")[0]) if type(event) is ModelCalled else None
    if spec is None or type(event) is not ModelCalled:
        return event
    usage = msgspec.structs.replace(event.usage, usd=prices.usd(spec, event.usage, made))
    return msgspec.structs.replace(event, usage=usage)
