"""What a trial's events come to, once its transcript is not kept: what each step cost, and when the answer was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from loopworth.runs.events import ModelCalled, ToolCalled
from loopworth.runs.observation import RAN
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage, Value

MOST_VALUES, DEEPEST = 200, 20
"""The most values of one observation that are held against the expected answer, and how deep they may lie."""


class Spent(Value, frozen=True):
    """What one step took: a pipeline's step by its id, a loop's turn by its number."""

    step: str
    model_calls: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()


class Batch(Value, frozen=True):
    """How a run's tool calls were spread over its model calls: `asking` of these asked for tools.

    `apart` is what the input would have come to with one call a turn (estimated: the transcript grows evenly), None
    where nothing can be told; `input` is what it came to.
    """

    asking: int = 0
    input: int = 0
    apart: int | None = None


class Trace(Value, frozen=True):
    """`answered`: there was an answer to score. `after` counts the model calls made after the expected answer stood in
    an observation, None where it never did or nothing can be looked for. `protocols` are those that loops spoke,
    `faults` the tools that a fault was put into."""

    answered: bool = True
    steps: tuple[Spent, ...] = ()
    after: int | None = None
    batch: Batch = Batch()
    protocols: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def traced(outcome: Outcome, right: Callable[[Any], bool] | None = None) -> Trace:
    """The trace of a run; `right` says whether a value is the expected answer."""
    seen = None if right is None else after(outcome, right)
    struck = tuple(sorted({call.tool for call in outcome.calls if call.fault}))
    return Trace(outcome.answered, tuple(spent(outcome)), seen, batch(outcome), outcome.protocols, struck)


def spent(outcome: Outcome) -> Iterator[Spent]:
    """Each step with what it took, in program order."""
    found: dict[str, Spent] = {}
    for event in outcome.events:
        step = event.at.partition("/")[0].partition("~")[0]
        before = found.get(step, Spent(step))
        if type(event) is ModelCalled:
            usage = before.usage + event.usage
            found[step] = Spent(step, before.model_calls + 1, before.tool_calls, usage)
        elif type(event) is ToolCalled and event.status in RAN and not event.nested:
            found[step] = Spent(step, before.model_calls, before.tool_calls + 1, before.usage)
    yield from found.values()


def after(outcome: Outcome, right: Callable[[Any], bool]) -> int | None:
    """How many times the model was called after an observation held the answer."""
    seen, count = iter(outcome.calls), None
    for event in outcome.events:
        if type(event) is ModelCalled:
            count = None if count is None else count + 1
        elif type(event) is ToolCalled and (observation := next(seen, None)) is not None and count is None:
            values = [observation.content, *islice(leaves(observation.full), MOST_VALUES)]
            count = 0 if observation.status == "ok" and any(right(value) for value in values) else None
    return count


def leaves(value: Any, depth: int = 0) -> Iterator[Any]:
    """The values in a value, down to what holds no others."""
    if isinstance(value, dict | list | tuple):
        for item in (value.values() if isinstance(value, dict) else value) if depth < DEEPEST else ():
            yield from leaves(item, depth + 1)
    elif value is not None:
        yield value


def batch(outcome: Outcome) -> Batch:
    """Turns of loops that asked for tools, and the input with one call a turn; a fixed path asks no model for calls."""
    if not outcome.protocols:
        return Batch()
    inputs, calls, pending = [], [], 0
    for event in outcome.events:
        if type(event) is ModelCalled:
            inputs.append(event.usage.input)
            calls.append(0)
        elif type(event) is ToolCalled and event.status in RAN and not event.nested and calls:
            calls[-1] += 1
            pending += 1
    known = [size for size in inputs if size is not None]
    if len(known) < len(inputs):
        return Batch(sum(n > 0 for n in calls))
    return Batch(sum(n > 0 for n in calls), sum(known), unbatched(known, calls))


def unbatched(inputs: list[int], calls: list[int]) -> int | None:
    """The input of the same calls one a turn; None where no two turns show how the transcript grows."""
    made = sum(calls[:-1])
    if len(inputs) < 2 or not made or inputs[-1] < inputs[0]:
        return None
    growth = (inputs[-1] - inputs[0]) / made
    turns = made + 1
    return round(turns * inputs[0] + growth * turns * made / 2)


def total(traces: Iterable[Trace]) -> dict[str, list[Spent]]:
    """The steps of several runs, by name, in the order in which they first occur."""
    found: dict[str, list[Spent]] = {}
    for trace in traces:
        for step in trace.steps:
            found.setdefault(step.step, []).append(step)
    return found
