"""A kept comparison as it was: its runs with the scores, costs and seconds that they had, and nothing judged anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison, load
from loopworth.comparisons.export import read, to_json, uncollected
from loopworth.comparisons.extension import staged
from loopworth.comparisons.keeper import changed, due_of, trial_of
from loopworth.comparisons.rescoring import Again, Trials, folded
from loopworth.comparisons.result import Result
from loopworth.comparisons.trial import Trial, left_by
from loopworth.models.spec import ModelSpec
from loopworth.runs.kept import Kept, Score
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording


class Recorded:
    """The trials of a file of recordings."""

    def __init__(self, found: Iterable[Recording]) -> None:
        self.found = {one.kept.id: one for one in found}

    def trials(self, comparison: str) -> list[Kept]:
        return [one.kept for one in self.found.values() if one.kept.parent == comparison]

    def scores(self, comparison: str) -> dict[str, Score]:
        mine = (one for one in self.found.values() if one.kept.parent == comparison)
        return {one.kept.id: one.score or Score() for one in mine}

    def outcomes(self, ids: Iterable[str]) -> Iterator[tuple[str, Outcome]]:
        found = ((id, self.found[id].outcome) for id in ids)
        return ((id, outcome) for id, outcome in found if outcome is not None)


class AsKept(Again):
    """What is kept of a comparison, and what its runs left, as they were."""

    def trials(self, arms: Mapping[str, Arm]) -> Iterator[Trial]:
        for one, outcome in self.ran(arms):
            planned, _ = due_of(one)
            self.left[planned] = left_by(planned, outcome)
            trace = self.comparison.trace(self.tasks[planned.task], outcome)
            yield trial_of(one, self.scores[one.id], outcome, trace, keep=True)

    def repriced(self, one: Kept, outcome: Outcome, specs: Iterable[ModelSpec] = ()) -> Outcome:  # noqa: ARG002
        return outcome


def as_kept(comparison: Comparison, shelf: Trials, before: Kept) -> AsKept:
    """What is kept as `before`, of files as they were then."""
    digests = before.input["files"] if isinstance(before.input, dict) else comparison.files
    as_run = dataclasses.replace(comparison, files=digests)
    return AsKept(as_run, shelf, before)


def ids(trials: Iterable[Kept]) -> dict[tuple[str, str, int, int], str]:
    """The run of each trial, by arm, task, repeat and attempt."""
    found = ((due_of(one), one.id) for one in trials)
    return {(due.arm, due.task, due.repeat, attempt): id for (due, attempt), id in found}


def told(shelf: Trials, before: Kept, file: str | None = None) -> tuple[Result, dict[str, Any]]:
    """A kept comparison, and its JSON; `file` is where the comparison's file is now. The verdict is by its rule.

    Raises WorkflowFault, ExtensionFault.
    """
    with uncollected():
        comparison = as_begun(load(file or before.file), before)
        try:
            again = as_kept(comparison, shelf, before)
            result = dataclasses.replace(folded(again, before), rescored=False, retold=True)
            found = named(read(to_json(result)), again.kept)
        finally:
            if comparison.own_score is not None:
                comparison.own_score.close()
        found["warnings"][:0] = remarks(before, comparison)
    found["texts"] = texts(found["provenance"]["files"], Path(comparison.file).parent)
    return result, found


def texts(digests: Mapping[str, str], folder: Path) -> dict[str, str]:
    """What stands in a comparison's files, of those that are still the ones that were read."""
    found = {}
    for name, digest in digests.items():
        with suppress(OSError, UnicodeDecodeError):
            content = (folder / name).read_bytes()
            if sha256(content).hexdigest() == digest:
                found[name] = content.decode()
    return found


def as_begun(comparison: Comparison, before: Kept) -> Comparison:
    """The comparison on those tasks that it was run on."""
    stages = (before.input or {}).get("stages", ())
    if not stages or [list(stage) for stage in stages] == [[task.id for task in comparison.tasks]]:
        return comparison
    return staged(load(comparison.file, whole=True), before.input, stages, strict=False)


def named(found: dict[str, Any], trials: Iterable[Kept]) -> dict[str, Any]:
    """The JSON of a comparison, with the run of each trial under `run`."""
    runs = ids(trials)
    for trial in found["trials"]:
        key = (trial["arm"], trial["task"], trial["repeat"], trial["attempt"])
        trial["run"] = runs.get(key, "")
    return found


def remarks(before: Kept, comparison: Comparison) -> Iterator[str]:
    """What has changed since it was run."""
    if before.input and (other := changed(before.input, comparison)):
        yield (
            f"{', '.join(other)} changed since it was run: what the runs did, scored and cost is as it was then; the "
            "verdict is by the rule that the files have now"
        )
