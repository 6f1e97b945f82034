"""Controls: what an agent is held against to see what it owes to its loop. They describe, and never decide.

    pasted     the agent's observations in the prompt, and no tools: what is left when looking up is done
    no_tools   the agent's prompt alone
    shuffled   the agent with the results of other tasks: does it read what it finds?
    retry      the first arm again and again with a majority vote, up to the agent's mean cost

They run after the verdict, on the tasks that the agent ran. Those that no arm names are run where the agent would earn
its place: first `retry`, then `pasted`.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from loopworth.agents.loop import Loop
from loopworth.agents.proof import Proven
from loopworth.comparisons.arms import Arm, Control, Kind
from loopworth.comparisons.evidence import pair, rules_out_up_to
from loopworth.comparisons.trial import Trial
from loopworth.runs.executor import Executor
from loopworth.runs.message import user
from loopworth.runs.observation import Observation
from loopworth.runs.usage import Value
from loopworth.tools.tool import Tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows import spec, typed_answer, verbs
from loopworth.workflows.compile import Compiled
from loopworth.workflows.contract import Contract
from loopworth.workflows.types import Type

AUTOMATIC: tuple[Kind, ...] = ("retry", "pasted")
LOOPS = tuple(shape for shape, form in spec.SHAPES.items() if issubclass(form, spec.Loop))
MOST_VOTES, VOTES = 9, 3
"""The most votes of `retry`, and how many where costs do not say."""
MOST_PASTED = 60_000
"""Characters of observations that are pasted."""


class Controlled(Value, frozen=True):
    """What a control came to: its trials on the tasks that the agent ran, or in `words` why there are none. `runs` are
    those that were made for it: of `retry` several for one trial."""

    control: Control
    trials: tuple[Trial, ...] = ()
    runs: tuple[Trial, ...] = ()
    votes: int = 1
    words: str = ""


def loop_of(workflow: Compiled) -> tuple[Contract, Loop] | None:
    """The loop that a workflow is; None for one that is none."""
    contract = workflow.executor
    if not isinstance(contract, Contract):
        return None
    loop = contract.executor.loop if isinstance(contract.executor, Proven) else contract.executor
    return (contract, loop) if isinstance(loop, Loop) else None


def agent_of(workflow: Compiled) -> tuple[Contract, Loop]:
    """The same of one that is a loop: of others `unable` says that no control is made."""
    found = loop_of(workflow)
    assert found is not None
    return found


def unable(control: Control, first: Arm, of: Arm) -> str:
    """Why a control cannot be made; "" where it can."""
    if control.kind == "retry" and first.log is not None:
        return f"the runs of {first.name} are from a log, and cannot be made again"
    if control.kind == "retry":
        again = first.models or first.foreign  # a program may ask a model of its own
        return "" if again else f"{first.name} asks no model, and would answer the same again"
    return "" if of.workflow.shape in LOOPS else f"{of.name} is no loop, so it has no tools to go without"


# -- what a control runs ----------------------------------------------------------------------------------------------


def without_tools(workflow: Compiled, found: Sequence[Observation] | None) -> Compiled:
    """One question to the agent's model, with what the agent found, or without."""
    contract, loop = agent_of(workflow)
    output = loop.protocol.output
    text = pasted(found) if found is not None else "Answer now, without any tool."
    asked = output if isinstance(output, Type) and output.text != "str" else None
    if asked is not None:
        typed_answer.ready(asked)
    act = verbs.ask(
        lambda names: [*loop.opening(dict(names)), user(text)], verbs.Chat(loop.model, loop.max_tokens), asked
    )
    executor: Executor = dataclasses.replace(contract, executor=verbs.Alone(act), tools=Toolbox(), otherwise=None)
    return dataclasses.replace(workflow, executor=executor, tools=Toolbox())


def pasted(found: Sequence[Observation]) -> str:
    """The agent's observations as a message."""
    lines = [f"{seen.tool} {json.dumps(seen.arguments, default=str)}: {seen.content}" for seen in found]
    text = "\n".join(lines)[:MOST_PASTED] or "(nothing was looked up)"
    return f"These are the results of all tool calls for this task:\n{text}\nAnswer now, without any tool."


def shuffled(workflow: Compiled, pools: Mapping[str, Sequence[Any]], seed: str) -> Compiled:
    """The agent whose tools answer what they answered on other tasks."""
    contract, loop = agent_of(workflow)
    chance = random.Random(seed)
    tools = Toolbox([mixed(tool, pools.get(name, ()), chance) for name, tool in loop.tools.items()])
    executor = dataclasses.replace(contract, executor=dataclasses.replace(loop, tools=tools), tools=tools)
    return dataclasses.replace(workflow, executor=executor, tools=tools)


def mixed(tool: Tool, pool: Sequence[Any], chance: random.Random) -> Tool:
    """A tool that touches nothing: it answers with any result of another task."""
    answer = lambda **_: chance.choice(pool) if pool else None
    plain: dict[str, Any] = {"nested": False, "keyed": False, "asks": False, "inline": True, "gates": (), "keep": ()}
    return dataclasses.replace(tool, function=answer, effect="read", **plain)


def pools(found: Mapping[str, Sequence[Observation]], but: str) -> dict[str, list[Any]]:
    """The results of each tool on all tasks but one."""
    mixed: dict[str, list[Any]] = {}
    for task, observations in found.items():
        for seen in observations if task != but else ():
            if seen.status == "ok":
                mixed.setdefault(seen.tool, []).append(seen.full)
    return mixed


# -- retrying the baseline --------------------------------------------------------------------------------------------


def votes(first: Sequence[Trial], agent: Sequence[Trial]) -> int:
    """How many runs of the first arm the agent's mean cost pays for: by dollars, else by tokens, else three."""
    for mean in (mean_usd, mean_tokens):
        one, other = mean(first), mean(agent)
        if one and other:
            return max(1, min(MOST_VOTES, int(other / one + 1e-9)))
    return VOTES


def mean_usd(trials: Sequence[Trial]) -> float | None:
    costs = [trial.usage.usd for trial in trials if trial.usage.usd is not None]
    return fmean(costs) if costs and len(costs) == len(trials) else None


def mean_tokens(trials: Sequence[Trial]) -> float | None:
    tokens = [trial.usage.tokens for trial in trials if trial.usage.tokens is not None]
    return fmean(tokens) if tokens and len(tokens) == len(trials) else None


def majority(answers: Sequence[Any]) -> int:
    """The place of the most frequent answer, of the first of those that tie; None does not vote."""
    said = [None if answer is None else json.dumps(answer, sort_keys=True, default=str) for answer in answers]
    counts = Counter(answer for answer in said if answer is not None)
    return max(range(len(said)), key=lambda place: counts.get(said[place] or "", 0), default=0)


def not_better(agent: Mapping[str, float | None], retried: Sequence[Trial], error: float) -> bool:
    """Whether the agent is not shown better than the baseline with a majority vote, on the tasks that both ran."""
    right = {trial.task: None if trial.right is None else float(trial.right) for trial in retried}
    pairs = pair({task: agent.get(task) for task in right}, right)
    return not rules_out_up_to(pairs, 0.0, error)
