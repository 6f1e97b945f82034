"""Runs that the server goes on with behind its pages."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from typing import Any

import pytest

from loopworth.runs import approvals
from loopworth.runs.database import InUse
from loopworth.runs.decision import Decision
from loopworth.runs.kept import Kept
from loopworth.runs.orphans import orphans
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store
from loopworth.web.activations import AGAIN, MOST, Activations
from tests.web.kit import ASLEEP, AWAKE, DOZES, Shop, settled


def test_a_run_goes_on_once_at_a_time(shop: Shop) -> None:
    """However often it is asked for while it is under way; afterwards it can be asked for again."""
    begun, release = list[str](), threading.Event()

    async def resume(store: Any, run: str) -> Outcome:
        begun.append(run)
        await asyncio.to_thread(release.wait, 20)
        return Outcome()

    activations = Activations(shop.home, resume)
    for _ in range(3):
        activations.start("a")
    release.set()
    settled(activations)
    assert begun == ["a"]
    activations.start("a")
    settled(activations)
    assert begun == ["a", "a"]
    activations.stop()


def test_further_runs_wait_for_a_place(shop: Shop) -> None:
    """At most so many are under way."""
    here, most, release = 0, 0, threading.Event()

    async def resume(store: Any, run: str) -> Outcome:
        nonlocal here, most
        here += 1
        most = max(most, here)
        if here == MOST:
            release.set()
        await asyncio.to_thread(release.wait, 20)
        here -= 1
        return Outcome()

    activations = Activations(shop.home, resume)
    for n in range(MOST + 4):
        activations.start(str(n))
    settled(activations)
    assert most == MOST
    activations.stop()


def test_why_a_run_could_not_go_on_is_kept_until_it_is_tried_again(shop: Shop) -> None:
    """But that another process goes on with it is no trouble."""
    faults: list[Exception] = [ValueError("its file is gone"), InUse("a")]

    async def resume(store: Any, run: str) -> Outcome:
        raise faults.pop(0)

    activations = Activations(shop.home, resume)
    activations.start("a")
    settled(activations)
    assert activations.trouble == {"a": "its file is gone"}
    activations.start("a")
    settled(activations)
    assert activations.trouble == {}
    activations.stop()


def test_what_is_under_way_is_called_off_at_the_end(shop: Shop) -> None:
    """It gets to say so; nothing is left running."""
    ended, begun = list[str](), threading.Event()

    async def resume(store: Any, run: str) -> Outcome:
        begun.set()
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            ended.append(run)

    activations = Activations(shop.home, resume)
    activations.start("a")
    assert begun.wait(20)
    activations.stop()
    assert ended == ["a"]
    assert not activations.thread.is_alive()


def test_the_server_looks_by_itself(shop: Shop) -> None:
    """Once when it begins, and then every so often, whatever goes wrong."""
    looks, twice = 0, threading.Event()

    class Watchful(Activations):
        def sweep(self) -> None:
            nonlocal looks
            looks += 1
            if looks == 2:
                twice.set()
            raise OSError("the disk is away")

    activations = Watchful(shop.home)
    activations.watch(0.001)
    assert twice.wait(20)
    activations.stop()


def test_what_the_server_called_off_goes_on_when_it_comes_again(shop: Shop) -> None:
    """Nobody has to ask for it: its state is that of a run whose process was killed."""
    run = shop.waits(text=DOZES, case="Ann")
    [one] = shop.questions(run)
    first = Activations(shop.home)
    with closing(Store(shop.home)) as store:
        approvals.decide(store, run, one.id, Decision("approve", "kim"))
    ASLEEP.clear()
    AWAKE.clear()
    first.sweep()
    assert ASLEEP.wait(20)
    first.stop()
    AWAKE.set()
    assert [lost.run for lost in orphans(shop.shelf())] == [run]
    second = Activations(shop.home)
    second.sweep()
    settled(second)
    second.stop()
    assert (shop.run(run).exit, shop.paid) == ("success", ["Ann 1"])


def test_a_run_that_is_left_alone_is_said_once(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """A sweep comes every few seconds."""
    with closing(Store(shop.home)) as store:
        store.begin(Kept("a1", "run", "w", "w.yaml", "2026-11-30T10:00:00.000+00:00", source={"tools": {}}))
    activations = Activations(shop.home)
    for _ in range(3):
        activations.sweep()
    settled(activations)
    activations.stop()
    assert [one.getMessage() for one in caplog.records if one.levelname == "WARNING"] == [
        "the run a1: its process ended, or a program has yet to begin with it; to go on: "
        "loopworth run --durable --resume a1"
    ]


def test_a_run_that_could_not_go_on_is_tried_again_after_a_while(shop: Shop) -> None:
    """Its file may be back; and not with every sweep."""
    run, now, tried = shop.waits(), [0.0], list[str]()
    [one] = shop.questions(run)
    with closing(Store(shop.home)) as store:
        approvals.decide(store, run, one.id, Decision("approve", "kim"))

    async def resume(store: Any, run: str) -> Outcome:
        tried.append(run)
        raise OSError("its file is gone")

    activations = Activations(shop.home, resume, clock=lambda: now[0])
    for at in (1.0, 2.0, AGAIN, AGAIN + 2.0, AGAIN + 3.0):
        now[0] = at
        activations.sweep()
        settled(activations)
    activations.stop()
    assert tried == [run, run]
