"""Who makes the runs of a comparison, and keeps them: in memory only, in the run store, or as they were recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from loopworth.comparisons.basis import environment_of, place, source
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.kept_trial import due_of, ended, entry, figures_of, score_of, trial_of
from loopworth.comparisons.ruling import ruled_as
from loopworth.comparisons.schedule import Due, Planned
from loopworth.comparisons.trace import traced
from loopworth.comparisons.trial import Left, Trial, left_by
from loopworth.runs.journal import Record
from loopworth.runs.kept import Kept
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Diverged, Outcome
from loopworth.runs.recording import Recording
from loopworth.runs.store import Store, new_id
from loopworth.runs.stored_journal import StoredJournal
from loopworth.runs.usage import Usage
from loopworth.runs.wall_clock import now
from loopworth.runs.world import World
from loopworth.workflows.activation import activate, replay
from loopworth.workflows.compile import Compiled

if TYPE_CHECKING:
    from loopworth.comparisons.result import Result
    from loopworth.models import Model, ModelSpec

Outside: TypeAlias = Callable[[Mapping[str, Record]], World]
"""The live world of a run, which may have begun before: by what its journal holds."""
UNFINISHED = ("cancelled", "harness_error")
"""Ends of a trial after which it is made again when its comparison goes on."""


class Keeper:
    """Makes each run, and is told what it scored; this one keeps nothing.

    `made` are the trials of an earlier part of the comparison, which goes on, and what they `left`. `id` is what the
    store knows it by, `environment` what recorded runs were made on.
    """

    id: str = ""
    replayed: bool = False
    made: tuple[Trial, ...] = ()
    left: Mapping[Planned, Left] = {}
    environment: Mapping[str, Any] = {}

    def due(self, planned: Iterable[Planned], attempt: int) -> list[Planned]:
        """Those of the planned runs that have to be made."""
        done = {trial.planned for trial in self.made if trial.attempt == attempt}
        return [one for one in planned if one not in done]

    async def run(self, due: Due, workflow: Compiled, input: dict[str, Any], outside: Outside) -> Outcome:  # noqa: ARG002
        return await activate(workflow, input, outside({}))

    def recorded(self, due: Due) -> Outcome:
        """What a run came to that is not made again, of an arm that the store alone has. Raises KeyError."""
        raise KeyError(due)

    def keep(self, trial: Trial, outcome: Outcome) -> None:
        """A run has ended, with its score."""

    def trouble(self) -> str:
        """Why no further run can be kept; "" where it can."""
        return ""

    def short(self, missing: int, planned: int) -> str:  # noqa: ARG002
        """Why so many of the planned runs are missing, where they are not there to be replayed."""
        return ""

    def end(self, result: Result) -> None:
        """The comparison has ended."""


class StoreKeeper(Keeper):
    """Keeps every run in the store: its effects as they happen, its end and score when it ends.

    A run that was under way when an earlier part of the comparison was killed goes on from its effects, and so does one
    whose judge could not be reached.
    """

    def __init__(self, store: Store, id: str, epoch: int, began: str) -> None:
        self.store, self.id, self.epoch, self.began = store, id, epoch, began
        self.begun: dict[Due, str] = {}
        self.journals: dict[Due, StoredJournal] = {}
        self.number = 0
        self.file = ""

    @classmethod
    def anew(cls, store: Store, comparison: Comparison) -> StoreKeeper:
        """A comparison that begins now."""
        self = cls(store, new_id(), 1, now())
        made_of = source(comparison)
        store.begin(Kept(self.id, "comparison", comparison.name, place(comparison), self.began, input=made_of))
        return self.of(comparison)

    @classmethod
    def going_on(cls, store: Store, comparison: Comparison, id: str, keep: bool) -> StoreKeeper:
        """A comparison that goes on; `keep` takes up the transcripts of what was made as well."""
        shelf = store.shelf()
        epoch = store.resume(id).epoch
        self, scores = cls(store, id, epoch, shelf.run(id).began), shelf.scores(id)
        tasks, made, left = {task.id: task for task in comparison.tasks}, list[Trial](), dict[Planned, Left]()
        trials = {one.id: one for one in shelf.trials(id)}
        over = {run: None for run, one in trials.items() if ended(one, scores[run])}
        for run, outcome in shelf.outcomes(over):
            one = trials[run]
            trace = comparison.trace(tasks[str(one.task)], outcome) if one.task in tasks else traced(outcome)
            made.append(trial_of(one, scores[run], outcome, trace, keep))
            left[made[-1].planned] = left_by(made[-1].planned, outcome)
        self.begun = {due_of(one): one.id for one in trials.values() if one.id not in over}
        self.number = max((int(run.rpartition(".")[2]) for run in trials), default=0)
        self.made, self.left = tuple(made), left
        return self.of(comparison)

    @classmethod
    def extending(cls, store: Store, comparison: Comparison, id: str, keep: bool) -> StoreKeeper:
        """A comparison that ended, and goes on with more tasks: until they are run, it is unfinished again."""
        store.renew(id, source(comparison))
        return cls.going_on(store, comparison, id, keep)

    def of(self, comparison: Comparison) -> StoreKeeper:
        self.file = place(comparison)
        return self

    async def run(self, due: Due, workflow: Compiled, input: dict[str, Any], outside: Outside) -> Outcome:
        journal = self.journals[due] = self.journal(due, workflow, input)
        return await activate(workflow, input, outside(journal.records), journal, journal.run)

    def journal(self, due: Due, workflow: Compiled, input: dict[str, Any]) -> StoredJournal:
        """The run's own, with what it did before where it goes on."""
        if (begun := self.begun.get(due)) is not None:
            return self.store.resume(begun)
        self.number += 1
        kept = entry(f"{self.id}.{self.number}", due, workflow, input, self.file, self.id)
        return self.store.begin(kept, self.epoch)

    def keep(self, trial: Trial, outcome: Outcome) -> None:
        journal = self.journals.pop((trial.planned, trial.attempt), None)
        if journal is None:
            return
        over = trial.exit not in UNFINISHED
        self.store.finish(journal, outcome, score_of(trial), figures=figures_of(trial, outcome), over=over)

    def trouble(self) -> str:
        return str(self.store.trouble or "")

    def end(self, result: Result) -> None:
        usage = sum(map(result.paid, result.runs), Usage())
        state = "done" if result.finished else "unfinished"
        note = result.stopped or result.controls_stopped or ("interrupted" if result.interrupted else "")
        note = note or ("the judge's endpoint failed" if result.unreached else "")
        self.store.end(self.id, self.epoch, state, note, usage, result.seconds)


class Replayer(Keeper):
    """Makes the runs that were recorded, from what was recorded. Raises `Diverged` at the first that comes out
    otherwise."""

    replayed = True

    def __init__(self, comparison: Recording, trials: Iterable[Recording], early: bool = False) -> None:
        self.over = early and comparison.kept.state == "done"  # then what was not run was not needed
        self.id, self.note = comparison.kept.id, comparison.kept.note
        self.environment = environment_of(comparison.kept)
        ended = (one for one in trials if one.kept.exit not in (None, "cancelled"))  # Ctrl-C may come after all effects
        self.recordings = {due_of(one.kept): one for one in ended}

    def due(self, planned: Iterable[Planned], attempt: int) -> list[Planned]:
        return [one for one in planned if (one, attempt) in self.recordings]

    def short(self, missing: int, planned: int) -> str:
        if not missing or self.over:
            return ""
        return f"the recording holds {planned - missing} of {planned} runs" + (self.note and f": {self.note}")

    async def run(self, due: Due, workflow: Compiled, input: dict[str, Any], outside: Outside) -> Outcome:  # noqa: ARG002
        recording = self.recordings[due]
        try:
            outcome = await replay(workflow, input, recording)
        except Diverged as why:
            raise Diverged(f"the arm {due[0].arm!r} on the task {due[0].task!r}: {why}") from None
        return ruled_as(outcome, recording.outcome)

    def recorded(self, due: Due) -> Outcome:
        outcome = self.recordings[due].outcome
        assert outcome is not None  # it has ended
        return outcome


class Unasked:
    """The model of a replay, which nobody asks."""

    endpoint, concurrency = "replay", 16

    async def reply(self, request: Request, seconds: float | None) -> Reply:  # noqa: ARG002
        raise Diverged("a replay asks no model")

    async def close(self) -> None:
        """Nothing is open."""


def unasked(spec: ModelSpec) -> Model:  # noqa: ARG001
    """Opens nothing, needs no key."""
    return Unasked()
