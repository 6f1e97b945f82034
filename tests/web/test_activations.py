"""Runs that the server goes on with behind its pages."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from loopworth.runs.database import InUse
from loopworth.web.activations import MOST, Activations
from tests.web.kit import Shop, settled


def test_a_run_goes_on_once_at_a_time(shop: Shop) -> None:
    """However often it is asked for while it is under way; afterwards it can be asked for again."""
    begun, release = list[str](), threading.Event()

    async def resume(store: Any, run: str) -> None:
        begun.append(run)
        await asyncio.to_thread(release.wait, 20)

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

    async def resume(store: Any, run: str) -> None:
        nonlocal here, most
        here += 1
        most = max(most, here)
        if here == MOST:
            release.set()
        await asyncio.to_thread(release.wait, 20)
        here -= 1

    activations = Activations(shop.home, resume)
    for n in range(MOST + 4):
        activations.start(str(n))
    settled(activations)
    assert most == MOST
    activations.stop()


def test_why_a_run_could_not_go_on_is_kept_until_it_is_tried_again(shop: Shop) -> None:
    """But that another process goes on with it is no trouble."""
    faults: list[Exception] = [ValueError("its file is gone"), InUse("a")]

    async def resume(store: Any, run: str) -> None:
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

    async def resume(store: Any, run: str) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
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
