"""The handed cases of kind event-loop. A second of a case is so many ticks of a heartbeat here, and 20 s last until the
rest is done: nothing sleeps."""

import asyncio
import pathlib
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.models import ScriptedModel
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import calls, make, results
from tests.web import kit
from tests.web.kit import DOZES, Shop, browsing, settled

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("event-loop.yaml"))["cases"]
SECOND = 100


class Heart:
    """Beats once in every turn of the event loop; a thread may block until it has beaten so many times more."""

    def __init__(self) -> None:
        self.changed, self.beats = threading.Condition(), 0

    async def beat(self) -> None:
        while True:
            with self.changed:
                self.beats += 1
                self.changed.notify_all()
            await asyncio.sleep(0.001)

    def sleep(self, beats: int) -> bool:
        """Block this thread; False if the heart stood still."""
        with self.changed:
            until = self.beats + beats
            return self.changed.wait_for(lambda: self.beats >= until, 10)


class Played(NamedTuple):
    outcome: Outcome
    beats: int
    """Of the whole run."""


def play(given: dict[str, Any]) -> Played:
    assert given["assistant_message"] == "two calls, each to a sync tool that sleeps 1 s"
    heart = Heart()

    def doze(name: str) -> str:
        return f"{name} done" if heart.sleep(SECOND) else "the event loop stood still"

    tools = {"doze": python_tool("doze", doze, effect="read", description="Sleeps.", timeout=60)}
    loop = make(tools=tools)
    model = ScriptedModel([calls(("doze", {"name": "a"}), ("doze", {"name": "b"})), "finished"])

    async def main() -> Outcome:
        beating = asyncio.ensure_future(heart.beat())
        try:
            fx = Effects(Live({"m": model}), budget=Budget(Limits(turns=5)), tools=Toolbox(tools))
            return await execute(loop, {"q": "hi"}, fx)
        finally:
            beating.cancel()

    return Played(asyncio.run(main()), heart.beats)


def about_a_second(found: Played) -> None:
    assert results(found.outcome) == ["a done", "b done"]
    assert SECOND <= found.beats < 2 * SECOND


class Browsed(NamedTuple):
    """What was answered while the tool slept, and whether it slept to the end of that."""

    page: str
    approved: int
    asleep: bool
    woken: Any
    paid: list[str]


def browse(given: dict[str, Any], shop: Shop) -> Browsed:
    """The tool wakes when both have answered: were they to wait for it, it would say that nobody woke it."""
    assert given["event"] == "a sync tool sleeps 20 s while the approvals page is open"
    sleeper, other = shop.waits("Ann", text=DOZES), shop.waits("Bob")
    kit.ASLEEP.clear()
    kit.AWAKE.clear()
    with browsing(shop) as (tab, activations):
        tab.decide(shop.questions(sleeper)[0], "approve")
        asleep = kit.ASLEEP.wait(20)
        page = tab.get("/").text
        approved = tab.decide(shop.questions(other)[0], "approve").status_code
        settled(activations, but=sleeper)
        asleep = asleep and sleeper in activations.under_way
        kit.AWAKE.set()
        settled(activations)
    outcome = shop.shelf().outcome(sleeper)
    assert outcome is not None
    return Browsed(page, approved, asleep, outcome.answer, shop.paid)


def answered_meanwhile(found: Browsed) -> None:
    assert found.asleep
    assert found.woken == "woke"
    assert "Waiting for a decision" in found.page
    assert found.approved == 303
    assert found.paid == ["Ann 1", "Ann 250"]


EXPECTED: dict[str, Callable[[Any], None]] = {
    "Both done after about 1 s; a heartbeat on the loop ticks all the while.": about_a_second,
    "The page and the approve button still answer within a second.": answered_meanwhile,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_event_loop(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """A tool that blocks, blocks its thread."""
    found = browse(case["given"], Shop(tmp_path)) if case["area"] == "web" else play(case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)
