"""Another score, price or rule for runs that are kept: nothing is called, and nothing is kept of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import msgspec

from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.keeper import due_of
from loopworth.comparisons.result import Result, settled
from loopworth.comparisons.schedule import order, unit_order
from loopworth.comparisons.stopping import Stopping
from loopworth.comparisons.trial import Trial, scored, tried
from loopworth.models import ModelSpec, prices
from loopworth.runs.events import AnyEvent, ModelCalled
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Outcome
from loopworth.runs.shelf import Shelf


def rescored(comparison: Comparison, shelf: Shelf, before: Kept) -> Result:
    """The kept trials of a comparison by the score, the prices and the rule that its file has now.

    Arms that were not run have no figures.
    """
    trials = tuple(again(comparison, shelf, before))
    names, stopping = [arm.name for arm in comparison.arms], Stopping(comparison) if comparison.stop_early else None
    ids = [task.id for task in comparison.tasks]
    plan = (
        unit_order(names, stopping.units, comparison.repeats)
        if stopping is not None
        else order(names, ids, comparison.repeats, comparison.seed)
    )
    result = Result(
        comparison=comparison,
        order=plan,
        trials=trials,
        began=before.began,
        seconds=before.seconds,
        stopped="" if before.state == "done" else f"{before.id} is unfinished",
        id=before.id,
        replayed=True,
        rescored=True,
    )
    if not result.whole:
        return result
    if stopping is None:
        return dataclasses.replace(result, verdict=settled(comparison, result.final))
    for trial in trials:
        stopping.take(trial)
    return stopping.concluded(result)


def again(comparison: Comparison, shelf: Shelf, before: Kept) -> list[Trial]:
    """Each kept trial with its new score and cost."""
    tasks, scores = {task.id: task for task in comparison.tasks}, shelf.scores(before.id)
    arms = {arm.name: arm for arm in comparison.arms}
    found = []
    for one in shelf.trials(before.id):
        task, arm, outcome = tasks.get(str(one.task)), arms.get(str(one.arm)), shelf.outcome(one.id)
        if one.state != "done" or task is None or arm is None or outcome is None:
            continue
        outcome = repriced(outcome, {spec.name: spec for spec in arm.workflow.models.values()})
        score = scored(outcome, lambda outcome, task=task: comparison.judge(task, outcome))  # type: ignore[misc]
        planned, attempt = due_of(one)
        figures = {"began": scores[one.id].began, "harmful": comparison.harmful(task, outcome)}
        trial = tried(planned, outcome, score, attempt=attempt, trace=comparison.trace(task, outcome))
        found.append(msgspec.structs.replace(trial, latency=scores[one.id].latency, **figures))
    return found


def repriced(outcome: Outcome, specs: Mapping[str, ModelSpec]) -> Outcome:
    """The outcome at the prices that the files have now; what a model of another name cost stays."""
    return msgspec.structs.replace(outcome, events=[priced(event, specs) for event in outcome.events])


def priced(event: AnyEvent, specs: Mapping[str, ModelSpec]) -> AnyEvent:
    spec = specs.get(event.model.partition("@")[0]) if type(event) is ModelCalled else None
    if spec is None or type(event) is not ModelCalled:
        return event
    usage = msgspec.structs.replace(event.usage, usd=prices.usd(spec, event.usage))
    return msgspec.structs.replace(event, usage=usage)
