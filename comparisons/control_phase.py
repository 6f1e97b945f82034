"""The controls of a comparison, after its verdict: those that its file names, and those that an agent calls for which
would earn its place. What each of them runs, and what these runs come to; they are made and kept as any others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
from loopworth.comparisons.result import Result
from loopworth.comparisons.schedule import Planned
from loopworth.comparisons.trial import Left, Trial
from loopworth.comparisons.verdict import EARNS, Verdict
from loopworth.runs.observation import Observation
from loopworth.workflows.compile import Compiled


def wanted(result: Result) -> list[Control]:
    """The controls that the file names, then those that a verdict calls for."""
    if result.comparison.controls is None:
        return []
    named = list(result.comparison.controls)
    taken = {(one.kind, one.of) for one in named}
    earned = [one.arm for one in result.verdict.arms if one.token in EARNS] if result.verdict is not None else []
    return named + [Control(k, k, arm) for arm in earned[-1:] for k in AUTOMATIC if (k, arm) not in taken]


class Phase:
    """One control of a comparison whose arms were run, by what these `left`.

    `arm` is what it runs (of `retry` the first arm, else the agent), `order` the runs to make, on the tasks that the
    agent ran; `unable` says why there are none.
    """

    def __init__(self, result: Result, control: Control, left: Mapping[Planned, Left]) -> None:
        arms = {arm.name: arm for arm in result.comparison.arms}
        self.control, self.left, self.seed = control, left, result.comparison.seed
        self.first, self.agent = result.comparison.arms[0], arms[control.of]
        self.retries = control.kind == "retry"
        self.arm = self.first if self.retries else self.agent
        self.agents = self.trials(result, self.agent)
        self.firsts = self.trials(result, self.first) if self.retries else {}
        self.tasks = [task for task in self.agents if not self.retries or task in self.firsts]
        self.votes = votes(list(self.firsts.values()), list(self.agents.values())) if self.retries else 1
        self.unable = self.why()
        repeats = range(1, self.votes) if self.retries else range(1)
        self.order = tuple(Planned(control.key, task, k) for task in self.tasks if not self.unable for k in repeats)

    def trials(self, result: Result, arm: Arm) -> dict[str, Trial]:
        """An arm's first run on each task, where it could be judged and left what a control takes."""
        firsts = (trial for trial in result.final if trial.arm == arm.name and not trial.repeat)
        return {trial.task: trial for trial in firsts if trial.right is not None and trial.planned in self.left}

    def why(self) -> str:
        if why := unable(self.control, self.first, self.agent):
            return why
        if not self.tasks:
            return "nothing that the agent found was kept"
        if self.retries and self.votes < 2:
            return f"a run of {self.first.name} costs as much as one of {self.control.of}"
        return ""

    def workflow(self, task: str) -> Compiled:
        """What is run on a task."""
        match self.control.kind:
            case "retry":
                return self.first.workflow
            case "pasted":
                return without_tools(self.agent.workflow, self.found(task))
            case "no_tools":
                return without_tools(self.agent.workflow, None)
            case "shuffled":
                found = {task: self.found(task) for task in sorted(self.agents)}
                return shuffled(self.agent.workflow, pools(found, task), f"{self.seed}/{task}")

    def found(self, task: str) -> Sequence[Observation]:
        return self.left[self.agents[task].planned].found

    def came(self, made: Mapping[Planned, Trial], short: str = "") -> Controlled:
        """What the runs that were made come to; `short` says why they are not all."""
        runs = {planned: made[planned] for planned in self.order if planned in made}
        if not runs:
            return Controlled(self.control, words=f"not run: {self.unable or short or 'nothing of it is kept'}")
        found = list(self.voted(runs)) if self.retries else list(runs.values())
        trials, asked = tuple(trial for trial in found if trial.right is not None), len(self.tasks)
        words = "" if len(trials) == asked else f"run on {len(trials)} of {asked} tasks" + (short and f": {short}")
        return Controlled(self.control, trials, tuple(runs.values()), self.votes, words)

    def voted(self, made: Mapping[Planned, Trial]) -> Iterable[Trial]:
        """For each task whose runs were all made, the one whose answer has the most votes, at what all of them took;
        the comparison itself has made the first."""
        for task in self.tasks:
            again = [made.get(Planned(self.control.key, task, k)) for k in range(1, self.votes)]
            runs = [self.firsts[task], *(trial for trial in again if trial is not None and trial.exit != "cancelled")]
            if len(runs) == self.votes:
                yield counted(self.control, runs, runs[majority([self.vote(trial) for trial in runs])])

    def vote(self, trial: Trial) -> object:
        answer = self.left[trial.planned].answer if trial.right is not None else None
        return None if answer is None else [answer, trial.route]


def counted(control: Control, runs: Sequence[Trial], chosen: Trial) -> Trial:
    """A run with what all of them took."""
    return msgspec.structs.replace(
        chosen,
        arm=control.key,
        repeat=0,
        usage=sum((trial.usage for trial in runs[1:]), runs[0].usage),
        model_calls=sum(trial.model_calls for trial in runs),
        tool_calls=sum(trial.tool_calls for trial in runs),
        latency=sum(trial.latency for trial in runs),
    )


def carried(result: Result, found: Iterable[Controlled]) -> Verdict | None:
    """The verdict, and that the agent is not shown better than retrying the baseline, where that is so."""
    verdict = result.verdict
    for one in found:
        if verdict is None or one.control.kind != "retry" or not one.trials:
            continue
        agent = next(arm for arm in result.measured if arm.arm == one.control.of)
        judged = next((arm for arm in verdict.arms if arm.arm == one.control.of and arm.token in EARNS), None)
        if judged is None or not not_better(agent.right, one.trials, judged.error):
            continue
        says = f"{one.control.of} is not shown better than retrying the baseline ({one.votes} runs, majority vote)."
        changed = msgspec.structs.replace(judged, words=f"{judged.words} But {says}")
        arms = tuple(changed if arm is judged else arm for arm in verdict.arms)
        verdict = msgspec.structs.replace(verdict, arms=arms, words=f"{verdict.words} But {says}")
    return verdict
