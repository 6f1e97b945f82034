"""Sends the runs of a comparison to the workers, as chunks, and takes them from the store as they end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from pathlib import Path

from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.crew import Came
from loopworth.comparisons.endpoints import Open
from loopworth.comparisons.fleet.attendance import alive
from loopworth.comparisons.fleet.chunk import Chunk, Ordered, cut
from loopworth.comparisons.fleet.engine import FAILED, Queue
from loopworth.comparisons.fleet.results import ended
from loopworth.comparisons.fleet.width import Width, widths
from loopworth.comparisons.keeper import StoreKeeper
from loopworth.comparisons.kept_trial import trial_of
from loopworth.comparisons.schedule import Due
from loopworth.comparisons.trial import left_by
from loopworth.models import open_model
from loopworth.runs.database import StoreFault
from loopworth.runs.kept import Kept, Score
from loopworth.runs.outcome import Outcome

POLL = 0.2
"""Seconds between two looks at what has ended."""


class Submitter:
    """The crew of one comparison, whose keeper has entered it in the store. `say` tells the user what is waited for.

    Workers have the comparison's files in a `project` of their own."""

    def __init__(
        self,
        comparison: Comparison,
        keeper: StoreKeeper,
        queue: Queue,
        keep: bool,
        say: Callable[[str], None],
        project: Path = Path(),
        open: Open = open_model,
    ) -> None:
        self.comparison, self.keeper, self.queue, self.keep, self.say = comparison, keeper, queue, keep, say
        self.open = open
        self.arms = {arm.name: arm for arm in comparison.arms}
        self.tasks = {task.id: task for task in comparison.tasks}
        self.shelf = keeper.store.shelf()
        self.file = seen_from(project, comparison.file)
        self.widths = widths(comparison.arms)

    def makes(self, due: Due) -> bool:
        """Logs are read here, and a run that was under way here goes on here."""
        arm = self.arms.get(due[0].arm)
        return arm is not None and arm.log is None and due not in self.keeper.begun

    async def made(self, due: Sequence[Due]) -> AsyncGenerator[Came, None]:
        """Raises StoreFault where a chunk fails."""
        sent = await asyncio.to_thread(self.send, due)
        left = {chunk.run(one): one for chunk in sent for one in chunk.runs}
        try:
            while left:
                states = await asyncio.to_thread(self.queue.states, self.unmade(sent, left))
                found = await asyncio.to_thread(self.ended, left)
                for id, came in found:
                    del left[id]
                    yield came
                if failed := next(self.failed(sent, left, states), None):
                    raise StoreFault(failed)
                if left and not found:
                    await asyncio.sleep(POLL)
        finally:
            if dropped := self.unmade(sent, left):
                await asyncio.to_thread(self.queue.cancel, dropped)

    # -- to the workers -----------------------------------------------------------------------------------------------

    def send(self, due: Sequence[Due]) -> list[Chunk]:
        """The chunks of these runs, in the queues of their endpoints."""
        sent = list[Chunk]()
        for width in dict.fromkeys(self.widths.values()):
            mine = [one for one in due if self.widths[one[0].arm] == width]
            chunks = [self.chunk(runs, width) for runs in cut(mine)]
            if chunks:
                self.queue.open(width.queue, width.chunks)
                self.queue.send(width.queue, chunks)
            sent += chunks
        if not alive(self.shelf):
            self.say(f"no worker serves {self.keeper.store.home}: `loopworth worker --store …` on any host begins one")
        return sent

    def chunk(self, due: Sequence[Due], width: Width) -> Chunk:
        keeper, runs = self.keeper, list[Ordered]()
        for planned, attempt in due:
            keeper.number += 1
            runs.append(Ordered(planned.arm, planned.task, planned.repeat, attempt, keeper.number))
        files = dict(self.comparison.files)
        return Chunk(keeper.id, keeper.epoch, keeper.began, self.file, files, width.runs, tuple(runs))

    # -- from the workers ---------------------------------------------------------------------------------------------

    def unmade(self, sent: Iterable[Chunk], left: dict[str, Ordered]) -> list[str]:
        """The chunks that have runs left."""
        return [chunk.id for chunk in sent if any(chunk.run(one) in left for one in chunk.runs)]

    def failed(
        self, sent: Iterable[Chunk], left: dict[str, Ordered], states: dict[str, tuple[str, str]]
    ) -> Iterator[str]:
        """Why a chunk will not be made whole: it failed, was refused, or ended without all its runs."""
        for id in self.unmade(sent, left):
            status, why = states.get(id, ("", ""))
            if status in FAILED or status == "SUCCESS":
                yield f"the chunk {id} ended without all its runs: {why or 'another process goes on with it'}"

    def ended(self, left: Iterable[str]) -> list[tuple[str, Came]]:
        """Those of these runs that have ended, in the order in which they were sent."""
        found = {one.id: self.came(one, score, outcome) for one, score, outcome in ended(self.shelf, list(left))}
        return [(id, found[id]) for id in left if id in found]

    def came(self, one: Kept, score: Score, outcome: Outcome) -> Came:
        trace = self.comparison.trace(self.tasks[str(one.task)], outcome)
        trial = trial_of(one, score, outcome, trace, self.keep)
        return trial, left_by(trial.planned, outcome)


def seen_from(project: Path, file: str) -> str:
    """A file by its path from the project's folder, which may be elsewhere on another host; outside it, by its whole
    path."""
    path = Path(file).resolve()
    return path.relative_to(project.resolve()).as_posix() if path.is_relative_to(project.resolve()) else str(path)
