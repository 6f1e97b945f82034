"""The pipeline: steps in a fixed order, each as soon as what it waits for is there.

A step waits for the steps whose names it reads. A *barrier* (a check, a step that writes) waits for all above it, and
all below wait for it. One that fails lets what is in flight finish and starts nothing new; one that waits for a person
lets its siblings go on. What modifies a single act (`repeat`, `retry`, `timeout`, `on_error`) is in `modifiers`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, TypeAlias

from loopworth.runs.concurrency import together, worst
from loopworth.runs.effects import Effects
from loopworth.runs.events import StepDone
from loopworth.runs.exit import LIMITS
from loopworth.runs.outcome import Failed, Outcome, Stop, Waiting, passes
from loopworth.workflows.ends import cause, words
from loopworth.workflows.template_data import Gaps, Skipped
from loopworth.workflows.verbs import Act

Names: TypeAlias = Mapping[str, Any]
AT_ONCE = 8
"""Items of a `for_each` that run concurrently where `max_concurrency` does not say."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step, ready to run. `id` is its place, and its name where something reads it; `title` names it to people.

    `reads` are ids of steps above. `when` is asked for every item of `each`. The items of a step that `writes` run one
    at a time.
    """

    id: str
    act: Act
    reads: frozenset[str] = frozenset()
    when: Callable[[Names], bool] | None = None
    each: Callable[[Names], Any] | None = None
    writes: bool = False
    barrier: bool = False
    title: str = ""
    at_once: int = AT_ONCE

    @property
    def named(self) -> str:
        return self.title or f"step {self.id!r}"


def needs(steps: Sequence[Step]) -> dict[str, frozenset[str]]:
    """What each step waits for: what it reads, and the barriers. Reads of what stands below are no edges."""
    found: dict[str, frozenset[str]] = {}
    wall, since = frozenset[str](), frozenset[str]()  # the last barrier, and the steps after it
    for step in steps:
        if step.barrier or step.writes:
            found[step.id] = wall | since
            wall, since = frozenset([step.id]), frozenset()
        else:
            found[step.id] = wall | (step.reads & found.keys())
            since |= {step.id}
    return found


class Pipeline:
    """Steps and the answer made of them. `answer` is given the inputs and the values of all steps.

    `partial`: at a limit of the pipeline's own, the answer is made all the same; steps that did not end are skipped.
    """

    def __init__(self, steps: Sequence[Step], answer: Callable[[Names], Any], partial: bool = False) -> None:
        self.steps, self.answer, self.partial = {step.id: step for step in steps}, answer, partial
        self.needs = needs(steps)

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        names = dict(input)
        ends = await Activation(self, names, fx).ends()
        if ends:
            return self.unfinished(worst([ends[id] for id in self.steps if id in ends]), names, fx)
        try:
            return Outcome(self.answer(names))
        except Failed as why:
            raise Failed(f"answer: {why}") from None

    def unfinished(self, end: BaseException, names: dict[str, Any], fx: Effects) -> Outcome:
        """What is left of a run that ended early: a partial answer beside its limit, or the end itself."""
        if not (self.partial and isinstance(end, Stop) and end.exit in LIMITS and end.owner == fx.budget.path):
            raise end
        absent = {id: Skipped(f"the run ended before it, at its {end.exit}") for id in self.steps if id not in names}
        try:
            return Outcome(self.answer({**names, **absent}), end.exit, end.note)
        except Failed as why:
            raise Stop(end.exit, end.owner, f"{end.note}; no partial answer: {why}") from None


class Activation:
    """One run of a pipeline: the names so far, and the places of its steps, made in the file's order."""

    def __init__(self, pipeline: Pipeline, names: dict[str, Any], fx: Effects) -> None:
        self.steps, self.needs, self.names, self.fx = pipeline.steps, pipeline.needs, names, fx
        self.places = {id: fx.at(id) for id in pipeline.steps}

    async def ends(self) -> dict[str, BaseException]:
        """Run every step that can run; what ended badly, by step."""
        order, ends = TopologicalSorter(self.needs), dict[str, BaseException]()
        running: dict[asyncio.Task[Any], str] = {}
        order.prepare()
        while True:
            if all(isinstance(end, Waiting) for end in ends.values()):
                running |= {asyncio.ensure_future(self.step(id)): id for id in order.get_ready()}
            if not running:
                return ends
            for task in await finished(running):
                id = running.pop(task)
                if (end := failure(task)) is None:
                    self.names[id] = task.result()
                    order.done(id)
                else:
                    ends[id] = end  # not done: what waits for it never starts

    async def step(self, id: str) -> Any:
        step, place = self.steps[id], self.places[id]
        try:
            value = await (self.items(step, place) if step.each else self.once(step, self.names, place))
        except (Stop, Failed) as end:
            place.emit(StepDone(place.id, "failed"))
            raise blamed(step, end, place) from None
        except Waiting:
            place.emit(StepDone(place.id, "waiting"))
            raise
        if type(value) is not Skipped:
            place.emit(StepDone(place.id))
        return value

    async def once(self, step: Step, names: Names, place: Effects) -> Any:
        """The step's value for one set of names."""
        if step.when is not None and not step.when(names):
            place.emit(StepDone(place.id, "skipped"))
            return Skipped()
        return await step.act(names, place)

    async def items(self, step: Step, place: Effects) -> list[Any]:
        """One value per item, in order. After a failed item no new one starts; of writes none after one that waits."""
        assert step.each is not None
        items = step.each(self.names)
        if not isinstance(items, list):
            raise Failed(f"for_each needs a list, got {short(items)}")
        places = [place.at(str(index)) for index in range(len(items))]
        slots, failed = asyncio.Semaphore(1 if step.writes else step.at_once), list[int]()

        async def one(index: int, item: Any) -> Any:
            async with slots:
                if failed:
                    return None
                try:
                    return await self.once(step, {**self.names, "item": item, "index": index}, places[index])
                except Waiting:
                    failed.extend([index] * step.writes)
                    raise
                except Exception as end:
                    failed.append(index)
                    raise numbered(index, end) from None

        values = await together(*(one(index, item) for index, item in enumerate(items)))
        return Gaps(values) if any(type(value) is Skipped for value in values) else values


def blamed(step: Step, end: Stop | Failed, place: Effects) -> Stop | Failed:
    """The end of a step as the end of the pipeline: most are `step_failed`, and all name the step."""
    if isinstance(end, Stop) and passes(end, place.path):
        return Stop(end.exit, end.owner, f"{step.named}: {end.note}" if end.note else step.named)
    return Failed(f"{step.named}{words(end)}", cause(end))


def numbered(index: int, end: Exception) -> Exception:
    """The same end, saying which item it was."""
    if isinstance(end, Stop):
        return Stop(end.exit, end.owner, f"item {index}: {end.note}" if end.note else f"item {index}")
    return Failed(f"item {index}: {end}", end.cause) if isinstance(end, Failed) else end


def short(value: Any) -> str:
    return {str: "a text", dict: "an object", type(None): "nothing"}.get(type(value), "a single value")


async def finished(running: Mapping[asyncio.Task[Any], str]) -> set[asyncio.Task[Any]]:
    """The steps that ended next. A cancelled run cancels what is in flight, and waits for that."""
    try:
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        raise
    return done


def failure(task: asyncio.Task[Any]) -> BaseException | None:
    return asyncio.CancelledError() if task.cancelled() else task.exception()
