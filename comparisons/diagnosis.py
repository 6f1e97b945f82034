"""Which of the five parts of a workflow to look at, read from what its runs did, with one change to try for each.

The parts are the places of defects: *instructions* (what the model is told to do), *tools* (what it may call, and how
they describe themselves), *state* (what the transcript holds), *decision* (speak or act, which tool), *termination*
(when it may stop). A rule is a function of the runs of one arm or workflow; docs/diagnose.md says what each looks at,
and from where on. What explains a run's end is looked for first: a cap that was hit by a loop that goes round in
circles is no finding of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopworth.comparisons.logged import of_control
from loopworth.comparisons.symptoms import decision, instructions, state, termination, tools
from loopworth.comparisons.symptoms.conduct import Conduct, conduct
from loopworth.comparisons.symptoms.finding import Finding, Rule, Runs
from loopworth.comparisons.unanswered import End, unanswered
from loopworth.runs.exit import APART
from loopworth.runs.recording import Recording

CAUSES: tuple[Rule, ...] = (
    tools.misread,
    tools.unknown,
    tools.overlapping,
    tools.failing,
    tools.confessing,
    tools.monotone,
    tools.combining,
    state.big,
    state.cut,
    state.forgotten,
    state.circles,
    decision.cycles,
    decision.claims,
    decision.inventing,
    decision.ignoring,
    decision.misrouted,
    instructions.rejected,
    instructions.wordy,
    termination.promises,
    termination.hasty,
    termination.lingering,
)
"""What can explain why a run ended as it did."""
ENDS: tuple[Rule, ...] = (
    instructions.unlooked,
    instructions.unparsable,
    instructions.declined,
    instructions.unchecked,
    instructions.refused,
    state.overflown,
    decision.unrouted,
    decision.stuck,
    decision.proposing,
    termination.hollow,
    termination.truncated,
    termination.caps,
)
"""Ends that nothing explains."""


def diagnose(recordings: Iterable[Recording]) -> list[Finding]:
    """The findings, by arm (or workflow), those first that most runs show.

    Runs that did not end, ends that say nothing about the workflow (`runs.outcome.APART`), and controls are left out.
    """
    return [finding for name, runs in subjects(recordings).items() for finding in found(name, runs)]


def found(subject: str, runs: Sequence[Conduct]) -> list[Finding]:
    """The findings in the runs of one arm or workflow."""
    whole = Runs(subject, tuple(runs), len(runs))
    causes = [finding for rule in CAUSES for finding in rule(whole)]
    explained = {sign.run for finding in causes for sign in finding.signs}
    rest = Runs(subject, tuple(run for run in runs if run.id not in explained), len(runs))
    ends = [finding for rule in ENDS for finding in rule(rest)]
    return sorted([*causes, *ends], key=lambda finding: -finding.runs)


def silence(runs: Iterable[Conduct]) -> str:
    """That most of these runs left no answer, and why; "" where half of them did."""
    return unanswered([End(run.exit, run.note, run.answer is not None) for run in runs])


def subjects(recordings: Iterable[Recording]) -> dict[str, list[Conduct]]:
    """The runs that say something about their workflow, by arm or workflow."""
    known: dict[str, list[Conduct]] = {}
    for recording in recordings:
        run = conduct(recording) if tells(recording) else None
        if run is not None and run.exit not in APART:
            known.setdefault(run.subject, []).append(run)
    return known


def tells(recording: Recording) -> bool:
    """Whether it is a run of a workflow as somebody wrote it: a control (`pasted of agent`) is not."""
    return recording.kept.kind != "comparison" and not of_control(recording.kept.arm)
