"""Running the controls of a comparison, after its verdict: those that its file names, and those that an agent calls for
which would earn its place."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from loopworth.comparisons.arms import Arm, Control
from loopworth.comparisons.controls import (
    AUTOMATIC,
    Controlled,
    majority,
    not_better,
    pools,
    shuffled,
    unable,
    votes,
    without_tools,
)
from loopworth.comparisons.result import Result, measured
from loopworth.comparisons.schedule import Planned
from loopworth.comparisons.trial import Trial
from loopworth.comparisons.verdict import EARNS, Verdict
from loopworth.runs.observation import Observation
from loopworth.runs.usage import Value
from loopworth.workflows.compile import Compiled


class Left(Value, frozen=True):
    """What a run of an arm left for its controls."""

    answer: Any = None
    found: tuple[Observation, ...] = ()


class Player(Protocol):
    """Makes the runs of controls."""

    @property
    def left(self) -> Mapping[tuple[str, str], Left]: ...

    async def play(self, planned: Planned, workflow: Compiled, of: Arm) -> tuple[Trial, Any]:
        """A run of a workflow as `planned`, on what the arm `of` is given; its trial and its answer."""

    async def rescored(self, trial: Trial, answer: Any) -> Trial:
        """The trial with another answer."""

    def width(self, arm: Arm) -> int:
        """How many runs of it may be under way."""

    def spent_out(self) -> bool: ...


def wanted(result: Result) -> list[Control]:
    """The controls that the file names, then those that a verdict calls for."""
    named = list(result.comparison.controls)
    taken = {(one.kind, one.of) for one in named}
    earned = [one.arm for one in result.verdict.arms if one.token in EARNS] if result.verdict is not None else []
    return named + [Control(k, k, arm) for arm in earned[-1:] for k in AUTOMATIC if (k, arm) not in taken]


async def controlled(result: Result, player: Player) -> Result:
    """The result with its controls, and a verdict that says where an agent is not shown better than retrying."""
    found = list[Controlled]()
    for control in wanted(result):
        found.append(await Phase(result, control, player).run())
    return dataclasses.replace(result, controls=tuple(found), verdict=carried(result, found))


class Phase:
    """One control on the tasks that its agent ran."""

    def __init__(self, result: Result, control: Control, player: Player) -> None:
        arms = {arm.name: arm for arm in result.comparison.arms}
        self.result, self.control, self.player = result, control, player
        self.first, self.agent = result.comparison.arms[0], arms[control.of]
        self.trials = {trial.task: trial for trial in result.final if trial.arm == control.of and not trial.repeat}
        self.tasks = [task for task in self.trials if (control.of, task) in player.left]

    async def run(self) -> Controlled:
        why = unable(self.control, self.first, self.agent)
        if why or not self.tasks:
            return Controlled(self.control, words=f"not run: {why or 'nothing that the agent found was kept'}")
        if self.control.kind == "retry":
            return await self.retried()
        trials = await self.each(self.agent, lambda task: self.once(task))
        return Controlled(self.control, tuple(trials), words=self.short(trials))

    async def once(self, task: str) -> Trial:
        left = self.player.left[self.control.of, task]
        workflow = self.agent.workflow
        match self.control.kind:
            case "pasted":
                made = without_tools(workflow, left.found)
            case "no_tools":
                made = without_tools(workflow, None)
            case _:
                found = {t: left.found for (arm, t), left in self.player.left.items() if arm == self.control.of}
                made = shuffled(workflow, pools(found, task), f"{self.result.comparison.seed}/{task}")
        return (await self.player.play(self.planned(task), made, self.agent))[0]

    async def retried(self) -> Controlled:
        mine = [trial for trial in self.result.final if trial.arm == self.first.name and trial.task in self.trials]
        n = votes(mine, list(self.trials.values()))
        if n < 2:
            words = f"not run: a run of {self.first.name} costs as much as one of {self.control.of}"
            return Controlled(self.control, words=words)
        tasks = [task for task in self.tasks if (self.first.name, task) in self.player.left]
        trials = await self.each(self.first, lambda task: self.voted(task, n), tasks)
        return Controlled(self.control, tuple(trials), n, self.short(trials))

    async def voted(self, task: str, n: int) -> Trial:
        """The majority of n runs, of which the comparison has made the first."""
        before = next(t for t in self.result.final if (t.arm, t.task, t.repeat) == (self.first.name, task, 0))
        said, made = [self.player.left[self.first.name, task].answer], [before]
        for repeat in range(1, n):
            trial, answer = await self.player.play(self.planned(task, repeat), self.first.workflow, self.first)
            made.append(trial)
            said.append(answer if trial.right is not None else None)
        used = sum((trial.usage for trial in made[1:]), made[0].usage)
        whole = msgspec.structs.replace(
            made[-1],
            arm=self.control.name,
            repeat=0,
            usage=used,
            model_calls=sum(trial.model_calls for trial in made),
            tool_calls=sum(trial.tool_calls for trial in made),
            latency=sum(trial.latency for trial in made),
        )
        return await self.player.rescored(whole, majority(said))

    def planned(self, task: str, repeat: int = 0) -> Planned:
        return Planned(self.control.name, task, repeat)

    async def each(
        self, arm: Arm, make: Callable[[str], Awaitable[Trial]], tasks: Sequence[str] | None = None
    ) -> list[Trial]:
        """One trial for each task, as many at once as the endpoint allows, until the budget is spent."""
        slots, trials = asyncio.Semaphore(self.player.width(arm)), list[Trial]()

        async def one(task: str) -> None:
            async with slots:
                if self.player.spent_out():
                    return
                with suppress(Exception):  # a bug of ours in a control does not lose the comparison; it is left out
                    trials.append(await make(task))

        async with asyncio.TaskGroup() as group:
            for task in self.tasks if tasks is None else tasks:
                group.create_task(one(task))
        return trials

    def short(self, trials: Sequence[Trial]) -> str:
        return "" if len(trials) == len(self.trials) else f"run on {len(trials)} of {len(self.trials)} tasks"


def carried(result: Result, found: Iterable[Controlled]) -> Verdict | None:
    """The verdict, and that the agent is not shown better than retrying the baseline, where that is so."""
    verdict = result.verdict
    for one in found:
        if verdict is None or one.control.kind != "retry" or not one.trials:
            continue
        agent = next(arm for arm in measured(result.comparison, result.final) if arm.arm == one.control.of)
        judged = next((arm for arm in verdict.arms if arm.arm == one.control.of and arm.token in EARNS), None)
        if judged is None or not not_better(agent.right, one.trials, judged.error):
            continue
        says = f"{one.control.of} is not shown better than retrying the baseline ({one.votes} runs, majority vote)."
        changed = msgspec.structs.replace(judged, words=f"{judged.words} But {says}")
        arms = tuple(changed if arm is judged else arm for arm in verdict.arms)
        verdict = msgspec.structs.replace(verdict, arms=arms, words=f"{verdict.words} But {says}")
    return verdict
