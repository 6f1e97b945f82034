"""Run something asynchronous to its end, or to the user's Ctrl-C, and leave the process in time."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import typer

from loopworth.cli.status import INTERRUPTED
from loopworth.cli.terminal import complain, results

T = TypeVar("T")


def finish(work: Coroutine[Any, Any, T], show: Callable[[T], int]) -> None:
    """Run `work`, show what came of it, and exit with the status that `show` returns.

    The first Ctrl-C, or what else ends a process, cancels the work, which then returns what it has; a second one gives
    up on that. An interrupted process leaves at once: a tool's thread that hangs is not waited for.
    """
    with asyncio.Runner() as runner:
        try:
            status = show(runner.run(heeding(work)))
        except (KeyboardInterrupt, asyncio.CancelledError):
            complain("interrupted")
            status = INTERRUPTED
        if status == INTERRUPTED:
            leave(status)
    raise typer.Exit(status)


async def heeding(work: Coroutine[Any, Any, T]) -> T:
    """The same work, woken by a signal: one that comes just before the event loop begins to wait would else be seen
    only when something else happens."""
    loop = asyncio.get_running_loop()
    near, far = socket.socketpair()
    with near, far:
        for end in (near, far):
            end.setblocking(False)
        before = signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)
        try:
            loop.add_reader(near, near.recv, 64)
        except NotImplementedError:  # Windows' event loop watches no files, and is woken without
            signal.set_wakeup_fd(before)
            return await work
        try:
            return await work
        finally:
            loop.remove_reader(near)
            signal.set_wakeup_fd(before)


def leave(status: int) -> None:
    """End the process now, with all that was printed."""
    results().flush()
    sys.stderr.flush()
    os._exit(status)
