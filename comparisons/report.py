"""The figures of a comparison: folds over its trials, so that nothing is counted twice."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any

from loopworth.comparisons import spending
from loopworth.comparisons.ablation import Ablation, ablations
from loopworth.comparisons.agreement import Agreement
from loopworth.comparisons.arms import FOREIGN, Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.contrast import Contrast, any_differ, contrasts
from loopworth.comparisons.controls import Controlled
from loopworth.comparisons.curve import Curve, Point, curve, number
from loopworth.comparisons.faults import told_of
from loopworth.comparisons.homogeneity import ChiSquare
from loopworth.comparisons.intervals import Interval, wilson, wilson_clustered
from loopworth.comparisons.natural_order import Place, natural
from loopworth.comparisons.pareto import Standing, standings
from loopworth.comparisons.provenance import Sources, sources, sources_of_judge
from loopworth.comparisons.quantiles import latency, quantile
from loopworth.comparisons.reliability import pass_shares
from loopworth.comparisons.repeats import PROBES, shown_alike
from loopworth.comparisons.result import Result, Spared, by_task, measured
from loopworth.comparisons.ruling import SPLIT, UNJUDGED
from loopworth.comparisons.sentences import counted
from loopworth.comparisons.spending import Batching, End, Seen, StepCost
from loopworth.comparisons.trial import Trial
from loopworth.comparisons.verdict import Measured
from loopworth.models.providers import OWN
from loopworth.runs.figures import dollars, rounded
from loopworth.runs.outcome import APART
from loopworth.runs.steps import arguments
from loopworth.runs.usage import Usage, Value
from loopworth.workflows.variant import Difference

OUTSIDE = (*FOREIGN, "log")
"""The shapes of arms that are no workflows: what they call is not known beforehand."""
MEASURED = Sources()


class Amount(Value, frozen=True):
    """Tokens or US dollars of some runs: the known total, how many runs it is of, and how many are unknown."""

    total: float
    known: int
    unknown: int

    @property
    def mean(self) -> float | None:
        """Per run; None where a run's part is unknown, or without a run."""
        return None if self.unknown or not self.known else self.total / self.known


class Accuracy(Value, frozen=True):
    """How much was right: of `n` tasks with `runs` runs, and the Wilson 95 % interval of the share."""

    right: int
    runs: int
    n: int
    share: float | None
    interval: Interval | None


class Figures(Value, frozen=True):
    """What some runs of one arm came to. Means are per scored run; runs counted apart are in `apart` alone."""

    accuracy: Accuracy
    model_calls: float | None
    tool_calls: float | None
    tokens: Amount
    usd: Amount


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
    p50: float | None
    p95: float | None
    p95_words: str
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


class Level(Value, frozen=True):
    """One level of `group_by`, for one arm."""

    level: str
    arm: str
    figures: Figures


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
    found = measured(result.comparison, result.final) if result.verdict is not None else ()
    levels, runs = tuple(leveled(result)), {arm.name: shown_trials(result, arm.name) for arm in result.comparison.arms}
    return Report(
        arms=arms,
        levels=levels,
        curves=tuple(curved(result, levels)),
        accepted=accepted(result.comparison, levels),
        controls=tuple(control_figures(result, one) for one in result.controls),
        ends=tuple(end for name, trials in runs.items() for end in spending.ends(name, trials)),
        steps=tuple(step for name, trials in runs.items() for step in spending.steps(name, trials)),
        seen=tuple(seen for name, trials in runs.items() if (seen := spending.seen(name, trials))),
        batching=tuple(one for arm in result.comparison.arms if (one := spending.batching(arm, runs[arm.name]))),
        recoveries=tuple(one for name, trials in runs.items() for one in recoveries(result, name, trials)),
        contrasts=() if result.verdict is None else contrasts(found, result.verdict, bool(result.spared)),
        differ=None if result.spared else any_differ(found),
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
    """The arms in their Pareto set; none where a comparison stopped early, whose tasks were not chosen beforehand."""
    if len(found) < 2 or result.spared:
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
    seconds = [trial.latency for trial in trials if trial.right is not None]
    # On the way out of an interrupt nothing may load scipy, so nothing is said about limits there.
    timing = latency(seconds) if result.whole and (seconds or not result.spared) else None
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
        p50=quantile(seconds, 0.5),
        p95=quantile(seconds, 0.95),
        p95_words="" if timing is None or timing.p95_upper is not None else timing.words,
        exits=counts(trial.exit for trial in trials if trial.right is not None),
        apart=counts("judge_error" if trial.unjudged else trial.exit for trial in every if trial.right is None),
        route=route_accuracy(result, trials),
        routes=confusion(result.comparison, trials),
        differences=arm.differences,
        harm=harmed(trials),
        sources=sources(result, arm),
    )


def harmed(trials: Iterable[Trial]) -> tuple[int, int] | None:
    """How many runs did harm, of how many that were looked at; None where nothing says what harm is."""
    looked_at = [trial.harmful for trial in trials if trial.harmful is not None]
    return (sum(looked_at), len(looked_at)) if looked_at else None


def figured(result: Result, arm: str, trials: Sequence[Trial]) -> Sequence[Trial]:
    """The trials that an arm's figures stand on: where a comparison stopped early, not those on selected tasks."""
    tasks = result.counted.get(arm, frozenset(task.id for task in result.comparison.tasks))
    return [trial for trial in trials if tasks is not None and trial.task in tasks]


def figures(result: Result, trials: Iterable[Trial], repeats: int | None = None) -> Figures:
    runs = [trial for trial in trials if trial.right is not None]
    return Figures(
        accuracy=accuracy(result, runs, lambda run: bool(run.right), repeats),
        model_calls=fmean(run.model_calls for run in runs) if runs else None,
        tool_calls=fmean(run.tool_calls for run in runs) if runs else None,
        tokens=amount([run.usage.tokens for run in runs]),
        usd=amount([run.usage.usd for run in runs]),
    )


def amount(parts: Sequence[float | None]) -> Amount:
    known = [part for part in parts if part is not None]
    return Amount(sum(known), len(known), len(parts) - len(known))


def accuracy(
    result: Result, runs: Sequence[Trial], right: Callable[[Trial], bool], repeats: int | None = None
) -> Accuracy:
    """Repeats of a task are not independent: their interval is Wilson's at the effective number of runs."""
    shares = [sum(map(right, of_task)) / len(of_task) for of_task in by_task(runs).values()]
    n, repeats = len(shares), repeats or result.comparison.repeats
    share = fmean(shares) if shares else None
    hits = sum(right(run) for run in runs)
    # Wilson's at the effective size loads scipy: not on the way out of an interrupt, where that at n tasks will do.
    clustered = repeats > 1 and result.whole
    return Accuracy(
        hits, len(runs), n, share, wilson_clustered(shares, repeats) if clustered else wilson(sum(shares), n)
    )


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


# -- levels of group_by -----------------------------------------------------------------------------------------------


def leveled(result: Result) -> Iterable[Level]:
    """The figures at each level of `group_by`, the levels in order."""
    group = result.comparison.group_by
    if group is None or result.comparison.stop_early:
        return
    of_task = {task.id: level_text(task.fields.get(group)) for task in result.comparison.tasks}
    runs: dict[tuple[str, str], list[Trial]] = {}
    for run in result.final:
        runs.setdefault((of_task[run.task], run.arm), []).append(run)
    for level in sorted(set(of_task.values()), key=level_key):
        for arm in result.comparison.arms:
            yield Level(level, arm.name, figures(result, runs.get((level, arm.name), [])))


def level_text(value: Any) -> str:
    """A text or a number as itself, another value as its JSON; of what has no sign to show, that it has none."""
    if value is None:
        return "(none)"
    text = arguments(value) if isinstance(value, bool | list | dict) else str(value)
    return text if text.strip() else "(empty)"


def level_key(level: str) -> tuple[bool, float, Place]:
    """Numbers by size, before words in their natural order."""
    size = number(level)
    return (size is None, size or 0.0, natural(level))


def curved(result: Result, levels: Sequence[Level]) -> Iterable[Curve]:
    """The curve of each arm over the levels of `group_by`."""
    group = result.comparison.group_by or ""
    for arm in result.comparison.arms if levels else ():
        mine = [level for level in levels if level.arm == arm.name]
        points = [Point(one.level, right_tasks(one), one.figures.accuracy.n) for one in mine]
        yield curve(arm.name, group, points, test=result.whole)


def right_tasks(level: Level) -> float:
    """How many tasks were right, by shares where each was run several times."""
    return (level.figures.accuracy.share or 0.0) * level.figures.accuracy.n


def accepted(comparison: Comparison, levels: Sequence[Level]) -> dict[str, str | None]:
    """Per arm with a lower limit the first level at which it is under `accept`; None where there is none."""
    least = comparison.accept
    if least is None:
        return {}
    limits = [(level, level.figures.accuracy.interval) for level in levels]
    under: dict[str, str | None] = {level.arm: None for level, limit in limits if limit is not None}
    for level, limit in reversed(limits):
        if limit is not None and limit[0] < least:
            under[level.arm] = level.level
    return under


# -- what to say ------------------------------------------------------------------------------------------------------


def warnings(result: Result, arms: Sequence[ArmFigures]) -> Iterable[str]:
    """What a reader has to know before believing a figure; what holds of several arms is said once."""
    planned = counted(len(result.order), "run")
    yield from told_of(result.comparison.faults)
    if result.interrupted and not result.whole:
        yield f"interrupted after {len(result.final)} of {planned}: no verdict on a part of the plan"
    if result.controls_stopped:
        yield f"the controls are not all run ({result.controls_stopped}); the verdict does not depend on them"
    if result.stopped:
        yield f"stopped after {len(result.final)} of {planned}: {result.stopped}"
    if len(arms) == 1:
        yield "one arm alone: nothing is compared"
    if result.comparison.stop_early and result.comparison.group_by is not None:
        yield f"no curve by {result.comparison.group_by}: `stop_early: true` runs as few tasks as settle the verdict"
    if result.rescored:
        yield f"rescored from {result.id}: nothing is spent; costs are at the files' prices of now, latency as recorded"
    elif result.replayed and not result.retold:
        cost = dollars(result.recorded_usd)
        yield f"replayed from {result.id}: nothing is spent; cost ({cost}) and latency are as recorded"
    elif result.made:
        yield f"resumed {result.id}: {result.made} of {planned} were made before"
    said = defaultdict[str, list[str]](list)
    for arm in arms:
        for warning in arm_warnings(result, arm):
            said[warning].append(arm.arm)
    yield from (f"{', '.join(names)}: {warning}" for warning, names in said.items())


def arm_warnings(result: Result, arm: ArmFigures) -> Iterable[str]:
    planned = counted(arm.planned, "run")
    if unjudged := [t.remark.removeprefix(UNJUDGED) for t in result.final if t.arm == arm.arm and t.unjudged]:
        n = len(unjudged)
        yield f"the judge gave no verdict on {n} of {planned}, counted apart as judge_error: {unjudged[0]}"
        if result.id and not result.replayed and any(t.unreached for t in result.final if t.arm == arm.arm):
            yield "where its endpoint failed, `loopworth compare … --resume` asks the judge again, and nobody else"
    for exit, n in arm.apart.items():
        if exit == "judge_error":
            continue
        notes = [t.note for t in result.final if t.arm == arm.arm and t.exit == exit and t.note]
        yield f"{n} of {planned} ended as {exit}, counted apart" + (f": {notes[0]}" if notes else "")
    if unscored := [t.remark for t in result.final if t.arm == arm.arm and t.unscored]:
        yield f"the score failed on {len(unscored)} of {planned}, which count as wrong: {unscored[0]}"
    again = len({trial.planned for trial in result.trials if trial.arm == arm.arm and trial.attempt > 0})
    if again:
        were = "was" if again == 1 else "were"
        yield f"{counted(again, 'run')} that the endpoint failed {were} made again at the end"
    if arm.shape == "log":
        missing = arm.planned - arm.made
        yield "figures are as recorded" + (f"; the log has no run of {missing} of {arm.planned}" if missing else "")
    mine = [trial for trial in result.final if trial.arm == arm.arm]
    if not arm.selected and (unread := len(mine) - len(figured(result, arm.arm, mine))):
        yield f"it was settled before {unread} of its {counted(len(mine), 'run')} were read: no figure is of them"
    if unknown := arm.figures.usd.unknown:
        yield f"the cost of {unknown} of {counted(arm.figures.accuracy.runs, 'run')} is unknown"
    if arm.made < arm.planned and arm.arm in shown_alike(result.comparison, result.final):
        runs = f"the same in {PROBES} runs on each of {PROBES} tasks"
        yield f"it did {runs}, so its later repeats were skipped: one run of a task stands for all"
    if estimated := sum(t.arm == arm.arm and t.usage.estimated for t in result.final):
        cut = f"{counted(estimated, 'run')} {'was' if estimated == 1 else 'were'} cut"
        yield f"{cut} before the endpoint said what had been used; tokens are an upper limit"
    if arm.p95_words:
        yield arm.p95_words
    for alike in told_alike(t.warnings for t in result.final if t.arm == arm.arm):
        yield f"in {len(alike)} of {planned} {alike[0]}"


def told_alike(told: Iterable[tuple[str, ...]]) -> Iterable[list[str]]:
    """The warnings of runs, put together where they differ in figures only."""
    found: dict[str, list[str]] = {}
    for warnings in told:
        for words, warning in {re.sub(r"[\d,]+", "", warning): warning for warning in warnings}.items():
            found.setdefault(words, []).append(warning)
    return found.values()


def spared_words(spared: Spared) -> str:
    """What stopping early saved on one arm."""
    source = "estimated from those made" if spared.made else "assumed from its files"
    known = "" if spared.usd == 0 else f", and about ${rounded(spared.usd or 0, 4)} ({source}) not spent"
    money = known if spared.usd is not None else ", at a cost that is not known"
    return f"{spared.arm}: {spared.runs} of {counted(spared.planned, 'run')} were not needed{money}"


def words(result: Result) -> str:
    """One sentence: n, who answered, what was run."""
    comparison = result.comparison
    answering = sorted({one for arm in comparison.arms for one in arm.answering})
    scored = [trial for trial in result.final if trial.exit not in APART]
    tasks = len({trial.task for trial in scored})
    by = f" by {', '.join(answering)}" if answering else " without a model"
    again = f", {comparison.repeats} runs each" if comparison.repeats > 1 else ""
    return (
        f"{comparison.name}: {counted(len(comparison.arms), 'arm')} on n = {counted(tasks, 'task')}{again}, "
        f"answered{by}; seed {comparison.seed}, {result.seconds:.1f} s."
    )
