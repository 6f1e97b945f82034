"""Ctrl-C: what was done is shown, and nothing holds the process."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.cli.kit import Terminal

CODE = """
import asyncio, os, sys, time
import typer
from loopworth.cli.interruption import finish
from loopworth.cli.status import culprits

async def work():
    try:
        asyncio.get_running_loop().call_soon(print, "STARTED")
        await asyncio.to_thread(time.sleep, 30)
    except asyncio.CancelledError:
        {then}

def show(what):
    print("SHOWN", what)
    return 130

try:
    finish(work(), show)
except typer.Exit as end:
    sys.exit(end.exit_code)
"""


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("return 'the part that is done'", "SHOWN the part that is done"),
        ("raise", "interrupted"),
        ("asyncio.current_task().cancel(); await asyncio.sleep(30)", "interrupted"),
    ],
)
def test_a_thread_that_hangs_does_not_hold_the_process(then: str, said: str) -> None:
    """Work that returns its part is shown; work that has none, or is cancelled again while it puts that together, says
    `interrupted`; all leave at once with 130."""
    terminal = Terminal("-c", CODE.format(then=then))
    terminal.until("STARTED")
    began = time.monotonic()
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.close() == 130, terminal.seen
    assert time.monotonic() - began < 20
    assert said in terminal.seen
    assert "Traceback" not in terminal.seen
