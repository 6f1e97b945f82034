"""The handed cases of kind timing. A second of a case is a twentieth here."""

import asyncio
import pathlib
import threading
import time
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.comparisons.export import document
from loopworth.models import ModelSpec, open_model, prepare
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import ModelCalled, ToolCalled
from loopworth.runs.executor import execute
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import make
from tests.comparisons.contenders import Asks, Endpoint, arm, compared, comparison
from tests.endpoint import Answer, FakeEndpoint, called

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("timing.yaml"))["cases"]
SECOND, LIMIT = 0.05, 1.0
HERE = ModelSpec("vllm/here")


class Played(NamedTuple):
    trials: list[dict[str, Any]]
    """As the report's JSON has them."""
    outcome: Outcome | None = None


def sampled() -> Played:
    """Ten samples, each of one call of a second, on a server with one slot."""

    async def slow(question: str) -> str:
        await asyncio.sleep(SECOND)
        return question

    model = Endpoint(lambda question, _: slow(question), concurrency=1)
    result = compared(comparison([arm("a", Asks(HERE.key), HERE)], 10), {"vllm/here": model})
    return Played(document(result)["trials"])


def set_back(monkeypatch: pytest.MonkeyPatch) -> Played:
    """A run whose second turn hangs, limited in time; the system's clock goes back by an hour in the first."""
    wall = [1_800_000_000.0]
    monkeypatch.setattr(time, "time", lambda: wall[0])

    def tick() -> str:
        wall[0] -= 3600
        return "ok"

    never = threading.Event()
    tools = {"tick": python_tool("tick", tick, effect="read", description="Ticks.")}

    async def main(url: str) -> Outcome:
        model = open_model(ModelSpec("vllm/fake", base_url=url), now=time.time)
        await prepare(model)
        try:
            fx = Effects(Live({"m": model}), budget=Budget(Limits(time=LIMIT)), tools=Toolbox(tools))
            return await execute(make(tools=tools), {"q": "hi"}, fx)
        finally:
            never.set()
            await model.close()

    with FakeEndpoint(called(("tick", {})), Answer(packets=[lambda: never.wait(20 * LIMIT)])) as fake:
        return Played([], asyncio.run(main(fake.base_url)))


def apart(found: Played) -> None:
    last = found.trials[-1]
    assert len(found.trials) == 10
    assert SECOND <= last["latency"] < 4 * SECOND
    assert last["queued"] >= 9 * SECOND
    assert [trial["queued"] for trial in found.trials] == sorted(trial["queued"] for trial in found.trials)


def never_negative(found: Played) -> None:
    outcome = found.outcome
    assert outcome is not None
    timed = [event for event in outcome.events if isinstance(event, ModelCalled | ToolCalled)]
    assert [type(event) for event in timed] == [ModelCalled, ToolCalled, ModelCalled]
    assert all(event.began >= 0 and event.seconds >= 0 for event in timed)
    assert [event.began for event in timed] == sorted(event.began for event in timed)
    assert outcome.exit == "time_limit"
    assert LIMIT <= outcome.seconds < 10 * LIMIT
    assert 0 <= outcome.latency <= outcome.seconds


EXPECTED = {
    "The last sample's latency is about 1 s and its queue wait about 9 s, shown apart.": apart,
    "No negative time; limits still work.": never_negative,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_timing(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured is the work, on a clock that only goes forward."""
    found = sampled() if "samples" in case["given"] else set_back(monkeypatch)
    for line in case["expect"]:
        EXPECTED[line](found)
