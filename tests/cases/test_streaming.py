"""The handed cases of kind streaming, and the stream of kind usage: played over HTTP, in packets, to a real loop."""

import asyncio
import json
import pathlib
import re
import threading
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from loopworth.models import ModelSpec, open_model, prepare
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import ModelCalled
from loopworth.runs.executor import execute
from loopworth.runs.hearing import Delta
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live, Nothing
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import make
from tests.endpoint import Answer, FakeEndpoint

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("streaming.yaml"))["cases"]
PATHS: list[str] = []


def read(path: str) -> str:
    """Read a file."""
    PATHS.append(path)
    return f"content of {path}"


LOOP = make(tools={"read": python_tool("read", read, effect="read", inline=True)})


class Played(NamedTuple):
    outcome: Outcome
    heard: str
    paths: list[str]
    """Those that the tool was called with, in order."""
    asked: dict[str, Any]
    """The body of the first request."""
    again: Outcome
    """The same run, replayed."""

    @property
    def call(self) -> ModelCalled:
        """The first model call."""
        return next(event for event in self.outcome.events if isinstance(event, ModelCalled))

    @property
    def calls(self) -> list[tuple[str, str]]:
        """The calls that stand in the history: name and arguments."""
        wires = next(said.message["tool_calls"] for said in self.outcome.transcript if "tool_calls" in said.message)
        return [(wire["function"]["name"], wire["function"]["arguments"]) for wire in wires]


def stream(*events: dict[str, Any], finish: str = "stop") -> Answer:
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    usage = [event for event in events if "usage" in event]
    said = [event for event in events if "usage" not in event]
    texts = [json.dumps(event) for event in (*said, last, *usage)]
    return Answer(packets=[f"data: {text}\n\n".encode() for text in (*texts, "[DONE]")])


def delta(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def piece(index: int, id: str | None, arguments: str, name: str | None = None) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return delta(tool_calls=[{"index": index, "function": function} | ({} if id is None else {"id": id})])


def mixed(order: list[int]) -> Answer:
    """Two calls whose halves come in this order of their index; only the first half has an id and a name."""
    halves = {0: ['{"path"', ': "a"}'], 1: ['{"path"', ': "b"}']}
    first = {k: (f"c{k}", "read") for k in order}
    pieces = []
    for k in order:
        id, name = first.pop(k, (None, None))
        pieces.append(piece(k, id, halves[k].pop(0), name))
    return stream(*pieces, finish="tool_calls")


def chunks(given: dict[str, Any]) -> Answer:
    """What a case streams."""
    if "chunks" in given:
        pieces = [piece(c["index"], c["id"], c["arguments"], c.get("name")) for c in given["chunks"]]
        return stream(*pieces, finish="tool_calls")
    if isinstance(given["stream"], str):  # two calls whose pieces come mixed: index 0, 1, 0, 1
        return mixed([int(index) for index in re.findall(r"\d", given["stream"])])
    events = []
    for chunk in given["stream"]:
        if chunk.startswith("text chunk "):
            events.append(delta(content=chunk.removeprefix("text chunk ")))
        else:
            numbers = [int(number) for number in re.findall(r"\d+", chunk)]
            events.append(
                {"choices": [], "usage": dict(zip(("prompt_tokens", "completion_tokens"), numbers, strict=True))}
            )
    return stream(*events)


def play(*script: Any, hear: bool = True, time: float | None = None) -> Played:
    PATHS.clear()
    limits = Limits(turns=9, time=time)
    heard: list[Delta] = []
    journal = MemoryJournal()

    async def sleep(seconds: float) -> None:
        """Pauses are not waited for."""

    async def main(url: str) -> Outcome:
        model = open_model(ModelSpec("vllm/fake", base_url=url), sleep=sleep)
        await prepare(model)
        world = Live({"m": model}, hear=heard.append if hear else None)
        try:
            return await execute(LOOP, {"q": "hi"}, Effects(world, journal, Budget(limits), Toolbox(LOOP.tools)))
        finally:
            await model.close()

    with FakeEndpoint(*script) as fake:
        outcome = asyncio.run(main(fake.base_url))
        asked = fake.requests[0].body
    paths = list(PATHS)
    replayed = Effects(Nothing(), MemoryJournal(journal.records), Budget(limits), Toolbox(LOOP.tools))
    again = asyncio.run(execute(LOOP, {"q": "hi"}, replayed))
    return Played(outcome, "".join(delta.text for delta in heard), paths, asked, again)


def two_calls(found: Played) -> None:
    assert found.paths == ["a", "b"]
    assert found.calls == [("read", '{"path": "a"}'), ("read", '{"path": "b"}')]


def in_index_order(found: Played) -> None:
    """Also where the second begins first."""
    two_calls(found)
    two_calls(play(mixed([1, 0, 1, 0]), stream(delta(content="done"))))


def one_call(found: Played) -> None:
    assert found.paths == ["a"]
    assert found.calls == [("read", '{"path": "a"}')]


def once_counted(found: Played) -> None:
    assert (found.outcome.usage.input, found.outcome.usage.output, found.outcome.usage.tokens) == (120, 80, 200)
    assert (found.outcome.exit, found.outcome.answer, found.heard) == ("success", "ab", "ab")
    assert found.asked["stream_options"] == {"include_usage": True}


EXPECTED = {
    "Two calls with paths a and b; nothing is glued together.": two_calls,
    "A blank id in a later piece does not start another call.": one_call,
    "Both calls complete and in index order.": in_index_order,
    "200 tokens counted once; the chunk without choices raises nothing and adds no text.": once_counted,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_streaming(case: dict[str, Any]) -> None:
    """A streamed reply is the reply, whatever its pieces are; the replay is the run."""
    found = play(chunks(case["given"]), stream(delta(content="done")))
    for line in case["expect"]:
        EXPECTED[line](found)
    assert (found.again.events, found.again.transcript) == (found.outcome.events, found.outcome.transcript)


TEXTS = st.text(alphabet="ab 🙂\n", max_size=6)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(TEXTS, st.integers(1, 40), st.integers(0, 2))
def test_a_run_is_the_same_streamed_or_not(text: str, size: int, calls: int) -> None:
    """Same answer, same messages, same usage; only the wall differs, and who listened."""
    wires = [
        {"id": f"c{k}", "type": "function", "function": {"name": "read", "arguments": f'{{"path": "{k}"}}'}}
        for k in range(calls)
    ]
    message = {"role": "assistant", "content": text} | ({"tool_calls": wires} if wires else {})
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    finish = "tool_calls" if wires else "stop"
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}
    pieces = [delta(content=text), *(delta(tool_calls=[{"index": k, **wire}]) for k, wire in enumerate(wires))]
    texts = [
        json.dumps(event)
        for event in [*pieces, {"choices": [{"delta": {}, "finish_reason": finish}]}, {"usage": usage}]
    ]
    content = "".join(f"data: {text}\n\n" for text in (*texts, "[DONE]")).encode()
    cut = Answer(packets=[content[k : k + size] for k in range(0, len(content), size)])
    end = {"choices": [{"message": {"content": "done"}, "finish_reason": "stop"}]}
    streamed, plain = play(cut, end), play(body, end, hear=False)
    assert "stream" not in plain.asked
    assert streamed.outcome.transcript == plain.outcome.transcript
    same = ("answer", "exit", "note", "usage", "model_calls", "tool_calls")
    assert [getattr(streamed.outcome, name) for name in same] == [getattr(plain.outcome, name) for name in same]


@pytest.mark.parametrize("more", [[], [b": keep-alive\n\n"], [b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n']])
def test_a_stream_that_breaks_off_is_asked_for_again(more: list[bytes]) -> None:
    """Nothing final came: what it said is heard but not kept, its tokens are unknown, and at most the output that was
    allowed; both attempts stand on the event."""
    half = Answer(packets=[b'data: {"choices": [{"delta": {"content": "ha "}}]}\n\n', *more], cut=0)
    usage = {"usage": {"prompt_tokens": 10, "completion_tokens": 5}}
    found = play(half, stream(delta(content="whole"), usage))
    call = found.call
    assert (found.outcome.answer, [attempt.lost for attempt in call.attempts]) == ("whole", [True, False])
    assert found.heard.startswith("ha")
    assert found.heard.endswith("whole")
    assert (call.usage.input, call.usage.output, call.usage.estimated) == (20, 5 + found.asked["max_tokens"], True)


def test_a_stream_that_breaks_after_its_end_is_whole() -> None:
    """Only what it used is missing, and so unknown."""
    whole = b'data: {"choices": [{"delta": {"content": "whole"}, "finish_reason": "stop"}]}\n\n'
    found = play(Answer(packets=[whole], cut=0))
    call = found.call
    assert (found.outcome.answer, len(call.attempts), call.usage.output) == ("whole", 1, None)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, "<html>no</html>", {"Content-Type": "text/html"}),
        Answer(
            packets=[
                b'data: {"choices": [{"delta": {"content": "ha"}}]}\n\n',
                b'data: {"error": {"message": "no"}}\n\n',
            ]
        ),
        Answer(packets=[b"event: error\ndata: no\n\n"]),
        Answer(packets=[b'data: {"choi\n\n']),
        Answer(packets=[b"data: [DONE]\n\n"]),
        Answer(packets=[b": only comments\n\n"]),
        Answer(packets=[]),
    ],
)
def test_what_is_no_reply_is_asked_for_again(answer: Answer) -> None:
    """A page, an error amid the stream, an event that is not JSON, a stream of nothing."""
    found = play(answer, stream(delta(content="whole")))
    assert (found.outcome.answer, len(found.call.attempts)) == ("whole", 2)


def test_a_body_in_answer_to_a_wish_for_a_stream_is_the_reply() -> None:
    """Not every server streams; what it says is heard all the same."""
    found = play(
        {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}
    )
    assert (found.outcome.answer, found.heard, found.outcome.usage.input) == ("whole", "whole", 1)


def test_a_server_that_takes_no_stream_options_is_asked_without() -> None:
    """Its usage is then unknown, and the run says what was left out."""
    refusal = Answer(400, {"error": {"message": "Unrecognized request argument supplied: stream_options"}})
    found = play(refusal, stream(delta(content="whole")))
    assert (found.outcome.answer, found.outcome.usage.output) == ("whole", None)
    assert "stream_options" in " ".join(found.call.warnings)


def test_a_deadline_leaves_what_was_said_and_paid() -> None:
    """The run ends at its limit; the record has the words so far, the event what was used, and the replay is the same.
    No tool is called that was only half asked for."""
    never = threading.Event()
    usage = {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}
    events = [delta(content="I read a ") | usage, piece(0, "c", '{"path": ', "read") | usage]
    packets = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    try:
        found = play(Answer(packets=[*packets, never.wait]), time=1.5)
    finally:
        never.set()
    outcome = found.outcome
    assert (outcome.exit, outcome.note, found.paths) == ("time_limit", "time: 1.5s", [])
    assert outcome.transcript[-1].message == {"role": "assistant", "content": "I read a "}
    assert (outcome.usage.input, outcome.usage.output, outcome.usage.estimated) == (9, 4, False)
    same = ("exit", "note", "events", "transcript", "usage")
    assert [getattr(found.again, name) for name in same] == [getattr(outcome, name) for name in same]
