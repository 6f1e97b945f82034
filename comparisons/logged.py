"""Runs that were already made: an arm that is a JSONL file, of recordings as `loopworth runs export` writes them, or of
runs that something else made, a row each, in the words of a program:

    {"task": "t01", "answer": "42", "seconds": 2.1, "usage": {"prompt_tokens": 512, "completion_tokens": 40}}

with `calls`, `exit_reason`, `arm` and `repeat` where there are such. What a judge said of runs of ours is no part of
them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

from loopworth.comparisons.program import told, unread
from loopworth.comparisons.ruling import without_judge
from loopworth.comparisons.tasks import Task
from loopworth.runs.events import AnyEvent
from loopworth.runs.kept import Kept
from loopworth.runs.message import json_of
from loopworth.runs.nesting import TOO_DEEP
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Failed, Outcome
from loopworth.runs.recording import Recording, RecordingFault, read
from loopworth.workflows.vocabulary import called

ROW = '{"task": "t01", "answer": "42", "seconds": 2.1}'
THEIRS = {
    "task": "id task_id example_id case",
    "answer": "output response result prediction completion",
    "seconds": "duration elapsed latency duration_seconds latency_seconds elapsed_seconds time",
}
"""What every row has → what other tools call it."""
Log = Mapping[tuple[str, int], Outcome]
"""What was logged for a task, by its id and the repeat."""


def log(path: Path, tasks: Sequence[Task], arm: str, repeats: int) -> Log:
    """The runs of a file that are runs of these tasks: trials by their task, others by an input that the task holds.

    Of a log of several arms those of this arm's name count, if there are any. Raises RecordingFault, also where it has
    runs of other tasks alone, and OSError.
    """
    mine = runs_for(path, arm)
    found = dict(matched(mine, tasks))
    if not found and (theirs := examples(task.id for task in tasks)):
        ours = examples(one.kept.task or key(one.kept.input) for one in mine)
        raise RecordingFault(f"{path}: it has runs of {ours}, and none of the tasks, which are {theirs}")
    outcomes = {(id, n): one.outcome for id, runs in found.items() for n, one in enumerate(final(runs)[:repeats])}
    return {of: without_judge(outcome) for of, outcome in outcomes.items() if outcome is not None}


def examples(ids: Iterable[str]) -> str:
    """Some of them, in words; "" where there are none."""
    first = [f"{id!r:.60}" for id in islice(dict.fromkeys(ids), 4)]
    return ", ".join([*first[:3], *(["…"] if len(first) > 3 else [])])


def matched(mine: Iterable[Recording], tasks: Iterable[Task]) -> Iterator[tuple[str, list[Recording]]]:
    """The runs of each task that has any, by its id."""
    by_id: dict[str, list[Recording]] = {}
    by_input: dict[str, list[Recording]] = {}
    for one in mine:
        if one.kept.task is not None:
            by_id.setdefault(one.kept.task, []).append(one)
        else:
            by_input.setdefault(key(one.kept.input), []).append(one)
    names = {tuple(sorted(one.kept.input)) for one in mine if isinstance(one.kept.input, dict)}
    for task in tasks:
        if runs := by_id.get(task.id) or next((r for n in names if (r := by_input.get(key(held(task, n))))), []):
            yield task.id, runs


def runs_for(path: Path, arm: str) -> list[Recording]:
    """The runs of a file that are an arm's. Raises RecordingFault, also where there are none, or two that something
    else made are the same run, and OSError."""
    elsewhere = made_elsewhere(path)
    every = [one for one in (read(path).found if elsewhere is None else elsewhere) if of_arm(one)]
    if not every:
        raise RecordingFault(f"{path}: it has no run that ended")
    mine = [one for one in every if one.kept.arm == arm] or every
    if elsewhere is not None:
        distinct(mine, arm)
    return mine


def distinct(rows: Iterable[Recording], arm: str) -> None:
    """Raises RecordingFault at the first row that is a run that another one is."""
    lines: dict[tuple[str | None, int | None], str] = {}
    for one in rows:
        line, of = one.kept.id.rpartition(":")[2], (one.kept.task, one.kept.repeat)
        if of in lines:
            what = f"task {of[0]!r} with repeat {of[1]} stands in line {lines[of]} already"
            mend = f'number the runs of a task ("repeat": 1), or name their arms ("arm": "{arm}")'
            raise RecordingFault(f"{one.kept.file}:{line}: {what}; {mend}")
        lines[of] = line


def made_elsewhere(path: Path) -> tuple[Recording, ...] | None:
    """The runs of a file that something else made; None where they are recordings: its first line says in which form
    all of them are. Raises RecordingFault, OSError."""
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    rows = [(k, text) for k, text in enumerate(lines, 1) if text.strip()]
    if not rows or recorded(rows[0][1]):
        return None
    return tuple(foreign(path, k, *decoded(text)) for k, text in rows)


def recorded(text: bytes) -> bool:
    """Whether a line is in the form of `loopworth runs export`, or in none that is known here."""
    row, why = decoded(text)
    if isinstance(row, dict):
        return "loopworth" in row
    return TOO_DEEP not in why or text.startswith(b'{"loopworth"')


def decoded(text: bytes) -> tuple[Any, str]:
    """The JSON of a line; None where it is none, and why."""
    try:
        return json_of(text.decode()), ""
    except ValueError as why:
        return None, f": {why}"


def foreign(path: Path, k: int, row: Any, why: str) -> Recording:
    """A run that was made elsewhere. How long it took must be said: it is compared, and no default would be true."""
    if fault := unfit(row, why):
        raise RecordingFault(f"{path}:{k}: {fault}; a log is what `loopworth runs export` writes, or such lines: {ROW}")
    place = Told()
    try:
        came = told(row, place, "log")
    except Failed as why:
        raise RecordingFault(f"{path}:{k}: {why}") from None
    outcome = Outcome(came.answer, came.exit, events=place.events, calls=place.calls, seconds=float(row["seconds"]))
    arm, repeat = row.get("arm"), row.get("repeat", 0)
    of = {"arm": None if arm is None else str(arm), "task": str(row["task"]), "repeat": repeat, "attempt": 0}
    return Recording(Kept(f"{path.name}:{k}", "trial", path.stem, str(path), "", **of), outcome=outcome)


def unfit(row: Any, why: str) -> str:
    """What is wrong with a row, which is none for the reason `why`; "" where nothing is."""
    if not isinstance(row, dict):
        return f"this is no JSON object{why}"
    if "loopworth" in row:
        return "this line is a recording, and the first is not"
    for name in THEIRS:
        if name not in row:
            theirs = next((key for key in row if called(key, THEIRS[name])), None)
            return f"there is no `{name}`" + (f": write `{theirs}` as `{name}`" if theirs else "")
    seconds, repeat = row["seconds"], row.get("repeat", 0)
    if type(seconds) not in (int, float) or not 0 <= seconds < inf:
        return f"`seconds` is {seconds!r}, and not how long the run took"
    if type(repeat) is not int or repeat < 0:
        return f"`repeat` is {repeat!r}, and the first of a task is 0"
    return unread(row.get("usage"))


class Told:
    """What is told of a run that nobody watched."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def emit(self, event: AnyEvent) -> None:
        self.items.append(event)

    @property
    def events(self) -> list[AnyEvent]:
        return [one for one in self.items if not isinstance(one, Observation)]

    @property
    def calls(self) -> list[Observation]:
        return [one for one in self.items if isinstance(one, Observation)]


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
