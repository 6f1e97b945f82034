"""A kept comparison as it was: its runs with the scores, costs and seconds that they had, and nothing judged anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from loopworth.comparisons.agreement import LABELS
from loopworth.comparisons.arms import Arm
from loopworth.comparisons.basis import changed, with_given
from loopworth.comparisons.comparison import Comparison, load
from loopworth.comparisons.export import read, to_json
from loopworth.comparisons.extension import staged
from loopworth.comparisons.kept_trial import due_of, trial_in, trial_of
from loopworth.comparisons.logged import of_control
from loopworth.comparisons.pages.disagreements import disagreements, final
from loopworth.comparisons.rescoring import Again, Trials, folded
from loopworth.comparisons.result import Result
from loopworth.comparisons.ruling import without_judge
from loopworth.comparisons.trial import Left, Trial, decoded, encoded
from loopworth.comparisons.uncollected import uncollected
from loopworth.models.spec import ModelSpec
from loopworth.runs.kept import Kept, Score
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording
from loopworth.runs.secrets import hide

Key: TypeAlias = tuple[str, str, int, int]
"""A trial: arm, task, repeat, attempt."""


class Recorded:
    """The trials of a file of recordings."""

    def __init__(self, found: Iterable[Recording]) -> None:
        self.found = {one.kept.id: one for one in found}

    def trials(self, comparison: str) -> list[Kept]:
        return [one.kept for one in self.found.values() if one.kept.parent == comparison]

    def scores(self, comparison: str) -> dict[str, Score]:
        return {one.id: self.found[one.id].score or Score() for one in self.trials(comparison)}

    def figures(self, comparison: str) -> dict[str, bytes]:
        """None: they have their transcripts."""
        return {one.id: b"" for one in self.trials(comparison) if one.state == "done"}

    def outcomes(self, ids: Iterable[str]) -> Iterator[tuple[str, Outcome]]:
        found = ((id, self.found[id].outcome) for id in ids)
        return ((id, outcome) for id, outcome in found if outcome is not None)


class AsKept(Again):
    """What is kept of a comparison, as it was: with all that was said, where it is `whole`."""

    def __init__(self, comparison: Comparison, shelf: Trials, before: Kept, whole: bool = True) -> None:
        super().__init__(comparison, shelf, before)
        self.whole = whole

    @cached_property
    def told(self) -> dict[str, Trial]:
        """The trials that ended, by run, in the order in which they began: by the figures that the store keeps, and by
        what was said where it keeps none."""
        figures = {} if self.whole else self.shelf.figures(self.before)
        found = {run: trial_in(text) for run, text in figures.items()}
        if self.whole or None in found.values():
            lacking = (one for one in self.kept if found.get(one.id) is None)
            found |= {one.id: self.read(one, outcome) for one, outcome in self.came(lacking)}
        return {run: trial for run, trial in found.items() if trial is not None and trial.task in self.tasks}

    def read(self, one: Kept, outcome: Outcome) -> Trial:
        """A trial out of what was said in it."""
        trace = self.comparison.trace(self.tasks[str(one.task)], outcome)
        return trial_of(one, self.scores[one.id], outcome, trace, keep=True)

    def trials(self, arms: Mapping[str, Arm]) -> Iterator[Trial]:
        for trial in self.told.values():
            if trial.arm in arms:
                self.left[trial.planned] = Left(decoded(trial.answer))
                yield trial

    def repriced(self, one: Kept, outcome: Outcome, specs: Iterable[ModelSpec] = ()) -> Outcome:  # noqa: ARG002
        return outcome


def as_kept(comparison: Comparison, shelf: Trials, before: Kept, whole: bool) -> AsKept:
    """What is kept as `before`, of files as they were then."""
    digests = before.input["files"] if isinstance(before.input, dict) else comparison.files
    return AsKept(dataclasses.replace(comparison, files=digests), shelf, before, whole)


def told(
    shelf: Trials, before: Kept, file: str | None = None, pairs: int | None = None
) -> tuple[Result, dict[str, Any]]:
    """A kept comparison, and its JSON; `file` is where the comparison's file is now. The verdict is by its rule.

    With `pairs`, what was said is read of so many disagreements alone, which is all that a page shows of it. Raises
    WorkflowFault, ExtensionFault.
    """
    with uncollected():
        comparison = with_given(as_begun(load(file or before.file), before), before)
        try:
            again = as_kept(comparison, shelf, before, whole=pairs is None)
            said = tuple(remarks(again, before, comparison))
            result = folded(again, before).but(rescored=False, retold=True, remarks=said)
            found = named(read(to_json(result)), {key(trial): run for run, trial in again.told.items()})
            voiced(found, shelf, pairs or 0)
        finally:
            if comparison.own_score is not None:
                comparison.own_score.close()
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


def named(found: dict[str, Any], runs: Mapping[Key, str]) -> dict[str, Any]:
    """The JSON of a comparison, with the run of each trial under `run`."""
    for trial in found["trials"]:
        trial["run"] = runs.get((trial["arm"], trial["task"], trial["repeat"], trial["attempt"]), "")
    return found


def key(trial: Trial) -> Key:
    return trial.arm, trial.task, trial.repeat, trial.attempt


def ids(trials: Iterable[Kept]) -> dict[Key, str]:
    """The run of each trial."""
    found = ((due_of(one), one.id) for one in trials)
    return {(due.arm, due.task, due.repeat, attempt): id for (due, attempt), id in found}


def voiced(found: dict[str, Any], shelf: Trials, pairs: int) -> None:
    """Put what was said into the first so many disagreements of a comparison's JSON."""
    some = islice(disagreements(found, final(found)), pairs)
    runs = {run["run"]: run for pair in some for run in pair.runs if run["transcript"] is None}
    for id, outcome in shelf.outcomes(runs):
        alone = without_judge(outcome)
        runs[id] |= read(bytes(encoded(hide({"transcript": alone.transcript, "calls": alone.calls}))))


def remarks(again: Again, before: Kept, comparison: Comparison) -> Iterator[str]:
    """What has changed since it was run, and what of it is not told for that."""
    if before.input and (other := changed(before.input, comparison)):
        yield (
            f"{', '.join(other)} changed since it was run: what the runs did, scored and cost is as it was then; the "
            "verdict is by the rule that the files have now"
        )
    arms = {LABELS, *(arm.name for arm in comparison.arms)}
    for name in dict.fromkeys(str(one.arm) for one in again.done if not of_control(one.arm)):
        if name not in arms:
            runs = f"`loopworth runs --comparison {before.id} --arm {name}` lists its runs"
            yield f"the arm {name!r} was run too, and the file has it no more: it is in no figure; {runs}"
