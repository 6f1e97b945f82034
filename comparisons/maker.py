"""One run of a comparison and its score: what is run, in which world, and what it came to."""

from __future__ import annotations

import asyncio
import dataclasses
import time
import traceback
from collections.abc import Callable
from functools import partial

import msgspec

from loopworth.comparisons.agreement import LABELS, Label
from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.control_phase import Phase
from loopworth.comparisons.endpoints import Endpoints, Open
from loopworth.comparisons.faults import Faults
from loopworth.comparisons.keeper import Keeper
from loopworth.comparisons.ruling import ruling_in
from loopworth.comparisons.schedule import Planned
from loopworth.comparisons.scores import Score
from loopworth.comparisons.tasks import Task
from loopworth.comparisons.trial import Left, Trial, left_by, scored, tried
from loopworth.runs.outcome import Diverged, Fenced, Outcome
from loopworth.runs.usage import Usage
from loopworth.workflows import typed_answer
from loopworth.workflows.compile import Compiled


class Maker:
    """Makes the runs of a comparison, any number at once.

    `flying` are those under way, each with its attempt and when it began; `left` is what they leave that a control
    takes; `control` is the control whose runs are made, None while the arms' are. Times are in seconds since `start`. A
    trial has its answer, transcript and events only where they are to `keep`.
    """

    def __init__(self, comparison: Comparison, open: Open, keeper: Keeper, keep: bool) -> None:
        self.comparison, self.keeper, self.keep = comparison, keeper, keep
        self.arms = {arm.name: arm for arm in comparison.arms}
        self.tasks = {task.id: task for task in comparison.tasks}
        self.endpoints = Endpoints(open, comparison.models)
        self.control: Phase | None = None
        self.flying: dict[Planned, tuple[int, float]] = {}
        self.left: dict[Planned, Left] = {}
        self.start = time.monotonic()

    async def prepare(self, note: Callable[[str], None]) -> None:
        """Load and open all that the runs need, and start the clock where an earlier part of the comparison left it."""
        for arm in self.comparison.arms:
            typed_answer.ready(*arm.workflow.typed)
        if self.comparison.own_score is not None:
            self.comparison.own_score.open()
        readying = "" if self.keeper.replayed else "making {} ready"
        await self.endpoints.prepare(lambda name: note(readying.format(name)))
        self.start = time.monotonic() - max((trial.began + trial.seconds for trial in self.keeper.made), default=0.0)
        self.left.update(self.keeper.left)

    async def close(self) -> None:
        """Close all models, and end the process of a score of the user's own."""
        if self.comparison.own_score is not None:
            self.comparison.own_score.close()
        await self.endpoints.close()

    def elapsed(self) -> float:
        return time.monotonic() - self.start

    def contender(self, name: str) -> Arm:
        """The arm that is run under this name: itself, or the one that the control runs."""
        if self.control is not None and name not in self.arms:
            return self.control.arm
        return self.arms[name]

    def workflow(self, planned: Planned) -> Compiled:
        if self.control is not None and planned.arm not in self.arms:
            return self.control.workflow(planned.task)
        return self.arms[planned.arm].workflow

    def logged(self, planned: Planned) -> bool:
        """Whether it is a run that a log has."""
        return (planned.task, planned.repeat) in (self.arms[planned.arm].log or ())

    def is_log(self, name: str) -> bool:
        """Whether what is run under this name was made, and paid, elsewhere."""
        return name in self.arms and self.arms[name].log is not None

    def spent(self, trial: Trial) -> Usage:
        """What a run took of the comparison's own budget: of one that was logged, what its judge did."""
        return trial.judging if self.is_log(trial.arm) else trial.spent

    def makes(self, planned: Planned) -> bool:
        """Whether something is to be run: of a log, where a judge is to be asked about what it has."""
        log, panel = self.contender(planned.arm).log, self.comparison.panel
        if log is None:
            return True
        found = log.get((planned.task, planned.repeat))
        return found is not None and panel is not None and panel.wants(found, self.tasks[planned.task].expected)

    async def make(self, planned: Planned, attempt: int) -> Trial:
        """One run and its score. A bug of ours, here too, is this trial's end and not the comparison's."""
        task, began = self.tasks[planned.task], self.elapsed()
        self.flying[planned] = (attempt, began)
        outcome, score, harmful = Outcome(), None, None
        try:
            outcome = await self.run(planned, attempt, task)
            score = await self.score(task, outcome)
            harmful = self.comparison.harmful(task, outcome)
        except Exception as bug:
            if isinstance(bug, Fenced) or (isinstance(bug, Diverged) and self.keeper.replayed):
                raise
            note, score = f"{type(bug).__name__}: {bug}", None
            told = traceback.format_exc()
            outcome = msgspec.structs.replace(outcome, exit="harness_error", note=note, traceback=told)
        if not planned.repeat or planned.arm not in self.arms:
            self.left[planned] = left_by(planned, outcome)
        trace = self.comparison.trace(task, outcome)
        trial = tried(
            planned, outcome, score, attempt=attempt, began=began, harmful=harmful, keep=self.keep, trace=trace
        )
        trial = self.as_logged(trial)
        self.keeper.keep(trial, outcome)
        return trial

    async def label(self, planned: Planned, label: Label) -> Trial:
        """What the judge makes of a row that people labelled."""
        assert self.comparison.panel is not None
        workflow, began = self.comparison.panel.of_label(label), self.elapsed()
        arm = Arm(LABELS, workflow)
        outside = lambda records: self.endpoints.world(arm, None, 0, records)
        outcome = await self.keeper.run((planned, 0), workflow, {}, outside)
        trial = tried(planned, outcome, ruling_in(outcome).score, began=began, keep=self.keep)
        self.keeper.keep(trial, outcome)
        return trial

    def as_logged(self, trial: Trial) -> Trial:
        """The trial of a log has the times that were logged, whatever its judge took."""
        if (log := self.contender(trial.arm).log) is None:
            return trial
        found = log[trial.task, trial.repeat]
        return msgspec.structs.replace(trial, latency=found.latency, seconds=found.seconds)

    async def run(self, planned: Planned, attempt: int, task: Task) -> Outcome:
        arm = self.contender(planned.arm)
        if arm.origin == "store":
            return self.keeper.recorded((planned, attempt))
        if arm.log is not None and not self.makes(planned):
            return arm.log[planned.task, planned.repeat]
        choice = task.approve or self.comparison.approvals
        faults = Faults(self.comparison.faults, self.comparison.seed, planned.task, planned.repeat)
        workflow = self.judged(planned, task)
        asked = dataclasses.replace(arm, workflow=workflow)
        outside = lambda records: self.endpoints.world(asked, choice, planned.repeat, records, faults)
        return await self.keeper.run((planned, attempt), workflow, arm.given(task), outside)

    def judged(self, planned: Planned, task: Task) -> Compiled:
        """What is run: the workflow, or what was logged of it, and then the judge where there is one."""
        arm, panel = self.contender(planned.arm), self.comparison.panel
        if arm.log is not None and panel is not None:
            return panel.of_kept(arm.name, arm.log[planned.task, planned.repeat], task.fields, task.expected)
        return self.comparison.judged(self.workflow(planned), task)

    async def score(self, task: Task, outcome: Outcome) -> Score | None:
        """What a run scored; a function of the user's own, which may take its time, does not hold up the others."""
        judge = partial(self.comparison.judge, task)
        if self.comparison.own_score is None:
            return scored(outcome, judge)
        return await asyncio.to_thread(scored, outcome, judge)
