"""The handed cases of kind connection, on a server that counts its connections and breaks them."""

import asyncio
import pathlib
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.models import ModelSpec, open_model
from loopworth.runs.effects import Effects
from loopworth.runs.events import ModelCalled
from loopworth.runs.executor import execute
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import make
from tests.cases.wire import Played, play
from tests.endpoint import Answer, FakeEndpoint, called, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("connection.yaml"))["cases"]
TOOLS = {"noop": python_tool("noop", lambda: "ok", effect="read", inline=True, description="Does nothing.")}


def half(given: dict[str, Any]) -> Played:
    """The header and half of the body, then nothing."""
    body = said("the whole answer")
    assert "half of the body" in given["server"]
    return play(given, make(), Answer(200, body, cut=len(Answer(200, body).content) // 2), body)


def idle(given: dict[str, Any]) -> Played:
    """One turn goes well; the connection it left is closed under the next request."""
    assert "idle kept-alive" in given["server"]
    return play(given, make(tools=TOOLS), called(("noop", {})), Answer(gone=True), said("the whole answer"))


def event(found: Played) -> ModelCalled:
    """The last model call."""
    return [event for event in found.outcome.events if isinstance(event, ModelCalled)][-1]


def retried(found: Played) -> None:
    call = event(found)
    assert (found.outcome.exit, found.outcome.answer, len(found.sent)) == ("success", "the whole answer", 2)
    assert [(attempt.status, bool(attempt.error)) for attempt in call.attempts] == [(None, True), (200, False)]
    assert [attempt.lost for attempt in call.attempts] == [True, False]
    assert call.usage.estimated  # what is known, and at most what the lost attempt may have used


def on_a_new_connection(found: Played) -> None:
    call = event(found)
    assert (found.outcome.exit, found.outcome.answer, len(found.sent)) == ("success", "the whole answer", 3)
    assert [attempt.status for attempt in call.attempts] == [None, 200]
    assert found.sent[1] == found.sent[2]


PLAYS = {"CN-01": half, "CN-03": idle}
EXPECTED = {
    (
        "Retried; the final answer is right; tokens of the first attempt are unknown; "
        "both attempts are in the transcript."
    ): retried,
    (
        "Tried again on a new connection; the failed attempt is in the transcript without an HTTP status."
    ): on_a_new_connection,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_connection(case: dict[str, Any]) -> None:
    """A connection that breaks is no answer, and no end of the run."""
    found = PLAYS[case["id"]](case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)


async def no_sleep(seconds: float) -> None:
    """No pause."""


def test_a_connection_is_kept_between_turns_and_left_when_it_broke() -> None:
    """The two turns that go well share one; what follows the break has another."""

    async def main(url: str) -> Any:
        model = open_model(ModelSpec("vllm/fake", base_url=url), sleep=no_sleep)
        try:
            return await execute(make(tools=TOOLS), {"q": "hi"}, Effects(Live({"m": model}), tools=Toolbox(TOOLS)))
        finally:
            await model.close()

    script = [called(("noop", {})), called(("noop", {"a": 1})), Answer(gone=True), said("done")]
    with FakeEndpoint(*script) as fake:
        assert asyncio.run(main(fake.base_url)).answer == "done"
        first, second, broken, last = [received.client for received in fake.requests]
    assert first == second == broken != last
