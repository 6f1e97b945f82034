"""The handed cases of kind usage: what an endpoint counts is counted once, and what it does not say is unknown."""

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.runs.budget import Limits
from loopworth.runs.events import ModelCalled
from tests.agents.kit import make
from tests.cases.wire import play
from tests.endpoint import Answer, said
from tests.workflows.played import Played, pipeline, scripted

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("usage.yaml"))["cases"]
EXPECTED: dict[str, Callable[[dict[str, Any], pathlib.Path], None]] = {}


def expected(line: str) -> Callable[..., Any]:
    return lambda check: EXPECTED.setdefault(line, check)


def counted(usage: Any) -> Any:
    """The outcome of a run whose only call counts this."""
    return play({}, make(), said("an answer", usage=usage)).outcome


@expected("The run ends normally; tokens and cost of this call are unknown, not 0.")
def unknown(given: dict[str, Any], _: pathlib.Path) -> None:
    outcome = counted(given["body"]["usage"])
    assert outcome.exit == "success"
    assert (outcome.usage.input, outcome.usage.output, outcome.usage.usd) == (None, None, None)


@expected("12 prompt tokens are counted, output is unknown, nothing raises after the paid call.")
def in_part(given: dict[str, Any], _: pathlib.Path) -> None:
    outcome = counted(given["usage"])
    assert outcome.exit == "success"
    assert (outcome.usage.input, outcome.usage.output, outcome.usage.counted) == (12, None, 12)


@expected("200 tokens counted once; the chunk without choices raises nothing and adds no text.")
def streamed(given: dict[str, Any], _: pathlib.Path) -> None:
    chunks = [chunk_of(words) for words in given["stream"]]
    stop = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = [*chunks[:-1], stop, chunks[-1]]
    content = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    outcome = play({}, make(), Answer(200, content, {"Content-Type": "text/event-stream"})).outcome
    assert (outcome.exit, outcome.answer) == ("success", "ab")
    assert (outcome.usage.input, outcome.usage.output, outcome.usage.tokens) == (120, 80, 200)


def chunk_of(words: str) -> dict[str, Any]:
    """The chunk that a line of the case describes."""
    if words.startswith("text chunk "):
        return {"choices": [{"index": 0, "delta": {"content": words.removeprefix("text chunk ")}}]}
    assert words == "chunk with empty choices and usage prompt 120, completion 80"
    return {"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 80, "total_tokens": 200}}


@expected("The step total is 330; each attempt is listed.")
def attempts(given: dict[str, Any], folder: pathlib.Path) -> None:
    tokens = [attempt["tokens"] for attempt in given["attempts"]]
    replies = [
        {
            "text": '{"answer": 7}' if attempt["valid"] else "seven",
            "usage": {"input": attempt["tokens"] - 10, "output": 10},
        }
        for attempt in given["attempts"]
    ]
    step = "{id: a, ask: How many?, output: int, retry: {attempts: 2}}"
    played = Played(folder, pipeline(step, answer='"{{ a }}"', top=scripted(*map(json.dumps, replies))))
    assert played.outcome.exit == "success"
    calls = [event for event in played.outcome.events if isinstance(event, ModelCalled)]
    assert [event.usage.tokens for event in calls] == tokens
    assert all(event.at.startswith("a") for event in calls)
    assert played.outcome.usage.tokens == sum(tokens) == 330


@expected(
    "The gap of 2000 is not lost: it is shown as other output or the mismatch is flagged; the token budget uses the "
    "larger figure."
)
def gap(given: dict[str, Any], _: pathlib.Path) -> None:
    outcome = counted(given["usage"])
    assert (outcome.usage.input, outcome.usage.output, outcome.usage.reasoning) == (15, 2150, 2000)
    assert outcome.usage.tokens == 2165
    turn = {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "poll", "arguments": "{}"}}]}
    body = {"choices": [{"message": turn, "finish_reason": "tool_calls"}], "usage": given["usage"]}
    assert play({}, make(), body, said("more"), limits=Limits(turns=9, tokens=2165)).outcome.exit == "token_limit"
    assert play({}, make(), body, said("more"), limits=Limits(turns=9, tokens=9000)).outcome.exit == "success"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_usage(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """Counted once, never lost, never made up."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)
