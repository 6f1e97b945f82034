"""The figures of a comparison: folds over its trials, so that nothing is counted twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from loopworth.comparisons import spending
from loopworth.comparisons.ablation import Ablation, ablations
from loopworth.comparisons.agreement import Agreement
from loopworth.comparisons.arms import FOREIGN, Arm
from loopworth.comparisons.caveats import warnings, words
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.contrast import Contrast, any_differ, contrasts
from loopworth.comparisons.controls import Controlled
from loopworth.comparisons.curve import Curve
from loopworth.comparisons.homogeneity import ChiSquare
from loopworth.comparisons.intervals import Interval, wilson_clustered
from loopworth.comparisons.levels import Level, accepted, curved, leveled
from loopworth.comparisons.measures import Accuracy, Figures, accuracy, figured, figures, firsts
from loopworth.comparisons.pareto import Standing, standings
from loopworth.comparisons.provenance import Sources, sources, sources_of_judge
from loopworth.comparisons.quantiles import Latency, latency, quantile
from loopworth.comparisons.reliability import pass_shares
from loopworth.comparisons.repeats import shown_alike
from loopworth.comparisons.result import Result, by_task
from loopworth.comparisons.ruling import SPLIT
from loopworth.comparisons.spending import Batching, End, Seen, StepCost
from loopworth.comparisons.trial import Trial
from loopworth.comparisons.verdict import Measured
from loopworth.models.providers import OWN
from loopworth.runs.usage import Usage, Value
from loopworth.workflows.variant import Difference

OUTSIDE = (*FOREIGN, "log")
"""The shapes of arms that are no workflows: what they call is not known beforehand."""
MEASURED = Sources()


class Passes(Value, frozen=True):
    """pass^k: the chance that k runs of a task are all right, with a 95 % interval."""

    k: int
    share: float
    interval: Interval | None


class ArmFigures(Value, frozen=True):
    """One arm's part of the report. Latency is in seconds; `billed` is false where nothing it calls costs money.

    `figures` are None where it ran on tasks selected by another arm's results: then only `made` runs can be told.
    `answered` counts the scored runs that left an answer; the others are wrong. `exits` counts the scored runs by exit
    reason, `apart` the others; `protocols` are those that its loops really spoke. `route` is its accuracy against
    `expected_route`, and `routes` counts (expected, taken): None where no task has one, or the arm took no route.
    """

    arm: str
    shape: str
    protocols: tuple[str, ...]
    models: tuple[str, ...]
    billed: bool
    planned: int
    made: int
    selected: bool
    figures: Figures
    answered: int
    passes: tuple[Passes, ...]
    latency: Latency
    exits: dict[str, int]
    apart: dict[str, int]
    route: Accuracy | None
    routes: tuple[tuple[str, str, int], ...]
    differences: tuple[Difference, ...] = ()
    harm: tuple[int, int] | None = None
    sources: Sources = MEASURED


class Judging(Value, frozen=True):
    """The LLM judge behind every `right` of a comparison: how far it agrees with its labelled rows, and what it took.

    Of `runs` that it judged it passed so many `split` in one order only, which are wrong, and gave no verdict on
    `unjudged`. `calls`, `tokens` and `usd` are its own, those on the labelled rows too, and in no arm's figures.
    `doubt` says why no verdict rests on it; `repeated` labelled rows are the same as others, and count for nothing.
    `unshown` are the columns that it is shown of a task, and of no labelled row.
    """

    model: str
    rubric: str
    agreement: Agreement
    runs: int
    split: int
    unjudged: int
    calls: int
    tokens: int | None
    usd: float | None
    doubt: str
    repeated: int = 0
    unshown: tuple[str, ...] = ()
    sources: Sources = MEASURED


class ControlFigures(Value, frozen=True):
    """What a control came to, on `n` tasks that its agent ran, and the agent's own figures on these."""

    control: str
    kind: str
    of: str
    votes: int
    figures: Figures
    agent: Figures
    words: str


class Recovery(Value, frozen=True):
    """How often an arm was right in the scored runs in which a tool's fault `struck`, and in the `others`."""

    arm: str
    tool: str
    fault: str
    struck: Accuracy
    others: Accuracy


class Report(Value, frozen=True):
    """All that the table shows but the verdict."""

    arms: tuple[ArmFigures, ...]
    levels: tuple[Level, ...]
    curves: tuple[Curve, ...]
    accepted: dict[str, str | None]
    controls: tuple[ControlFigures, ...]
    ends: tuple[End, ...]
    steps: tuple[StepCost, ...]
    seen: tuple[Seen, ...]
    batching: tuple[Batching, ...]
    recoveries: tuple[Recovery, ...]
    contrasts: tuple[Contrast, ...]
    differ: ChiSquare | None
    standings: tuple[Standing, ...]
    warnings: tuple[str, ...]
    words: str
    judging: Judging | None = None
    ablation: tuple[Ablation, ...] = ()


def report(result: Result) -> Report:
    """The figures of a comparison."""
    arms = tuple(arm_figures(result, arm) for arm in result.comparison.arms)
    found = result.measured if result.verdict is not None else ()
    levels, runs = tuple(leveled(result)), {arm.name: shown_trials(result, arm.name) for arm in result.comparison.arms}
    return Report(
        arms=arms,
        levels=levels,
        curves=tuple(curved(result, levels)),
        accepted=accepted(result, levels),
        controls=tuple(control_figures(result, one) for one in result.controls),
        ends=tuple(end for name, trials in runs.items() for end in spending.ends(name, trials)),
        steps=tuple(step for name, trials in runs.items() for step in spending.steps(name, trials)),
        seen=tuple(seen for name, trials in runs.items() if (seen := spending.seen(name, trials))),
        batching=tuple(one for arm in result.comparison.arms if (one := spending.batching(arm, runs[arm.name]))),
        recoveries=tuple(one for name, trials in runs.items() for one in recoveries(result, name, trials)),
        contrasts=() if result.verdict is None else contrasts(found, result.verdict, result.tested),
        differ=any_differ(found) if result.tested else None,
        standings=standing(result, found),
        warnings=tuple(warnings(result, arms)),
        words=words(result),
        judging=judged(result),
        ablation=ablated(result, found),
    )


def judged(result: Result) -> Judging | None:
    """What the LLM judge did, where one scores."""
    judge, known = result.comparison.panel, result.agreement
    if judge is None or known is None:
        return None
    runs = list(result.runs)
    asked = [trial for trial in runs if trial.judge_calls and trial not in result.labels]
    columns = dict.fromkeys(name for arm in result.comparison.arms for name in arm.inputs)
    labelled = {name for label in judge.labels for name in label.fields}
    used = sum((trial.judging for trial in runs), Usage())
    return Judging(
        model=judge.model.name,
        rubric=judge.rubric,
        agreement=known,
        runs=len(asked),
        split=sum(trial.remark.startswith(SPLIT) for trial in asked),
        unjudged=sum(trial.unjudged for trial in asked),
        calls=sum(trial.judge_calls for trial in runs),
        tokens=used.tokens,
        usd=used.usd,
        doubt=known.doubt,
        repeated=judge.repeated,
        unshown=tuple(name for name in columns if judge.labels and name not in labelled),
        sources=sources_of_judge(result, judge),
    )


def ablated(result: Result, found: Sequence[Measured]) -> tuple[Ablation, ...]:
    """What changes were worth; nothing of a part of the plan, or of tasks that were not chosen beforehand."""
    if result.spared or not result.whole:
        return ()
    return ablations(result.comparison.arms, found, result.comparison.clusters)


def standing(result: Result, found: Sequence[Measured]) -> tuple[Standing, ...]:
    """The arms in their Pareto set; none where nothing may be called shown."""
    if len(found) < 2 or not result.tested:
        return ()
    return standings(found, result.comparison.rule, result.comparison.clusters)


def recoveries(result: Result, arm: str, trials: Sequence[Trial]) -> Iterable[Recovery]:
    """For each fault of the comparison that struck an arm, what became of the runs."""
    scored = [trial for trial in trials if trial.right is not None]
    for tool, fault in result.comparison.faults.items():
        struck = [trial for trial in scored if tool in trial.trace.faults]
        others = [trial for trial in scored if tool not in trial.trace.faults]
        both = (accuracy(result, runs, lambda run: bool(run.right)) for runs in (struck, others))
        if struck:
            yield Recovery(arm, tool, fault.words, *both)


def control_figures(result: Result, found: Controlled) -> ControlFigures:
    """A control beside its agent, on the tasks that both ran."""
    tasks, control = {trial.task for trial in found.trials}, found.control
    agent = [t for t in result.final if t.arm == control.of and t.task in tasks and not t.repeat]
    both = (figures(result, found.trials, 1), figures(result, agent, 1))
    return ControlFigures(control.name, control.kind, control.of, found.votes, *both, found.words)


def shown_trials(result: Result, arm: str) -> Sequence[Trial]:
    return figured(result, arm, [trial for trial in result.final if trial.arm == arm])


def arm_figures(result: Result, arm: Arm) -> ArmFigures:
    every = [trial for trial in result.final if trial.arm == arm.name]
    trials = figured(result, arm.name, every)
    scored = [trial for trial in trials if trial.right is not None]
    return ArmFigures(
        arm=arm.name,
        shape=arm.workflow.shape,
        protocols=tuple(dict.fromkeys(spoken for trial in every for spoken in trial.trace.protocols)),
        models=arm.models,
        billed=any(spec.provider not in OWN for spec in arm.workflow.models.values()) or arm.workflow.shape in OUTSIDE,
        planned=len(result.order) // len(result.comparison.arms),
        made=len(every),
        selected=result.counted.get(arm.name, ()) is None,
        figures=figures(result, trials),
        answered=sum(trial.trace.answered for trial in scored),
        passes=passes(result, scored),
        latency=timed(result, scored),
        exits=counts(trial.exit for trial in trials if trial.right is not None),
        apart=counts("judge_error" if trial.unjudged else trial.exit for trial in every if trial.right is None),
        route=route_accuracy(result, trials),
        routes=confusion(result.comparison, trials),
        differences=arm.differences,
        harm=harmed(trials),
        sources=sources(result, arm),
    )


def timed(result: Result, runs: Sequence[Trial]) -> Latency:
    """How long runs took; on the way out of an interrupt, where nothing may load scipy, without a limit."""
    seconds = [run.latency for run in runs]
    if not result.whole or (result.spared and not runs):
        return Latency(quantile(seconds, 0.5), quantile(seconds, 0.95))
    return latency(seconds, [run.latency for run in firsts(runs)])


def harmed(trials: Iterable[Trial]) -> tuple[int, int] | None:
    """How many runs did harm, of how many that were looked at; None where nothing says what harm is."""
    looked_at = [trial.harmful for trial in trials if trial.harmful is not None]
    return (sum(looked_at), len(looked_at)) if looked_at else None


def passes(result: Result, runs: Sequence[Trial]) -> tuple[Passes, ...]:
    """pass^k for each k of repeats, over the tasks that had all of their runs, or one that stands for all; none without
    repeats."""
    repeats = result.comparison.repeats
    if repeats < 2 or not result.whole:
        return ()
    once = shown_alike(result.comparison, result.final)
    tasks = [of for of in by_task(runs).values() if len(of) == repeats or of[0].arm in once]
    right = [round(repeats * fmean(bool(run.right) for run in of)) for of in tasks]
    if not right:
        return ()
    shares = {k: pass_shares(right, repeats, k) for k in range(1, repeats + 1)}
    return tuple(Passes(k, fmean(share), wilson_clustered(share, repeats)) for k, share in shares.items())


def counts(words: Iterable[str]) -> dict[str, int]:
    """How often each word occurs, the most frequent first."""
    return dict(Counter(words).most_common())


# -- routes -----------------------------------------------------------------------------------------------------------


def route_accuracy(result: Result, trials: Sequence[Trial]) -> Accuracy | None:
    expected = {task.id: task.expected_route for task in result.comparison.tasks}
    runs = [run for run in trials if run.right is not None and expected[run.task] is not None]
    if not any(run.route for run in runs):
        return None
    return accuracy(result, runs, lambda run: run.route == expected[run.task])


def confusion(comparison: Comparison, trials: Sequence[Trial]) -> tuple[tuple[str, str, int], ...]:
    """How often each route was taken where another, or the same, was expected; "" is no route."""
    expected = {task.id: task.expected_route for task in comparison.tasks}
    runs = [run for run in trials if run.right is not None and expected[run.task] is not None]
    if not any(run.route for run in runs):
        return ()
    found = Counter((str(expected[run.task]), run.route or "") for run in runs)
    return tuple((*pair, n) for pair, n in sorted(found.items()))
