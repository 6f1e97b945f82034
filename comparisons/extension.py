"""More tasks for a comparison that stops early, and the comparison that a store has kept, with all its tasks.

Only the plan may be extended: a test at a number of tasks chosen beforehand, made again with more of them, is wrong up
to a quarter of the time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from loopworth.comparisons.basis import counted, digest, tasks_file
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.tasks import Task
from loopworth.workflows import origin


class ExtensionFault(ValueError):
    """The comparison cannot be extended, or taken up again; the text says why, and what can be done."""


def extended(whole: Comparison, before: Mapping[str, Any], n: int) -> Comparison:
    """A comparison that was run on the tasks of `before` (`basis.source`), with `n` more of the `whole` file's.

    Raises ExtensionFault.
    """
    if not whole.stop_early:
        raise ExtensionFault(
            "only a comparison with `stop_early: true` can be extended: the test of this one is for the number of "
            "tasks that was chosen before it ran, and made again it would be wrong too often\n"
            "    write stop_early: true and begin anew, on tasks that it has not had"
        )
    had = [task for stage in before.get("stages", ()) for task in stage]
    fresh = unseen(whole, had)
    if not fresh:
        raise ExtensionFault(f"{tasks_file(whole)} has no task that it has not had: add some, then extend it")
    return staged(whole, before, [*before["stages"], fresh[:n]])


def unseen(comparison: Comparison, had: Collection[str]) -> list[str]:
    """The tasks that are left; of a cluster that was read none is, since its tasks count as one."""
    clusters = comparison.clusters or {}
    read = {clusters.get(task, task) for task in had}
    return [t.id for t in comparison.tasks if t.id not in had and clusters.get(t.id, t.id) not in read]


def taken_up(
    comparison: Comparison, whole: Callable[[], Comparison], before: Mapping[str, Any], strict: bool = True
) -> Comparison:
    """The comparison as its files have it, or where it was extended since it began, on all tasks that it was run on, in
    their stages: those are taken of the `whole` file's.

    Raises ExtensionFault where any of them is gone or, if it is `strict`, where anything has changed.
    """
    stages = before.get("stages", ())
    return comparison if len(stages) < 2 else staged(whole(), before, stages, strict)


def staged(
    whole: Comparison, before: Mapping[str, Any], stages: Sequence[Sequence[str]], strict: bool = True
) -> Comparison:
    by_id = {task.id: task for task in whole.tasks}
    had = [task for stage in before["stages"] for task in stage]
    if missing := [id for id in had if id not in by_id]:
        raise ExtensionFault(f"the task {missing[0]!r} is gone: what was run on it can no longer be read")
    if strict:
        check_unchanged(whole, before, [by_id[id] for id in had])
    tasks = tuple(by_id[id] for stage in stages for id in stage)
    return dataclasses.replace(whole, tasks=tasks, extended=tuple(map(len, stages[1:])))


def check_unchanged(comparison: Comparison, before: Mapping[str, Any], had: Sequence[Task]) -> None:
    """The tasks may have grown in number; what was run on must be as it was."""
    grown = tasks_file(comparison)
    changed = [name for name in origin.changed(before["files"], counted(before, comparison)) if name != grown]
    if before["rows"] != digest(had):
        changed.append(f"tasks of {grown} that were run")
    if changed:
        raise ExtensionFault(f"{', '.join(changed)} changed since it began: begin anew")
