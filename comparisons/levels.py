"""The figures of a comparison at each level of `group_by`, and the curves over these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from loopworth.comparisons.curve import Curve, Point, curve, number
from loopworth.comparisons.measures import Figures, figures
from loopworth.comparisons.natural_order import Place, natural
from loopworth.comparisons.result import Result
from loopworth.comparisons.trial import Trial
from loopworth.runs.steps import arguments
from loopworth.runs.usage import Value

UNTESTED = "no trend is tested, nor a limit of accuracy: no verdict rests on the judge that says what is right"


class Level(Value, frozen=True):
    """One level of `group_by`, for one arm."""

    level: str
    arm: str
    figures: Figures


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
    """The curve of each arm over the levels of `group_by`; where nothing may be called shown, its points alone."""
    group = result.comparison.group_by or ""
    for arm in result.comparison.arms if levels else ():
        mine = [level for level in levels if level.arm == arm.name]
        points = [Point(one.level, right_tasks(one), one.figures.accuracy.n) for one in mine]
        if result.tested:
            yield curve(arm.name, group, points, test=result.whole)
        else:
            yield Curve(arm.name, tuple(points), None, None, UNTESTED)


def right_tasks(level: Level) -> float:
    """How many tasks were right, by shares where each was run several times."""
    return (level.figures.accuracy.share or 0.0) * level.figures.accuracy.n


def accepted(result: Result, levels: Sequence[Level]) -> dict[str, str | None]:
    """Per arm with a lower limit the first level at which it is under `accept`; None where there is none."""
    least = result.comparison.accept
    if least is None or not result.tested:
        return {}
    limits = [(level, level.figures.accuracy.interval) for level in levels]
    under: dict[str, str | None] = {level.arm: None for level, limit in limits if limit is not None}
    for level, limit in reversed(limits):
        if limit is not None and limit[0] < least:
            under[level.arm] = level.level
    return under
