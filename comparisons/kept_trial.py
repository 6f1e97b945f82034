"""A trial as the store holds it: its row when it begins, what is kept of it when it ends, and the trial again."""

from __future__ import annotations

from typing import Any

import msgspec

from loopworth.comparisons.ruling import UNREACHED, without_judge
from loopworth.comparisons.schedule import Due, Planned
from loopworth.comparisons.scores import Score
from loopworth.comparisons.trace import Trace
from loopworth.comparisons.trial import NOTHING, Trial, encoded, tried
from loopworth.runs import kept
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Outcome
from loopworth.runs.wall_clock import now
from loopworth.workflows.compile import Compiled

TRIALS = msgspec.json.Decoder(Trial)


def entry(id: str, due: Due, workflow: Compiled, input: dict[str, Any], file: str, comparison: str) -> Kept:
    """The row of a trial that begins now."""
    planned, attempt = due
    return Kept(
        id=id,
        kind="trial",
        name=workflow.name,
        file=file,
        began=now(),
        parent=comparison,
        input=input,
        arm=planned.arm,
        task=planned.task,
        repeat=planned.repeat,
        attempt=attempt,
    )


def ended(one: Kept, score: kept.Score) -> bool:
    """Whether nothing of a run is left to be done: of one whose judge could not be reached that is to be asked."""
    return one.state == "done" and not score.remark.startswith(UNREACHED)


def due_of(one: Kept) -> Due:
    return Planned(str(one.arm), str(one.task), one.repeat or 0), one.attempt or 0


def score_of(trial: Trial) -> kept.Score:
    """What the store holds of a trial beside its run."""
    return kept.Score(trial.right, trial.harmful, trial.remark, trial.route, trial.latency, trial.began)


def figures_of(trial: Trial, outcome: Outcome) -> bytes:
    """What the store keeps of a trial for a report, beside its transcript: all but what was said and called (JSON)."""
    answer = encoded(outcome.answer)
    bare = msgspec.structs.replace(trial, answer=answer, transcript=NOTHING, events=NOTHING, calls=NOTHING)
    return bytes(encoded(bare))


def trial_in(figures: bytes) -> Trial | None:
    """The trial that was kept so; None where it is none of this version's."""
    try:
        return TRIALS.decode(figures)
    except msgspec.DecodeError:
        return None


def trial_of(one: Kept, score: kept.Score, outcome: Outcome, trace: Trace, keep: bool) -> Trial:
    """A trial as it was when it ended; with its transcript where that is to be kept."""
    planned, attempt = due_of(one)
    found, alone = Score(score.right, score.remark) if score.right is not None else None, without_judge(outcome)
    trial = tried(planned, outcome, found, attempt=attempt, began=score.began, keep=keep, trace=trace)
    return msgspec.structs.replace(
        trial,
        exit=one.exit,
        note=one.note,
        remark=score.remark,
        harmful=score.harmful,
        route=score.route,
        model_calls=one.model_calls if alone is outcome else alone.model_calls,
        tool_calls=one.tool_calls,
        usage=one.usage if alone is outcome else alone.usage,
        latency=score.latency,
        seconds=one.seconds if alone is outcome else alone.seconds,
    )
