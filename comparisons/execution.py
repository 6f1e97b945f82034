"""Running a comparison: all arms on all tasks, in one order, as fast as each endpoint allows."""

from __future__ import annotations

import asyncio
import dataclasses
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.control_phase import Left, controlled
from loopworth.comparisons.keeper import Keeper, unasked
from loopworth.comparisons.result import Result, settled
from loopworth.comparisons.schedule import Planned, order, unit_order
from loopworth.comparisons.scores import Score
from loopworth.comparisons.stopping import Stopping
from loopworth.comparisons.tasks import Task
from loopworth.comparisons.trial import NOTHING, Trial, encoded, scored, tried
from loopworth.models import Model, ModelSpec, ScriptedModel, open_model, prepare
from loopworth.runs.journal import Record
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import APART, Diverged, Fenced, Outcome
from loopworth.runs.usage import Value
from loopworth.runs.world import Ask, Decision, Live, Question
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import Compiled

GRACE = 1.0
"""Seconds that runs in flight get to end when a comparison is cut short."""
GIVE_UP = 5
"""Provider errors of an arm, without one answer, after which its endpoint counts as dead."""
AHEAD = 8
"""The most units that an arm is run ahead of what was read, where a comparison may be settled any moment."""
WITHOUT_MODEL = 4
"""Runs under way at once among the arms that call no model."""

Open = Callable[[ModelSpec], Model]
decode = msgspec.json.Decoder().decode
Phase = Literal["preparing", "running", "rerunning"]


class Progress(Value, frozen=True):
    """How far a comparison has come. `total` is per arm; `usd` is what is known to be spent, `unpriced` counts the runs
    whose cost is unknown; `eta` is in seconds, None before the first result of each endpoint."""

    phase: Phase
    done: dict[str, int]
    total: int
    usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0
    eta: float | None = None
    last: Trial | None = None
    note: str = ""


class Halted(Exception):
    """An endpoint is dead: the rest of the plan would only repeat that."""


@dataclasses.dataclass
class Lane:
    """The runs that share the same endpoints, and how many of them may be under way."""

    endpoints: tuple[str, ...]
    slots: int
    arms: tuple[str, ...]
    due: Iterator[Planned]
    left: int
    done: int = 0


class Repeated(Live):
    """The live world of one run. From the second repeat on a model that has a seed gets another, the same for all
    arms."""

    def __init__(
        self, models: Mapping[str, Model], ask: Ask | None, specs: Mapping[str, ModelSpec], repeat: int
    ) -> None:
        super().__init__(models, ask)
        self.specs, self.repeat = specs, repeat

    async def model(self, request: Request, id: str, seconds: float | None) -> Reply:
        if self.repeat:
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


def decided(choice: Literal["approve", "reject"] | None) -> Ask | None:
    """A reviewer that always says the same."""
    if choice is None:
        return None

    async def ask(question: Question, id: str) -> Decision:  # noqa: ARG001
        return Decision(choice, by="comparison")

    return ask


class Execution:
    """A comparison under way."""

    def __init__(
        self,
        comparison: Comparison,
        watch: Callable[[Progress], None] | None,
        keep: bool,
        open: Open,
        keeper: Keeper,
    ) -> None:
        self.comparison, self.watch, self.keep, self.open, self.keeper = comparison, watch, keep, open, keeper
        self.arms = {arm.name: arm for arm in comparison.arms}
        self.tasks = {task.id: task for task in comparison.tasks}
        self.stopping = Stopping(comparison) if comparison.stop_early and len(self.arms) > 1 else None
        self.order = self.ordered()
        self.news = asyncio.Event()
        self.models: dict[str, Model] = {}
        self.specs = {key: spec for arm in comparison.arms for key, spec in arm.workflow.models.items()}
        self.prepared: dict[str, float] = {}
        self.trials: list[Trial] = []
        self.flying: dict[Planned, tuple[int, float]] = {}
        self.lanes: list[Lane] = []
        self.answered: set[str] = set()
        self.left: dict[tuple[str, str], Left] = {}
        self.failures = Counter[str]()
        self.done = dict.fromkeys(self.arms, 0)
        self.usd, self.unpriced, self.tokens = 0.0, 0, 0
        self.stopped, self.endpoint_failed, self.over = "", False, False
        self.began, self.start = datetime.now(UTC), time.monotonic()
        self.phase: Phase = "preparing"
        self.phase_began = 0.0

    def ordered(self) -> tuple[Planned, ...]:
        comparison = self.comparison
        if self.stopping is None:
            return order(tuple(self.arms), tuple(self.tasks), comparison.repeats, comparison.seed)
        return unit_order(tuple(self.arms), self.stopping.units, comparison.repeats)

    # -- before and after the clocks ----------------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Open all models; weights are installed and servers started here, before any run."""
        if self.comparison.own_score is not None:
            self.comparison.own_score.open()
        for key, spec in self.specs.items():
            self.tell(note="" if self.keeper.replayed else f"making {spec.name} ready")
            began = time.monotonic()
            self.models[key] = self.open(spec)
            await prepare(self.models[key])
            self.prepared[key] = time.monotonic() - began
        self.start = time.monotonic() - max((trial.began + trial.seconds for trial in self.keeper.made), default=0.0)
        for trial in self.keeper.made:
            self.take(trial)

    async def close(self) -> None:
        """Close all models, within a second, and end the process of a score of the user's own."""
        if self.comparison.own_score is not None:
            self.comparison.own_score.close()
        closing = [asyncio.ensure_future(model.close()) for model in self.models.values()]
        if closing:
            _, late = await asyncio.wait(closing, timeout=GRACE / 2)
            for task in late:
                task.cancel()

    def result(self, interrupted: bool) -> Result:
        result = Result(
            comparison=self.comparison,
            order=self.order,
            trials=tuple(self.trials),
            began=self.began.isoformat(timespec="seconds"),
            seconds=self.elapsed(),
            prepared=self.prepared,
            interrupted=interrupted,
            stopped=self.stopped,
            endpoint_failed=self.endpoint_failed,
            id=self.keeper.id,
            made=len(self.keeper.made),
            replayed=self.keeper.replayed,
        )
        if not result.whole:
            return result
        if self.stopping is not None:
            return self.stopping.concluded(result)
        return dataclasses.replace(result, verdict=settled(self.comparison, result.final))

    def elapsed(self) -> float:
        return time.monotonic() - self.start

    # -- the runs -----------------------------------------------------------------------------------------------------

    async def through(self, due: Iterable[Planned], attempt: int) -> None:
        """Make these runs, each lane in their order; whatever ends this early ends all that is in flight."""
        self.phase, self.phase_began = ("rerunning" if attempt else "running"), self.elapsed()
        self.lanes = self.laid(list(due))
        workers = [
            asyncio.ensure_future(self.work(lane, attempt))
            for lane in self.lanes
            for _ in range(min(lane.slots, lane.left))
        ]
        if not workers:
            return
        try:
            done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await self.land(workers)
        for worker in done:
            worker.result()

    async def land(self, workers: list[asyncio.Task[None]]) -> None:
        """End what is still in flight; what does not end in time is counted as cancelled, and left alone."""
        late = [worker for worker in workers if not worker.done()]
        if not late:
            return
        for worker in late:
            worker.cancel()
        await asyncio.wait(late, timeout=GRACE)
        self.over = True
        for planned, (attempt, began) in list(self.flying.items()):
            stuck = Outcome(None, "cancelled", "did not end when the comparison was cut short")
            self.take(tried(planned, stuck, None, attempt=attempt, began=began, keep=self.keep))

    def laid(self, due: list[Planned]) -> list[Lane]:
        """One lane for each set of endpoints that an arm reaches, so that a slow endpoint never holds up a fast one.

        An arm with several endpoints has as many slots as the narrowest of them; the models themselves keep each
        endpoint within its own limit, across lanes.
        """
        lanes: dict[tuple[str, ...], list[Planned]] = {}
        for planned in due:
            lanes.setdefault(self.endpoints(self.arms[planned.arm]), []).append(planned)
        slots = {endpoints: self.slots(endpoints) for endpoints in lanes}
        return [
            Lane(ends, slots[ends], tuple({run.arm: 0 for run in runs}), iter(runs), len(runs))
            for ends, runs in lanes.items()
        ]

    def endpoints(self, arm: Arm) -> tuple[str, ...]:
        return tuple(sorted({self.models[key].endpoint for key in arm.workflow.models}))

    def slots(self, endpoints: tuple[str, ...]) -> int:
        widths = [model.concurrency for model in self.models.values() if model.endpoint in endpoints]
        return max(1, min(widths, default=WITHOUT_MODEL))

    async def work(self, lane: Lane, attempt: int) -> None:
        """One slot of a lane: run after run."""
        while (planned := await self.next(lane, attempt)) is not None:
            if self.spent_out():
                return
            trial = await self.trial(planned, attempt)
            if self.over:
                return
            self.take(trial, lane)
            if trial.exit == "cancelled":
                return
            self.give_up(trial, lane)

    def due(self) -> list[Planned]:
        """The runs to make, and those to take from a log, which may lack some."""
        logs = {name: arm.log for name, arm in self.arms.items() if arm.log is not None}
        made = set(self.keeper.due([one for one in self.order if one.arm not in logs], 0))
        return [one for one in self.order if one in made or (one.task, one.repeat) in logs.get(one.arm, ())]

    async def next(self, lane: Lane, attempt: int) -> Planned | None:
        """The lane's next run. Where the comparison stops early, it waits for what it must know of other lanes."""
        if self.stopping is None or attempt or self.keeper.replayed:
            return next(lane.due, None)
        width = {arm: ahead(lane) for lane in self.lanes for arm in lane.arms}
        while not self.stopping.over and not self.stopped:
            if (planned := self.stopping.due({arm: width[arm] for arm in lane.arms})) is not None:
                self.stopping.start(planned)
                return planned
            if not self.flying and self.stopping.due(width) is None:
                return None
            self.news.clear()
            await self.news.wait()
        return None

    async def trial(self, planned: Planned, attempt: int) -> Trial:
        """One run and its score. A bug of ours, here too, is this trial's end and not the comparison's."""
        arm, task, began = self.arms[planned.arm], self.tasks[planned.task], self.elapsed()
        self.flying[planned] = (attempt, began)
        outcome, score, harmful = Outcome(), None, None
        try:
            outside = lambda records: self.world(arm, task, planned.repeat, records)
            if arm.log is not None:
                outcome = arm.log[planned.task, planned.repeat]
            else:
                outcome = await self.keeper.run((planned, attempt), arm.workflow, arm.given(task), outside)
            score = await self.score(task, outcome)
            harmful = self.comparison.harmful(task, outcome)
        except Exception as bug:
            if isinstance(bug, Fenced) or (isinstance(bug, Diverged) and self.keeper.replayed):
                raise
            note, score = f"{type(bug).__name__}: {bug}", None
            told = traceback.format_exc()
            outcome = msgspec.structs.replace(outcome, exit="harness_error", note=note, traceback=told)
        if not planned.repeat:
            self.left[planned.arm, planned.task] = Left(outcome.answer, tuple(outcome.calls))
        trace = self.comparison.trace(task, outcome)
        trial = tried(
            planned, outcome, score, attempt=attempt, began=began, harmful=harmful, keep=self.keep, trace=trace
        )
        self.keeper.keep(trial, outcome)
        return trial

    # -- controls ----------------------------------------------------------------------------------------------------

    async def play(self, planned: Planned, workflow: Compiled, of: Arm) -> tuple[Trial, Any]:
        """A control's run: in memory alone, and counted as spent."""
        task, began = self.tasks[planned.task], self.elapsed()
        outcome = await activate(workflow, of.given(task), self.world(of, task, planned.repeat, {}))
        score = await self.score(task, outcome)
        trial = tried(planned, outcome, score, began=began, keep=self.keep, trace=self.comparison.trace(task, outcome))
        self.usd += trial.usage.usd or 0.0
        self.tokens += trial.usage.counted
        self.tell(note=f"control {planned.arm}")
        return trial, outcome.answer

    async def rescored(self, trial: Trial, answer: Any) -> Trial:
        score = await self.score(self.tasks[trial.task], Outcome(answer))
        right = trial.right if score is None else score.right
        exit = "success" if answer is not None and trial.exit in APART else trial.exit
        return msgspec.structs.replace(trial, right=right, exit=exit, answer=encoded(answer) if self.keep else NOTHING)

    def width(self, arm: Arm) -> int:
        return self.slots(self.endpoints(arm))

    async def score(self, task: Task, outcome: Outcome) -> Score | None:
        """What a run scored; a function of the user's own, which may take its time, does not hold up the others."""
        judge = partial(self.comparison.judge, task)
        if self.comparison.own_score is None:
            return scored(outcome, judge)
        return await asyncio.to_thread(scored, outcome, judge)

    def world(self, arm: Arm, task: Task, repeat: int, records: Mapping[str, Record]) -> Repeated:
        """A scripted model is opened for each run: its replies begin anew, whatever runs beside it, after those that
        the run already had."""
        specs = arm.workflow.models
        scripts = {key: self.open(spec) for key, spec in specs.items() if spec.provider == "scripted"}
        for key, script in scripts.items():
            pass_over(script, key, records)
        ask = decided(task.approve or self.comparison.approvals)
        return Repeated({**self.models, **scripts}, ask, specs, repeat)

    # -- what came of them --------------------------------------------------------------------------------------------

    def take(self, trial: Trial, lane: Lane | None = None) -> None:
        """Keep a trial and tell the watcher."""
        self.flying.pop(trial.planned, None)
        self.trials.append(trial)
        if self.stopping is not None:
            self.stopping.take(trial)
        self.news.set()
        self.usd += trial.usage.usd or 0.0
        self.tokens += trial.usage.counted
        self.unpriced += trial.usage.usd is None
        if trial.attempt == 0:
            self.done[trial.arm] += 1
        if lane is not None:
            lane.done, lane.left = lane.done + 1, lane.left - 1
        self.tell(trial)

    def give_up(self, trial: Trial, lane: Lane) -> None:
        """End the comparison where an arm's endpoint has only ever failed."""
        if trial.exit != "provider_error":
            self.answered.add(trial.arm)
            return
        self.failures[trial.arm] += 1
        failures = self.failures[trial.arm]
        if failures >= GIVE_UP and trial.arm not in self.answered:
            self.endpoint_failed = True
            where = ", ".join(lane.endpoints)
            self.stopped = f"{where} failed the arm {trial.arm!r} {failures} times and never answered it: {trial.note}"
            raise Halted

    def spent_out(self) -> bool:
        """Whether the comparison's own budget is spent, or its store full; runs in flight are let finish."""
        if self.keeper.replayed:
            return False
        if trouble := self.keeper.trouble():
            self.stopped, self.endpoint_failed = f"no more runs can be kept: {trouble}", True
        most = self.comparison.limits
        spent = [
            (self.usd, most.usd, f"${most.usd} are spent"),
            (self.tokens, most.tokens, f"{most.tokens} tokens are spent"),
            (self.elapsed(), most.time, f"{most.time} s are over"),
        ]
        for used, limit, words in spent:
            if limit is not None and used >= limit:
                self.stopped = f"the comparison's budget is used up: {words}"
        if self.stopped:
            self.news.set()
        return bool(self.stopped)

    def broken(self) -> list[Planned]:
        """The runs that the endpoint failed, in the planned order: all arms' are made once more."""
        failed = {trial.planned for trial in self.trials if trial.exit == "provider_error"}
        failed -= {trial.planned for trial in self.trials if trial.attempt}
        return [planned for planned in self.order if planned in failed]

    @property
    def settled(self) -> bool:
        """Whether there is no more to run; where it stops early, what was made again may call for more."""
        return self.stopping is None or self.keeper.replayed or self.stopping.over or bool(self.stopped)

    def tell(self, last: Trial | None = None, note: str = "") -> None:
        if self.watch is not None:
            total = len(self.order) // max(1, len(self.arms))
            figures = (self.usd, self.unpriced, self.elapsed(), self.eta(), last, note)
            self.watch(Progress(self.phase, dict(self.done), total, *figures))

    def eta(self) -> float | None:
        """Seconds until the slowest lane is through, at its pace so far."""
        open = [lane for lane in self.lanes if lane.left]
        if not all(lane.done for lane in open):
            return None
        spent = self.elapsed() - self.phase_began
        return max((spent * lane.left / lane.done for lane in open), default=None)


def ahead(lane: Lane) -> int:
    """How many units an arm may be ahead of what was read where a comparison stops early: what is under way when it is
    settled was not needed. Scripted models answer at once, so they need not be."""
    return 1 if lane.endpoints == ("scripted",) else min(lane.slots, AHEAD)


async def compare(
    comparison: Comparison,
    *,
    watch: Callable[[Progress], None] | None = None,
    keep: bool = True,
    open: Open = open_model,
    keeper: Keeper | None = None,
) -> Result:
    """Run a comparison to its end. Cancelling it stops what is in flight within a second and *returns* what is done.

    `watch` is told of every step. `keep` keeps each run's answer, transcript and events in the result; a `keeper` makes
    the runs, and may keep them elsewhere. Raises `models.Unavailable` where a model cannot be made ready, `Diverged`
    where a replay does, `Fenced` where another process goes on with this comparison.
    """
    keeper = keeper or Keeper()
    run, interrupted = Execution(comparison, watch, keep, unasked if keeper.replayed else open, keeper), False
    result: Result | None = None
    try:
        await run.prepare()
        while True:
            made = len(run.trials)
            await run.through(run.due(), 0)
            await run.through(keeper.due(run.broken(), 1), 1)
            if run.settled or len(run.trials) == made:
                break
        run.stopped = run.stopped or (keeper.trouble() if keeper.replayed else "")
        result = run.result(False)
        if result.whole and not keeper.replayed:
            result = await controlled(result, run)
    except asyncio.CancelledError:
        interrupted = True
    except Halted:
        pass  # `stopped` says why
    finally:
        await run.close()
    if result is None or interrupted:
        result = run.result(interrupted)
    keeper.end(result)
    return result


def pass_over(script: Model, key: str, records: Mapping[str, Record]) -> None:
    """Let a scripted model go on after the replies that a run already had."""
    if isinstance(script, ScriptedModel):
        for id, record in records.items():
            if record.kind == "model" and decode(record.request)["model"] == key:
                script.next(id)
