"""A worker in this process, with a queue in a file."""

from __future__ import annotations

import asyncio
import pathlib
import signal
from contextlib import closing
from typing import Any

import pytest

from loopworth.comparisons.comparison import load
from loopworth.comparisons.fleet.chunk import Chunk
from loopworth.comparisons.keeper import StoreKeeper
from loopworth.models import ModelSpec
from loopworth.runs.store import Store
from tests.fleet.hosts import Host, written

pytest.importorskip("dbos", reason="no fleet without the extra `fleet`")


def test_a_chunk_that_is_called_off_is_ended(tmp_path: pathlib.Path) -> None:
    """Though it is under way; another is left alone."""
    from loopworth.comparisons.fleet.worker import Worker

    chunks = [Chunk(name, 1, "2026-01-01T00:00:00+00:00", "x.yaml", {}, 1, ()) for name in ("off", "on")]

    async def called_off() -> list[bool]:
        with closing(Store(tmp_path / "runs.db")) as store:
            worker = Worker(store, tmp_path, 1, print)
            with closing(worker.pace), closing(worker.queue) as queue:
                await asyncio.to_thread(queue.send, "runs", chunks)
                tasks = [asyncio.ensure_future(asyncio.Event().wait()) for _ in chunks]
                worker.under_way |= {chunk.id: task for chunk, task in zip(chunks, tasks, strict=True)}  # type: ignore[misc]
                await asyncio.to_thread(queue.cancel, [chunks[0].id])
                await asyncio.to_thread(worker.call_off)
                await asyncio.wait(tasks[:1], timeout=1)
                return [task.cancelled() for task in tasks]

    assert asyncio.run(called_off()) == [True, False]


LEFT, GAVE_UP = "0 runs made; what was under way goes back to the queue\n", "interrupted\n"


@pytest.mark.parametrize(
    ("signals", "said"),
    [
        ((signal.SIGTERM, signal.SIGTERM), (LEFT,)),
        ((signal.SIGINT, signal.SIGTERM), (LEFT,)),
        ((signal.SIGINT, signal.SIGINT), (LEFT, GAVE_UP)),
        ((signal.SIGTERM, signal.SIGINT), (LEFT, GAVE_UP)),
    ],
)
def test_a_worker_that_is_told_twice_to_end_ends_in_one_line(
    tmp_path: pathlib.Path, signals: tuple[signal.Signals, ...], said: tuple[str, ...]
) -> None:
    """As `timeout` and service managers tell it: it goes on with leaving; only a Ctrl-C on top may give up on that."""
    Store(tmp_path / "runs.db").close()
    host = Host(str(tmp_path / "runs.db"), tmp_path).ready()
    for one in signals:
        host.process.send_signal(one)
    assert host.said() in said
    assert host.process.returncode == 130


def test_a_worker_and_a_submitter_ask_at_the_pace_of_all(tmp_path: pathlib.Path) -> None:
    """That of the store, not one of their own."""
    from loopworth.cli.fleet import crew
    from loopworth.comparisons.fleet.pace import Shared
    from loopworth.comparisons.fleet.worker import Worker

    spec = ModelSpec("vllm/m", base_url="http://127.0.0.1:1/v1")

    async def paces() -> list[Any]:
        with closing(Store(tmp_path / "runs.db")) as store:
            comparison = load(written(tmp_path, "small", 2))
            worker, keeper = Worker(store, tmp_path, 1, print), StoreKeeper.anew(store, comparison)
            with closing(worker.queue), closing(worker.pace), crew(comparison, keeper, True, False) as others:
                assert others is not None
                return [open(spec).server.pace for open in (worker.workshop.open, others.open)]  # type: ignore[attr-defined]

    mine, theirs = asyncio.run(paces())
    assert [type(mine), type(theirs), mine is theirs] == [Shared, Shared, False]
    assert str(mine.home) == str(theirs.home) == str(tmp_path / "runs.db")


def test_the_queue_of_a_file_is_made_once_by_whoever_comes_first(tmp_path: pathlib.Path) -> None:
    """Several at the same time, too."""
    from loopworth.comparisons.fleet.engine import Queue
    from loopworth.runs.home import home

    place = home(tmp_path / "runs.db")

    async def opened() -> list[list[str]]:
        queues = await asyncio.gather(*(asyncio.to_thread(Queue, place) for _ in range(3)))
        try:
            return [queue.held("nobody") for queue in queues]
        finally:
            for queue in queues:
                queue.close()

    assert asyncio.run(opened()) == [[], [], []]
    assert (tmp_path / "fleet.db").exists()
