"""Run something asynchronous to its end, or to the user's Ctrl-C, and leave the process in time."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import typer

from loopworth.cli.status import INTERRUPTED
from loopworth.cli.terminal import complain

T = TypeVar("T")


def finish(work: Coroutine[Any, Any, T], show: Callable[[T], int]) -> None:
    """Run `work`, show what came of it, and exit with the status that `show` returns.

    The first Ctrl-C cancels the work, which then returns what it has; a second one gives up on that. An interrupted
    process leaves at once: a tool's thread that hangs is not waited for.
    """
    with asyncio.Runner() as runner:
        try:
            status = show(runner.run(work))
        except KeyboardInterrupt:
            complain("interrupted")
            status = INTERRUPTED
        if status == INTERRUPTED:
            leave(status)
    raise typer.Exit(status)


def leave(status: int) -> None:
    """End the process now, with all that was printed."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
