"""One cell of the grid, played: a real loop over HTTP, against a server that holds requests to the rules."""

import asyncio
import json
from typing import Any, NamedTuple

from loopworth.models import ModelSpec, open_model
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.hearing import Delta
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import make
from tests.conformance.rules import faults
from tests.endpoint import Answer, FakeEndpoint, Received

FRAMES = {"openai": "data: {}\n\n", "anthropic": "event: {type}\ndata: {}\n\n", "ollama": "{}\n"}
"""How each dialect writes one event of a stream."""


class Played(NamedTuple):
    outcome: Outcome
    sent: list[dict[str, Any]]
    slept: list[float]
    faults: list[str]
    heard: str
    """The text that was told while it came, where a turn streams."""


def weather(city: str) -> str:
    """Say how warm it is in a city."""
    return f"18 degrees in {city}"


TOOLS = {"weather": python_tool("weather", weather, effect="read", inline=True)}


def answer(turn: dict[str, Any], dialect: str) -> Answer:
    """A turn as an answer: a body, or the `events` of a stream with the text `end` after them. `cut` breaks the
    connection after so many events."""
    headers = turn.get("headers", {})
    if "events" not in turn:
        return Answer(turn.get("status", 200), turn["body"], headers)
    kind = "application/x-ndjson" if dialect == "ollama" else "text/event-stream"
    frames = [framed(event, dialect) for event in turn["events"]]
    content = "".join(frames) + turn.get("end", "")
    cut = sum(len(frame.encode()) for frame in frames[: turn["cut"]]) if "cut" in turn else None
    return Answer(turn.get("status", 200), content, {"Content-Type": kind, **headers}, cut)


def framed(event: dict[str, Any], dialect: str) -> str:
    frame = FRAMES[dialect].replace("{type}", str(event.get("type", "")))
    return frame.replace("{}", json.dumps(event, ensure_ascii=False))


def play(dialect: str, turns: list[dict[str, Any]], model: dict[str, Any], protocol: str = "native") -> Played:
    """Run a loop against these turns; pauses are noted, and not slept."""
    slept: list[float] = []
    found: list[str] = []
    heard: list[Delta] = []
    hear = heard.append if any("events" in turn for turn in turns) else None

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    def turn(answered: Answer) -> Any:
        def checked(received: Received) -> Answer:
            wrong = faults(dialect, received.path, received.headers, received.body)
            found.extend(wrong)
            return Answer(400, {"error": {"message": "; ".join(wrong)}}) if wrong else answered

        return checked

    async def main(url: str) -> Outcome:
        spec = ModelSpec("vllm/fake", base_url=url, dialect=dialect, **{"max_tokens": 64, **model})
        asked = open_model(spec, sleep=sleep)
        loop = make(tools=TOOLS, protocol=protocol)
        try:
            fx = Effects(Live({"m": asked}, hear=hear), None, Budget(Limits(turns=10)), Toolbox(loop.tools))
            return await execute(loop, {"q": "How warm is it in Paris?"}, fx)
        finally:
            await asked.close()

    with FakeEndpoint(*(turn(answer(one, dialect)) for one in turns)) as fake:
        outcome = asyncio.run(main(fake.base_url))
        told = "".join(delta.text for delta in heard)
        return Played(outcome, [received.body for received in fake.requests], slept, found, told)
