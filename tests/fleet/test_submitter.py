"""A submitter whose chunks are made in this process, all of a wave before it looks."""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from loopworth.comparisons.comparison import Comparison, load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.extension import extended
from loopworth.comparisons.fleet.chunk import Chunk
from loopworth.comparisons.fleet.workshop import Workshop
from loopworth.comparisons.keeper import StoreKeeper
from loopworth.comparisons.result import Result
from loopworth.comparisons.schedule import Planned
from loopworth.runs.store import Store
from tests.fleet.hosts import SCRIPTED, written

submitter = pytest.importorskip("loopworth.comparisons.fleet.submitter", reason="no fleet without the extra `fleet`")


class Here:
    """A queue whose chunks are made as they are sent."""

    def __init__(self, store: Store, project: pathlib.Path) -> None:
        self.store, self.project = store, project
        self.sent = list[Planned]()

    def open(self, name: str, most: int | None) -> None:
        """Nobody else takes chunks."""

    def send(self, name: str, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            self.sent += [one.planned for one in chunk.runs]
            asyncio.run(self.make(chunk))

    async def make(self, chunk: Chunk) -> None:
        shop = Workshop(self.store, self.project, 8)
        try:
            await shop.make(chunk)
        finally:
            await shop.close()

    def states(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        return dict.fromkeys(ids, ("PENDING", ""))

    def cancel(self, ids: Sequence[str]) -> None:
        """All are made."""


class Fleet:
    """Comparisons of one store, sent from a folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.store = folder, Store(folder / "runs.db")
        self.queue = Here(self.store, folder)

    def result(self, comparison: Comparison, keeper: StoreKeeper) -> tuple[Result, list[Planned]]:
        """What it came to, and which runs were sent."""
        self.queue.sent.clear()
        crew = submitter.Submitter(comparison, keeper, self.queue, True, lambda words: None, self.folder)
        return asyncio.run(compare(comparison, keeper=keeper, crew=crew)), list(self.queue.sent)

    def kept(self, id: str) -> set[Planned]:
        """The runs that are in the store."""
        return {Planned(str(one.arm), str(one.task), one.repeat or 0) for one in self.store.shelf().trials(id)}


@pytest.fixture
def fleet(tmp_path: pathlib.Path) -> Iterator[Fleet]:
    found = Fleet(tmp_path)
    yield found
    found.store.close()


EARLY = "stop_early: true\n"


def planned(result: Result) -> set[Planned]:
    return {trial.planned for trial in result.trials}


@pytest.fixture
def early(fleet: Fleet) -> tuple[pathlib.Path, Result, set[Planned]]:
    """A comparison that was settled while runs were under way: its file, its result, and what ended late."""
    file = written(fleet.folder, "early", 400, SCRIPTED, EARLY)
    file.write_text(file.read_text("utf-8").replace("early.jsonl", "{file: early.jsonl, limit: 300}"), "utf-8")
    comparison = load(file)
    result, _ = fleet.result(comparison, StoreKeeper.anew(fleet.store, comparison))
    late = fleet.kept(result.id) - planned(result)
    assert result.verdict is not None
    assert late
    return file, result, late


def test_what_ended_after_a_comparison_was_settled_is_taken_up_when_it_goes_on(
    fleet: Fleet, early: tuple[pathlib.Path, Result, set[Planned]]
) -> None:
    """Nothing that was paid for is lost: it is in the result then, in its cost too, and changes no verdict."""
    file, before, late = early
    comparison = load(file)
    again, sent = fleet.result(comparison, StoreKeeper.going_on(fleet.store, comparison, before.id, True))
    assert sent == []
    assert planned(again) == planned(before) | late
    assert len(again.trials) == len(planned(again)) == again.made
    assert again.verdict == before.verdict


def test_an_extension_takes_up_what_ended_after_its_comparison_was_settled(
    fleet: Fleet, early: tuple[pathlib.Path, Result, set[Planned]]
) -> None:
    """It makes none of it again."""
    file, before, late = early
    entered: Any = fleet.store.shelf().run(before.id).input
    longer = extended(load(file, whole=True), entered, 100)
    again, sent = fleet.result(longer, StoreKeeper.extending(fleet.store, longer, before.id, True))
    assert not set(sent) & (planned(before) | late)
    assert planned(again) >= planned(before) | late
    assert len(again.trials) == len(planned(again))


def test_a_budget_that_the_last_run_uses_up_costs_no_verdict(fleet: Fleet) -> None:
    """Nothing is left that it could stop, here as in one process."""
    file = written(fleet.folder, "spent", 4, SCRIPTED, "budget: {tokens: 176}\n")
    comparison = load(file)
    there, _ = fleet.result(comparison, StoreKeeper.anew(fleet.store, comparison))
    here = asyncio.run(compare(comparison))
    assert sum(trial.usage.tokens or 0 for trial in there.trials) == 176
    assert (there.stopped, there.verdict is None) == (here.stopped, here.verdict is None) == ("", False)
