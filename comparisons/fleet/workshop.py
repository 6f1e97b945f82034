"""Makes the runs of chunks in memory, as any comparison makes its runs; each is entered into the store when it ends."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from loopworth.comparisons.basis import place
from loopworth.comparisons.comparison import Comparison, load
from loopworth.comparisons.endpoints import Open
from loopworth.comparisons.fleet.chunk import Chunk, Ordered
from loopworth.comparisons.keeper import UNFINISHED, Keeper, Outside
from loopworth.comparisons.kept_trial import entry, figures_of, score_of
from loopworth.comparisons.maker import Maker
from loopworth.comparisons.schedule import Due
from loopworth.comparisons.trial import Trial
from loopworth.models import open_model
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store
from loopworth.runs.wall_clock import moment
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import Compiled
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.origin import changed


class Refused(Exception):
    """A chunk cannot be made here; the text says why."""


class Hand(Keeper):
    """Makes each run in memory, and enters it whole."""

    def __init__(self, store: Store, chunk: Chunk, file: str) -> None:
        self.store, self.id, self.epoch, self.file = store, chunk.comparison, chunk.epoch, file
        self.runs: dict[Due, str] = {}
        self.under_way: dict[Due, tuple[Kept, MemoryJournal]] = {}

    async def run(self, due: Due, workflow: Compiled, input: dict[str, Any], outside: Outside) -> Outcome:
        journal = MemoryJournal()
        kept = entry(self.runs[due], due, workflow, input, self.file, self.id)
        self.under_way[due] = (kept, journal)
        return await activate(workflow, input, outside({}), journal, kept.id)

    def keep(self, trial: Trial, outcome: Outcome) -> None:
        """What is cut short here is made again elsewhere."""
        kept, journal = self.under_way.pop((trial.planned, trial.attempt))
        task = asyncio.current_task()
        if trial.exit == "cancelled" and task is not None and task.cancelling():
            return
        over = trial.exit not in UNFINISHED
        score, found, epoch = score_of(trial), figures_of(trial, outcome), self.epoch
        self.store.enter(kept, journal.records, outcome, score, figures=found, over=over, parent_epoch=epoch)


class Bench:
    """One comparison as this worker has it: its files checked, its models open."""

    def __init__(self, maker: Maker, hand: Hand) -> None:
        self.maker, self.hand = maker, hand

    async def make(self, chunk: Chunk, one: Ordered) -> None:
        """A run, unless it was called off."""
        due = (one.planned, one.attempt)
        self.hand.runs[due] = chunk.run(one)
        try:
            await self.maker.make(*due)
        finally:
            for found in (self.hand.runs, self.hand.under_way):
                found.pop(due, None)
            self.maker.left.pop(one.planned, None)
            self.maker.flying.pop(one.planned, None)


class Workshop:
    """Makes chunks of any comparison whose files are in `project`, with so many runs under way at once."""

    def __init__(self, store: Store, project: Path, concurrency: int, open: Open = open_model) -> None:
        self.store, self.project, self.open = store, project, open
        self.slots = asyncio.Semaphore(concurrency)
        self.benches: dict[tuple[str, int], asyncio.Task[Bench]] = {}
        self.used = Counter[tuple[str, int]]()

    async def make(self, chunk: Chunk) -> dict[str, Any]:
        """Make what is not there yet of a chunk; how many runs that was, or why it is refused."""
        key = (chunk.comparison, chunk.epoch)
        self.used[key] += 1
        try:
            bench = await self.bench(chunk)
            due = await asyncio.to_thread(self.missing, chunk)
            width = asyncio.Semaphore(chunk.width)
            async with asyncio.TaskGroup() as group:
                for one in due:
                    group.create_task(self.in_turn(bench, chunk, one, width))
            await asyncio.to_thread(self.settled)
        except Refused as why:
            return {"refused": str(why)}
        finally:
            self.used[key] -= 1
        return {"made": len(due)}

    async def in_turn(self, bench: Bench, chunk: Chunk, one: Ordered, width: asyncio.Semaphore) -> None:
        async with width, self.slots:
            await bench.make(chunk, one)

    def missing(self, chunk: Chunk) -> list[Ordered]:
        """The runs of a chunk that are not in the store: of one that is made again, what it lacks."""
        asked = "select arm, task, repeat, attempt from trial where comparison = ?"
        there = {tuple(row) for row in self.store.shelf().select(asked, [chunk.comparison])}
        return [one for one in chunk.runs if (one.arm, one.task, one.repeat, one.attempt) not in there]

    def settled(self) -> None:
        """All that was made is in the store. Raises StoreFault where it could not be."""
        self.store.wait(self.store.submit(None))
        if self.store.trouble is not None:
            raise self.store.trouble

    async def bench(self, chunk: Chunk) -> Bench:
        """The bench of a comparison, set up by whichever chunk comes first."""
        key = (chunk.comparison, chunk.epoch)
        if key not in self.benches:
            await self.tidy()
            self.benches[key] = asyncio.ensure_future(self.set_up(chunk))
        try:
            return await asyncio.shield(self.benches[key])
        except Refused:
            self.benches.pop(key, None)
            raise

    async def set_up(self, chunk: Chunk) -> Bench:
        comparison = self.loaded(chunk)
        hand = Hand(self.store, chunk, place(comparison))
        maker = Maker(comparison, self.open, hand, keep=False)
        await maker.prepare(lambda _: None)
        began = (moment() - datetime.fromisoformat(chunk.began)).total_seconds()
        maker.start = time.monotonic() - began
        return Bench(maker, hand)

    def loaded(self, chunk: Chunk) -> Comparison:
        """The comparison as it is here. Raises Refused where it is not what was sent."""
        file = (self.project / chunk.file).resolve()
        if not file.is_relative_to(self.project.resolve()):
            raise Refused(f"{chunk.file} is not in the project's folder of a worker: send it from there")
        try:
            comparison = load(file, whole=True)
        except (OSError, WorkflowFault) as why:
            raise Refused(f"{file} cannot be read by a worker: {why}") from None
        try:
            comparison.at_hand()
        except WorkflowFault as why:
            raise Refused(f"a worker lacks what the comparison's models need:\n{why}") from None
        if other := changed(chunk.files, comparison.files):
            raise Refused(f"a worker has other files than the comparison was sent with: {', '.join(other)}")
        return comparison

    async def tidy(self) -> None:
        """Close what no chunk is under way of."""
        for key, task in list(self.benches.items()):
            if not self.used[key] and task.done() and not task.cancelled() and not task.exception():
                del self.benches[key], self.used[key]
                await task.result().maker.close()

    async def close(self) -> None:
        for task in self.benches.values():
            if task.done() and not task.cancelled() and not task.exception():
                await task.result().maker.close()
