"""The handed cases of kind tool-exception, played through the whole loop. A second of a case is a twentieth here."""

import asyncio
import pathlib
import sys
import threading
import time
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.models import ScriptedModel
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.tool import Tool
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import calls, make, results, run

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("tool-exception.yaml"))["cases"]
SECOND = 0.05
FREE = threading.Event()
"""What the hanging tools wait for; set when a case is over."""


class Played(NamedTuple):
    outcome: Outcome
    seconds: float

    @property
    def told(self) -> str:
        return results(self.outcome)[0]


def cancelled() -> Tool:
    async def probe() -> None:
        raise asyncio.CancelledError

    return python_tool("probe", probe, effect="read")


def exits() -> Tool:
    return python_tool("probe", lambda: sys.exit(3), effect="read")


def cleans_up() -> Tool:
    async def probe() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(60 * SECOND)

    return python_tool("probe", probe, effect="read", timeout=SECOND)


def nested() -> Tool:
    """The outer tool runs a whole loop whose own tool sits in a thread."""
    slow = python_tool("slow_lookup", lambda: FREE.wait(60 * SECOND), effect="read")

    async def probe() -> Any:
        inner = make(tools={"slow_lookup": slow})
        world = Live({"m": ScriptedModel([calls(("slow_lookup", {})), "inner"])})
        return (await execute(inner, {"q": "hi"}, Effects(world, tools=Toolbox(inner.tools)))).answer

    return python_tool("probe", probe, effect="read", timeout=SECOND)


TOOLS = {
    "raises asyncio.CancelledError by itself; nobody cancelled the run": cancelled,
    "calls sys.exit(3)": exits,
    "async, time limit 1 s, its clean-up waits 60 s": cleans_up,
    "outer async tool with a limit of 1 s runs an inner run whose sync tool has no limit": nested,
}


def play(given: dict[str, Any]) -> Played:
    FREE.clear()
    began = time.monotonic()
    try:
        outcome, _ = run(make(tools={"probe": TOOLS[given["tool"]]()}), calls(("probe", {})), "finished")
        return Played(outcome, time.monotonic() - began)
    finally:
        FREE.set()


def goes_on(played: Played) -> None:
    assert (played.outcome.exit, played.outcome.answer) == ("success", "finished")


def own_cancel(played: Played) -> None:
    assert played.outcome.calls[0].status == "tool_error"
    assert played.told == "probe failed: CancelledError (without a message)"
    goes_on(played)


def exit_named(played: Played) -> None:
    assert played.outcome.calls[0].status == "tool_error"
    assert played.told == "probe failed: SystemExit: 3"
    goes_on(played)


def soon(played: Played) -> None:
    assert played.outcome.calls[0].status == "timed_out"
    assert played.told == f"probe gave no answer within {SECOND} s"
    assert SECOND <= played.seconds < 20 * SECOND
    goes_on(played)


def named_as_abandoned(played: Played) -> None:
    why = f"probe gave no answer within {SECOND} s; given up with it, though still running: slow_lookup"
    assert (played.outcome.calls[0].status, played.told) == ("timed_out", why)
    goes_on(played)


EXPECTED = {
    "A tool error result; the run goes on.": own_cancel,
    "The process goes on; the call gets an error result that names the exit.": exit_named,
    "The timed-out result is there shortly after 1 s, not after 61 s.": soon,
    "The inner result is not dropped in silence: it is either waited for or named as abandoned.": named_as_abandoned,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_tool_exception(case):
    """How a tool may end, and every line of what must come of it."""
    played = play(case["given"])
    for line in case["expect"]:
        EXPECTED[line](played)
