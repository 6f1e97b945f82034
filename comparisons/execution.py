"""Running a comparison: all arms on all tasks, in one order, as fast as each endpoint allows; then its controls."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from itertools import count, takewhile

from loopworth.comparisons.agreement import LABELS, Label
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.control_phase import Phase, carried, wanted
from loopworth.comparisons.controls import Controlled
from loopworth.comparisons.crew import Crew
from loopworth.comparisons.endpoints import Open
from loopworth.comparisons.keeper import Keeper, unasked
from loopworth.comparisons.lanes import Lane, eta, laid
from loopworth.comparisons.maker import Maker
from loopworth.comparisons.outlay import Outlay
from loopworth.comparisons.progress import Phase as Stage
from loopworth.comparisons.progress import Progress
from loopworth.comparisons.repeats import Alike, missing
from loopworth.comparisons.result import Result, believed, label_runs, settled
from loopworth.comparisons.ruling import PLACE, UNREACHED
from loopworth.comparisons.schedule import Planned, plan
from loopworth.comparisons.stopping import Stopping, whole
from loopworth.comparisons.trial import Trial, tried
from loopworth.models import open_model
from loopworth.runs.outcome import Outcome
from loopworth.runs.wall_clock import moment

GRACE = 1.0
"""Seconds that runs in flight get to end when a comparison is cut short."""
AHEAD_OF_A_CREW = 50
"""Units that an arm is run ahead of what was read where others make the runs: what is under way then when it is settled
was not needed."""
MOST_AHEAD = 200
"""The most runs that others are given at once then."""
GIVE_UP = 5
"""Provider errors of an arm, without one answer, after which its endpoint counts as dead."""


class Halted(Exception):
    """An endpoint is dead: the rest of the plan would only repeat that."""


class Execution:
    """A comparison under way: which runs are due, who makes them, what they came to so far, and when it is over."""

    def __init__(
        self,
        comparison: Comparison,
        watch: Callable[[Progress], None] | None,
        keep: bool,
        open: Open,
        keeper: Keeper,
        crew: Crew | None = None,
    ) -> None:
        self.comparison, self.watch, self.keep, self.keeper, self.crew = comparison, watch, keep, keeper, crew
        self.maker = Maker(comparison, open, keeper, keep)
        self.arms = self.maker.arms
        self.order = plan(comparison, tuple(self.arms), comparison.repeats)
        self.stopping = Stopping(comparison) if comparison.early else None
        self.alike = self.stopping.alike if self.stopping is not None else Alike(comparison)
        self.news = asyncio.Event()
        self.trials: list[Trial] = []
        self.of_controls: dict[Planned, Trial] = {}
        self.labels: list[Trial] = []
        self.lanes: list[Lane] = []
        self.answered: set[str] = set()
        self.failures = Counter[str]()
        self.done = dict.fromkeys(self.arms, 0)
        self.outlay = Outlay()
        self.stopped, self.endpoint_failed, self.over = "", False, False
        self.began = moment()
        self.stage: Stage = "preparing"

    # -- before and after the clocks ----------------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Open all models, and take up what an earlier part of the comparison made."""
        await self.maker.prepare(lambda note: self.tell(note=note))
        for trial in self.keeper.made:
            self.take(trial)

    def result(self, interrupted: bool) -> Result:
        """What the arms came to, with the verdict if all of them were run, whatever ended it then."""
        stopped = self.stopped and not whole(self.comparison, self.order, self.trials)
        result = Result(
            comparison=self.comparison,
            order=self.order,
            trials=tuple(self.trials),
            began=self.began.isoformat(timespec="seconds"),
            seconds=self.maker.elapsed(),
            prepared=self.maker.endpoints.prepared,
            interrupted=interrupted,
            stopped=self.stopped if stopped else "",
            endpoint_failed=self.endpoint_failed,
            id=self.keeper.id,
            made=sum(trial.arm in self.arms for trial in self.keeper.made),
            replayed=self.keeper.replayed,
            labels=tuple(self.labels),
            environment=self.keeper.environment,
        )
        if not result.whole:
            return result
        if self.stopping is not None:
            return believed(self.stopping.concluded(result))
        return believed(settled(result))

    # -- the arms, then the controls ----------------------------------------------------------------------------------

    async def measured(self) -> Result:
        """All arms on all tasks, those that an endpoint failed once more, and once more whenever this goes on; raises
        what ends this early."""
        await self.labelled()
        while True:
            made = len(self.trials)
            await self.through(self.due(), 0, "running")
            for attempt in takewhile(self.called_for, count(1)):
                stopped = self.stopped
                await self.through(self.keeper.due(self.broken(attempt), attempt), attempt, "rerunning")
                self.stopped = self.stopped if attempt == 1 else stopped  # the verdict was given without those
            lost = self.stopping is not None and self.stopping.give_up()
            if self.settled or not (lost or len(self.trials) > made):
                break
        if self.keeper.replayed and not (self.stopping is not None and self.stopping.over):
            left = missing(self.comparison, self.order, self.trials)
            self.stopped = self.stopped or self.keeper.short(len(left), len(self.order))
        return self.result(False)

    async def labelled(self) -> None:
        """Have the judge say what it makes of the rows that people labelled, so many at once as its endpoint takes."""
        judge = self.comparison.panel
        if judge is None:
            return
        slots = asyncio.Semaphore(self.maker.endpoints.slots((self.maker.endpoints.models[judge.model.key].endpoint,)))

        async def one(planned: Planned, label: Label) -> None:
            async with slots:
                if self.spent_out():
                    return
                trial = await self.maker.label(planned, label)
            self.take(trial)
            with suppress(Halted):  # what is under way is let finish
                self.give_up(trial, ())

        rows = dict(zip(label_runs(judge), judge.labels, strict=True))
        await asyncio.gather(*(one(planned, rows[planned]) for planned in self.keeper.due(rows, 0)))
        if self.endpoint_failed:
            raise Halted

    async def controlled(self, result: Result) -> Result:
        """The result with its controls, and a verdict that says where an agent is not shown better than retrying.

        What ends this early loses no verdict, which does not depend on controls.
        """
        found, why = list[Controlled](), ""
        for control in wanted(result):
            phase = self.maker.control = Phase(result, control, self.maker.left)
            self.done, interrupted = {control.name: sum(one in self.of_controls for one in phase.order)}, False
            try:
                await self.through(self.keeper.due(phase.order, 0), 0, "controls")
            except (asyncio.CancelledError, Halted) as end:
                interrupted = isinstance(end, asyncio.CancelledError)
                why = "interrupted" if interrupted else self.stopped
            found.append(phase.came(self.of_controls, why or self.stopped))
            if why:
                result = result.but(interrupted=interrupted, controls_stopped=why)
                break
        whole = found[:-1] if why else found
        return result.but(controls=tuple(found), verdict=carried(result, whole), seconds=self.maker.elapsed())

    # -- the runs -----------------------------------------------------------------------------------------------------

    async def through(self, due: Iterable[Planned], attempt: int, stage: Stage) -> None:
        """Make these runs, each lane in their order; whatever ends this early ends all that is in flight."""
        self.stage = stage
        if self.crew is not None and self.maker.control is None:
            due = await self.by_crew(self.crew, list(due), attempt)
        self.lanes = laid(due, lambda planned: self.maker.contender(planned.arm), self.maker.endpoints)
        workers = [
            asyncio.ensure_future(self.work(lane, attempt))
            for lane in self.lanes
            for _ in range(min(lane.slots, lane.left))
        ]
        if not workers:
            return
        try:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            first = [worker for worker in workers if worker.done()]  # what ended this, and not what it cut short
            await self.land(workers)
            ends = [one.exception() for one in (*first, *workers) if one.done() and not one.cancelled()]
        for end in ends:
            if end is not None:
                raise end

    async def land(self, workers: list[asyncio.Task[None]]) -> None:
        """End what is still in flight; what does not end in time is counted as cancelled, and left alone."""
        late = [worker for worker in workers if not worker.done()]
        if not late:
            return
        for worker in late:
            worker.cancel()
        await asyncio.wait(late, timeout=GRACE)
        self.over = True
        for planned, (attempt, began) in list(self.maker.flying.items()):
            stuck = Outcome(None, "cancelled", "did not end when the comparison was cut short")
            self.take(tried(planned, stuck, None, attempt=attempt, began=began, keep=self.keep))

    async def work(self, lane: Lane, attempt: int) -> None:
        """One slot of a lane: run after run."""
        while (planned := await self.next(lane, attempt)) is not None:
            if self.spent_out():
                return
            trial = await self.maker.make(planned, attempt)
            if self.over:
                return
            self.take(trial, lane)
            if cut():
                return
            self.give_up(trial, lane.endpoints)

    async def by_crew(self, crew: Crew, due: list[Planned], attempt: int) -> list[Planned]:
        """Have the crew make its part of these runs, wave after wave; what is left for this process. As in one process
        reruns are all made, though the verdict may not wait for them."""
        mine = [one for one in due if not crew.makes((one, attempt))]
        theirs = [one for one in due if crew.makes((one, attempt))]
        while not self.spent_out() and (wave := self.wave(crew, theirs, attempt)):
            async with aclosing(crew.made([(one, attempt) for one in wave])) as made:
                async for trial, left in made:
                    self.maker.left[trial.planned] = left
                    self.take(trial)
                    self.give_up(trial, self.maker.endpoints.of(self.arms[trial.arm]))
                    if self.spent_out() or (self.stopping is not None and self.stopping.over and not attempt):
                        break
            done = {(trial.planned, trial.attempt) for trial in self.trials}
            theirs = [one for one in theirs if (one, attempt) not in done]
        return mine

    def wave(self, crew: Crew, due: list[Planned], attempt: int) -> list[Planned]:
        """The next of these runs that are known to be needed, whatever those before them come to."""
        if self.stopping is None or attempt:
            return [one for one in due if self.alike.needs(one)]
        found = list[Planned]()
        ahead = {name: AHEAD_OF_A_CREW for name, arm in self.arms.items() if arm.log is None}
        while len(found) < MOST_AHEAD and not self.stopping.over:
            planned = self.stopping.due(ahead)
            if planned is None or not crew.makes((planned, attempt)):
                break
            self.stopping.start(planned)
            found.append(planned)
        return found

    def due(self) -> list[Planned]:
        """The runs to make, and those to take from a log, which may lack some."""
        makes = {one for one in self.order if self.maker.makes(one)}
        due = set(self.keeper.due([one for one in self.order if one in makes], 0))
        return [one for one in self.order if one in due or (one not in makes and self.maker.logged(one))]

    async def next(self, lane: Lane, attempt: int) -> Planned | None:
        """The lane's next run. Where the comparison stops early, it waits for what it must know of other lanes."""
        if self.stopping is None or attempt or self.maker.control is not None or self.keeper.replayed:
            return self.following(lane)
        width = {arm: lane.ahead for lane in self.lanes for arm in lane.arms}
        while not self.stopping.over and not self.stopped:
            if (planned := self.stopping.due({arm: width[arm] for arm in lane.arms})) is not None:
                self.stopping.start(planned)
                return planned
            if not self.maker.flying and self.stopping.due(width) is None:
                return None
            self.news.clear()
            await self.news.wait()
        return None

    def following(self, lane: Lane) -> Planned | None:
        """The next in order, past repeats that would come out the same; a replay takes what was recorded."""
        while (planned := lane.next(self.maker.flying)) is not None:
            if self.keeper.replayed or not self.alike.skips(planned):
                return planned
            lane.left -= 1
        return None

    # -- what came of them --------------------------------------------------------------------------------------------

    def take(self, trial: Trial, lane: Lane | None = None) -> None:
        """Keep a trial and tell the watcher."""
        self.maker.flying.pop(trial.planned, None)
        if trial.arm in self.arms:
            self.take_of_arm(trial)
        elif trial.arm == LABELS:
            self.labels.append(trial)
        else:
            self.of_controls[trial.planned] = trial
        self.news.set()
        self.outlay.add(self.maker.spent(trial))
        if lane is not None:
            lane.end(trial.arm, trial.began, self.maker.elapsed())
        if (control := self.maker.control) is not None:
            self.done[control.control.name] += 1
        self.tell(trial)

    def take_of_arm(self, trial: Trial) -> None:
        self.trials.append(trial)
        if self.stopping is not None:
            self.stopping.take(trial)
        else:
            self.alike.take(trial)
        if trial.attempt == 0:
            self.done[trial.arm] += 1

    def give_up(self, trial: Trial, endpoints: tuple[str, ...]) -> None:
        """End the comparison where an arm's endpoint, or the judge's, has only ever failed; in a rerun it has answered
        where it did so in an earlier part."""
        where = ", ".join(endpoints) or "its program"
        before = self.trials if trial.attempt else ()
        failed = all(one.exit == "provider_error" for one in (trial, *before) if one.arm == trial.arm)
        if not self.maker.is_log(trial.arm):
            self.heard(trial.arm, failed, f"{where} failed the arm {trial.arm!r}", trial.note)
        if trial.judge_calls:
            why = trial.remark.removeprefix(UNREACHED).removeprefix(": ")
            self.heard(PLACE, trial.unreached, "the judge's endpoint failed it", why)

    def heard(self, who: str, failed: bool, words: str, note: str) -> None:
        """Count the failures of an endpoint that has not answered yet. Raises Halted where they are enough."""
        if not failed:
            self.answered.add(who)
            return
        self.failures[who] += 1
        if self.failures[who] >= GIVE_UP and who not in self.answered:
            self.endpoint_failed = True
            why = f": {note}" if note else ""
            self.stopped = self.stopped or f"{words} {GIVE_UP} times and never answered it{why}"
            raise Halted

    def spent_out(self) -> bool:
        """Whether the comparison's own budget is spent, or its store full; runs in flight are let finish."""
        if self.keeper.replayed:
            return False
        if trouble := self.keeper.trouble():
            self.stopped, self.endpoint_failed = f"no more runs can be kept: {trouble}", True
        self.stopped = self.outlay.over(self.comparison.limits, self.maker.elapsed()) or self.stopped
        if self.stopped:
            self.news.set()
        return bool(self.stopped)

    def broken(self, attempt: int) -> list[Planned]:
        """The runs that the endpoint failed before this attempt, of all arms, in the planned order: each is made once
        more, and once more again where that was in an earlier part."""
        last = {trial.planned: trial for trial in sorted(self.trials, key=lambda trial: trial.attempt)}
        failed = {one for one, t in last.items() if t.exit == "provider_error" and t.attempt == attempt - 1}
        if attempt > 1 and not self.keeper.replayed:
            failed &= {trial.planned for trial in self.keeper.made if trial.attempt == attempt - 1}
        return [planned for planned in self.order if planned in failed and not self.maker.is_log(planned.arm)]

    def called_for(self, attempt: int) -> bool:
        """Whether there may be runs to make for so many times."""
        return attempt == 1 or any(trial.attempt == attempt - 1 for trial in self.trials)

    @property
    def settled(self) -> bool:
        """Whether there is no more to run; where it stops early, what was made again may call for more."""
        return self.stopping is None or self.keeper.replayed or self.stopping.over or bool(self.stopped)

    def tell(self, last: Trial | None = None, note: str = "") -> None:
        if self.watch is not None:
            control = self.maker.control
            total = len(self.order) // max(1, len(self.arms)) if control is None else len(control.order)
            left = eta(self.lanes)
            figures = (self.outlay.usd, self.outlay.unpriced, self.maker.elapsed(), left, last, note)
            self.watch(Progress(self.stage, dict(self.done), total, *figures))


def cut() -> bool:
    """Whether this worker was cancelled; a run may also tell of itself that it was, as one that was logged does."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def compare(
    comparison: Comparison,
    *,
    watch: Callable[[Progress], None] | None = None,
    keep: bool = True,
    open: Open | None = None,
    keeper: Keeper | None = None,
    crew: Crew | None = None,
) -> Result:
    """Run a comparison to its end. Cancelling it stops what is in flight within a second and *returns* what is done.

    `watch` is told of every step. `keep` keeps each run's answer, transcript and events in the result; a `keeper` makes
    the runs, and may keep them elsewhere; a `crew` makes them, but for controls, in other processes. `open` opens the
    models, as the crew says where it is not given. Raises
    `models.Unavailable` where a model cannot be made ready, `Diverged` where a replay does, `Fenced` where another
    process goes on with this comparison, and what the crew raises.
    """
    keeper = keeper or Keeper()
    open = unasked if keeper.replayed else open or (open_model if crew is None else crew.open)
    run, interrupted = Execution(comparison, watch, keep, open, keeper, crew), False
    result: Result | None = None
    try:
        await run.prepare()
        result = await run.measured()
        await asyncio.sleep(0)  # a Ctrl-C that came while the verdict was computed is heard here
        result = await run.controlled(result) if result.whole else result
    except asyncio.CancelledError:
        interrupted = True
    except Halted:
        pass  # `stopped` says why
    finally:
        await run.maker.close()
    if result is None:
        result = run.result(interrupted)
    elif interrupted:
        result = result.but(interrupted=True, controls_stopped="interrupted")
    keeper.end(result)
    return result
