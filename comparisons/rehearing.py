"""A judge that is asked again: about kept runs and labelled rows that it has not judged since its endpoint failed.

What it said before stands in their journals and is not asked again; the arms are neither run nor opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from loopworth.comparisons.agreement import LABELS
from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.endpoints import Endpoints, Open
from loopworth.comparisons.kept_trial import ended, figures_of, score_of, trial_in, trial_of
from loopworth.comparisons.outlay import Outlay
from loopworth.comparisons.ruling import asked_of, calls_of_judge, judging, ruling_in, without_judge
from loopworth.comparisons.sentences import counted
from loopworth.comparisons.trace import traced
from loopworth.comparisons.trial import Trial, clean
from loopworth.models import Unavailable, open_model
from loopworth.models.opening import lacking
from loopworth.runs.concurrency import together
from loopworth.runs.figures import dollars
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Diverged, Outcome
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from loopworth.runs.stored_journal import StoredJournal
from loopworth.runs.usage import Usage
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import Compiled

GIVE_UP = 5
"""Rows on which its endpoint fails, without one answer, after which it counts as dead."""


@dataclass(frozen=True)
class Unheard:
    """A kept run, or labelled row, that the judge is still to be asked about: what it came to, and what judges it."""

    kept: Kept
    outcome: Outcome
    trial: Trial
    judged: Compiled


def unheard(comparison: Comparison, shelf: Shelf, before: Kept) -> list[Unheard]:
    """What the judge that the file names now was asked about and could not be reached for."""
    panel = comparison.panel
    if panel is None or panel.model.key in (before.input or {}).get("given_models", {}):
        return []
    scores, found = shelf.scores(before.id), list[Unheard]()
    due = {one.id: one for one in shelf.trials(before.id) if one.state == "done" and not ended(one, scores[one.id])}
    figures = shelf.figures(before.id) if due else {}
    for id, outcome in shelf.outcomes(due):
        one, alone = due[id], without_judge(outcome)
        for fields, expected in asked_about(comparison, one, outcome):
            trial = trial_in(figures.get(id, b"")) or trial_of(one, scores[id], outcome, traced(alone), keep=False)
            judge = msgspec.structs.replace(panel, asked_as=calls_of_judge(outcome)[0].model)
            found.append(Unheard(one, outcome, trial, judge.of_kept(one.name, alone, fields, expected)))
    return found


def asked_about(comparison: Comparison, one: Kept, outcome: Outcome) -> list[tuple[Mapping[str, Any], Any]]:
    """The columns, and what was expected, of the task or labelled row that a run is about; none where there is no such
    row any more, or its judge was another."""
    panel = comparison.panel
    assert panel is not None
    if one.arm == LABELS:
        rows = [(row.fields, row.expected) for row in panel.labels if row.asks == asked_of(outcome)]
    else:
        rows = [(task.fields, task.expected) for task in comparison.tasks if task.id == one.task]
    return [row for row in rows if calls_of_judge(outcome) and panel.asked_alike(outcome, *row)]


def spent(comparison: Comparison, shelf: Shelf, before: Kept) -> Iterator[Usage]:
    """What the kept runs took of the comparison's budget: of those that were logged, what their judge did."""
    logs, every = comparison.logged, shelf.trials(before.id)
    yield from (one.usage for one in every if one.arm not in logs)
    yield from (judging(outcome)[1] for _, outcome in shelf.outcomes(one.id for one in every if one.arm in logs))


class Rehearing:
    """One asking about all that is `due`. `asked` are the trials as they are now; `why` says what ended it early, and
    `broken` what ended one of them."""

    def __init__(self, comparison: Comparison, store: Store, before: Kept, due: Sequence[Unheard], open: Open) -> None:
        assert comparison.panel is not None
        self.comparison, self.store, self.before, self.due = comparison, store, before, due
        self.model = comparison.panel.model
        self.endpoints = Endpoints(open, {key: spec for row in due for key, spec in row.judged.models.items()})
        self.outlay, self.used = Outlay(), Usage()
        for used in spent(comparison, store.shelf(), before):
            self.outlay.add(used)
        self.asked: list[Trial] = []
        self.why, self.broken = "", ""

    async def hear(self) -> None:
        """Ask, so many at once as the endpoint takes."""
        if variable := lacking(self.model):
            self.why = f"{self.model.name} needs a key, and {variable} is not set"
            return
        try:
            await self.endpoints.prepare(lambda name: None)  # noqa: ARG005 - nobody is told
            slots = asyncio.Semaphore(self.endpoints.slots(tuple(m.endpoint for m in self.endpoints.models.values())))
            await together(*(self.turn(row, slots) for row in self.due))
        except Unavailable as why:
            self.why = str(why)
        finally:
            await self.endpoints.close()

    async def turn(self, row: Unheard, slots: asyncio.Semaphore) -> None:
        async with slots:
            trouble = str(self.store.trouble or "")
            self.why = self.why or trouble or self.outlay.over(self.comparison.limits, self.before.seconds)
            if not self.why:
                await self.ask(row)

    async def ask(self, row: Unheard) -> None:
        """Go on with a run where its judge failed; one that does not get to its end again stays as it was."""
        journal, arm = self.store.resume(row.kept.id), Arm(row.trial.arm, row.judged)
        before = frozenset(journal.records)
        world = self.endpoints.world(arm, None, row.trial.repeat, journal.records)
        try:
            outcome = await activate(row.judged, row.kept.input, world, journal, journal.run)
        except Diverged as other:
            outcome = Outcome(exit="harness_error", note=f"it is asked otherwise now: {other}")
        if outcome.exit == row.outcome.exit:
            self.keep(journal, self.judged(row.trial, outcome, before), outcome)
            return
        self.keep(journal, row.trial, row.outcome)
        self.broken = outcome.note
        if outcome.exit == "cancelled":
            raise asyncio.CancelledError

    def judged(self, trial: Trial, outcome: Outcome, before: Collection[str]) -> Trial:
        """The trial with what the judge says of it now; what it was asked `before` is not paid again."""
        (calls, used), score = judging(outcome), ruling_in(outcome).score
        word = {"right": score.right, "remark": clean(score.note), "judging": used, "judge_calls": calls}
        trial = msgspec.structs.replace(trial, **word)
        self.asked.append(trial)
        for call in calls_of_judge(outcome):
            if call.at not in before:
                self.used += call.usage
                self.outlay.add(call.usage)
        if len(self.asked) >= GIVE_UP and all(one.unreached for one in self.asked):
            self.why = trial.remark
        return trial

    def keep(self, journal: StoredJournal, trial: Trial, outcome: Outcome) -> None:
        self.store.finish(journal, outcome, score_of(trial), figures=figures_of(trial, outcome))

    @property
    def words(self) -> str:
        """What came of it, in one sentence."""
        heard = [one for one in self.asked if not one.unreached]
        why = self.why or self.broken or next((one.remark for one in self.asked if one.unreached), "")
        left = f"; {len(self.due) - len(heard)} are left: {why}" if len(heard) < len(self.due) else ""
        rows = f"{len(self.asked)} of {counted(len(self.due), 'row')}"
        return (
            f"the judge was asked again about {rows} that it could not be reached for ({dollars(self.used.usd)}){left}"
        )


async def reheard(
    comparison: Comparison, store: Store, before: Kept, due: Sequence[Unheard], open: Open = open_model
) -> Rehearing:
    """Ask the judge of a kept comparison about what is due. Raises `Fenced` where another process does the same."""
    hearing = Rehearing(comparison, store, before, due, open)
    await hearing.hear()
    return hearing
