"""Runs that were already made: an arm that is a JSONL file of recordings, as `loopworth runs export` writes it. What a
judge said of them then is no part of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from loopworth.comparisons.judge import without_judge
from loopworth.comparisons.tasks import Task
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording, read

Log = Mapping[tuple[str, int], Outcome]
"""What was logged for a task, by its id and the repeat."""


def log(path: Path, tasks: Iterable[Task], arm: str, repeats: int) -> Log:
    """The runs of a file that are runs of these tasks: trials by their task, others by an input that the task holds.

    Of a log of several arms those of this arm's name count, if there are any. Raises RecordingFault, OSError.
    """
    every = [one for one in read(path).found if of_arm(one)]
    mine = [one for one in every if one.kept.arm == arm] or every
    by_id: dict[str, list[Recording]] = {}
    by_input: dict[str, list[Recording]] = {}
    for one in mine:
        if one.kept.task is not None:
            by_id.setdefault(one.kept.task, []).append(one)
        else:
            by_input.setdefault(key(one.kept.input), []).append(one)
    names = {tuple(sorted(one.kept.input)) for one in mine if isinstance(one.kept.input, dict)}
    found: dict[tuple[str, int], Outcome] = {}
    for task in tasks:
        runs = by_id.get(task.id) or next((r for n in names if (r := by_input.get(key(held(task, n))))), [])
        for repeat, one in enumerate(final(runs)[:repeats]):
            assert one.outcome is not None
            found[task.id, repeat] = without_judge(one.outcome)
    return found


def of_arm(one: Recording) -> bool:
    """Whether it is a run that ended, and no control's, which is given what another run found."""
    return one.outcome is not None and one.kept.kind != "comparison" and not of_control(one.kept.arm)


def of_control(arm: str | None) -> bool:
    """Whether a trial that was kept under this name is one of a control (`Control.key`); no arm's name has a space."""
    return arm is not None and " " in arm


def final(runs: list[Recording]) -> list[Recording]:
    """One for each repeat, the rerun where an endpoint broke the first."""
    latest = {
        one.kept.repeat if one.kept.repeat is not None else -n: one
        for n, one in enumerate(sorted(runs, key=lambda one: one.kept.attempt or 0), 1)
    }
    return list(latest.values())


def held(task: Task, names: Iterable[str]) -> dict[str, Any]:
    return {name: task.fields.get(name) for name in names}


def key(input: Any) -> str:
    return json.dumps(input, sort_keys=True, default=str)
