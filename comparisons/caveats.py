"""What a reader has to know before believing a figure, and what was run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from loopworth.comparisons.faults import told_of
from loopworth.comparisons.measures import figured
from loopworth.comparisons.repeats import PROBES, shown_alike
from loopworth.comparisons.result import Result
from loopworth.comparisons.ruling import UNJUDGED
from loopworth.comparisons.sentences import counted, grouped
from loopworth.comparisons.unanswered import End, told_alike, unanswered
from loopworth.runs.exit import APART
from loopworth.runs.figures import dollars

if TYPE_CHECKING:
    from loopworth.comparisons.report import ArmFigures


def warnings(result: Result, arms: Sequence[ArmFigures]) -> Iterable[str]:
    """What a reader has to know before believing a figure; what holds of several arms is said once."""
    planned = counted(len(result.order), "run")
    yield from of_arms((arm.arm, silence(result, arm)) for arm in arms)
    yield from result.remarks
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
        yield f"rescored from {result.id}: no run is made; costs are at the files' prices of now, latency as recorded"
    elif result.replayed and not result.retold:
        cost = dollars(result.recorded_usd)
        yield f"replayed from {result.id}: nothing is spent; cost ({cost}) and latency are as recorded"
    elif result.made:
        yield f"resumed {result.id}: {result.made} of {planned} were made before"
    yield from of_arms((arm.arm, arm_warnings(result, arm)) for arm in arms)


def of_arms(said: Iterable[tuple[str, Iterable[str]]]) -> Iterable[str]:
    """What is said of arms, after their names."""
    told = grouped((name, words) for name, warnings in said for words in warnings)
    yield from (f"{names}: {words}" for names, words in told)


def silence(result: Result, arm: ArmFigures) -> Iterable[str]:
    """That it hardly ever answered, which the verdict counts as wrong."""
    runs = [trial for trial in result.final if trial.arm == arm.arm and trial.right is not None]
    so = "" if result.verdict is None else ", so the verdict compares with an arm that mostly did not answer"
    if words := unanswered([End(run.exit, run.note, run.trace.answered) for run in runs], so):
        yield words


def arm_warnings(result: Result, arm: ArmFigures) -> Iterable[str]:
    planned = counted(arm.planned, "run")
    if unjudged := [t.remark.removeprefix(UNJUDGED) for t in result.final if t.arm == arm.arm and t.unjudged]:
        n = len(unjudged)
        yield f"the judge gave no verdict on {n} of {planned}, counted apart as judge_error: {unjudged[0]}"
        if result.id and not result.replayed and any(t.unreached for t in result.final if t.arm == arm.arm):
            how = "`loopworth rescore`, or `loopworth compare … --resume`"
            yield f"where its endpoint failed, {how} asks the judge again, and nobody else"
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
        log = next(one.log for one in result.comparison.arms if one.name == arm.arm) or {}
        missing = sum((one.task, one.repeat) not in log for one in result.order if one.arm == arm.arm)
        yield "figures are as recorded" + (f"; the log has no run of {missing} of {arm.planned}" if missing else "")
    if any(one.name == arm.arm and one.origin == "store" for one in result.comparison.arms):
        yield "it was given in Python, and is not run without its program: what is kept of its runs is told"
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
    if arm.latency.note:
        yield arm.latency.note
    for alike in told_alike(t.warnings for t in result.final if t.arm == arm.arm):
        yield f"in {len(alike)} of {planned} {alike[0]}"


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
