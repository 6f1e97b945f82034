"""Whatever an endpoint answers, in any dialect: it is read or it is trouble, and a run over it ends and can be told."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from loopworth.agents.native import Native
from loopworth.models import ModelSpec, open_model
from loopworth.models.dialects import DIALECTS
from loopworth.models.errors import Trouble
from loopworth.models.wire import decode, encode
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.exit import BAD_FINISH
from loopworth.runs.message import Reply, Request, user
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.type_expression import parse_type
from tests.agents.kit import make
from tests.conformance.play import TOOLS, answer
from tests.conformance.rules import faults
from tests.endpoint import Answer, FakeEndpoint

PATHS = {"openai": "/v1/chat/completions", "ollama": "/api/chat", "anthropic": "/v1/messages"}
WORDS = (
    *(
        "choices",
        "message",
        "finish_reason",
        "error",
        "usage",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "name",
    ),
    *("id", "type", "text", "refusal", "role", "code", "status", "param", "detail", "loc", "msg", "innererror"),
    *("done", "done_reason", "thinking", "prompt_eval_count", "eval_count", "blocks", "reasoning_content"),
    *("stop_reason", "stop_details", "category", "input", "tool_use", "tool_use_id", "signature", "input_tokens"),
    *("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "cached_tokens", "delta", "index"),
    *("output_tokens_details", "content_filter_results", "filtered", "reasons", "function_call", "retry_after"),
)
SAID = (
    "assistant",
    "stop",
    "length",
    "tool_calls",
    "tool_use",
    "refusal",
    "content_filter",
    "weather",
    "{}",
    "<think>",
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(SAID)
    | st.text(max_size=6)
    | st.just('{"city": "Paris"}')
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=20,
)
CALL = st.fixed_dictionaries({}, optional={"id": JSON, "type": LEAVES, "function": JSON, "name": LEAVES, "input": JSON})
MESSAGE = st.dictionaries(st.sampled_from(WORDS), JSON, max_size=4) | st.fixed_dictionaries(
    {"tool_calls": st.lists(CALL, max_size=3) | CALL}, optional={"content": JSON, "role": LEAVES}
)
BLOCK = CALL.map(lambda call: {**call, "type": "tool_use"}) | st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "thinking", "tool_use", "server_tool_use"])},
    optional={"text": JSON, "id": LEAVES},
)
BODIES = {
    "openai": st.fixed_dictionaries(
        {
            "choices": st.lists(
                st.fixed_dictionaries({"message": MESSAGE}, optional={"finish_reason": LEAVES}), max_size=2
            )
        },
        optional={"usage": JSON, "error": JSON},
    ),
    "ollama": st.fixed_dictionaries(
        {"message": MESSAGE}, optional={"done": LEAVES, "done_reason": LEAVES, "eval_count": LEAVES, "error": JSON}
    ),
    "anthropic": st.fixed_dictionaries(
        {"content": st.lists(BLOCK | JSON, max_size=4)},
        optional={"stop_reason": LEAVES, "stop_details": JSON, "usage": JSON, "error": JSON},
    ),
}
STATUSES = st.sampled_from([200, 200, 200, 400, 404, 429, 500])
FINISHES = {"stop", "tool_calls", *BAD_FINISH}
SPEECH = Native(list(TOOLS.values()), parse_type("str"), "text")


def taken(dialect: str, status: int, body: Any) -> Reply | Trouble:
    found = DIALECTS[dialect].trouble(status, body, {}, 0.0)
    return DIALECTS[dialect].read(body, 64, 1) if found is None else found


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
@settings(max_examples=100)
def test_any_body_is_a_reply_or_trouble(dialect: str, data: st.DataObject) -> None:
    """Nothing raises; a reply is whole, and the next request with it in the history is one that the provider takes."""
    body = data.draw(BODIES[dialect] | JSON)
    found = taken(dialect, data.draw(STATUSES), body)
    if isinstance(found, Trouble):
        assert found.words
        return
    assert found.finish in FINISHES
    assert isinstance(found.text, str)
    assert isinstance(found.note, str)
    ids = [call.id for call in found.calls]
    assert len(set(ids)) == len(ids)
    assert all(
        isinstance(call.tool, str) and isinstance(id, str) and id for call, id in zip(found.calls, ids, strict=True)
    )
    usage = found.usage
    assert all(count is None or count >= 0 for count in (usage.input, usage.output, usage.cached, usage.reasoning))
    if found.calls or found.text.strip():
        held_to_the_rules(dialect, found)


def held_to_the_rules(dialect: str, reply: Reply) -> None:
    """The turn goes back to the provider as it wants it."""
    seen = [Observation(call.id, call.tool, "unknown_tool", "no") for call in reply.calls]
    history = [user("hi"), *SPEECH.show(reply, seen), user("Go on.")]
    sent = DIALECTS[dialect].body(ModelSpec("vllm/fake"), Request(history, tools=SPEECH.tools), 64)
    again = decode(encode(sent))
    assert faults(dialect, PATHS[dialect], {"anthropic-version": ""}, again) == []


def ended(dialect: str, *answers: Answer) -> Outcome:
    """A run over these answers, and no more attempts than one each."""

    async def main(url: str) -> Outcome:
        model = open_model(ModelSpec("vllm/fake", base_url=url, dialect=dialect, retries=0, max_tokens=64))
        try:
            fx = Effects(Live({"m": model}), None, Budget(Limits(turns=4)), Toolbox(TOOLS))
            return await execute(make(tools=TOOLS), {"q": "hi"}, fx)
        finally:
            await model.close()

    with FakeEndpoint(*answers) as fake:
        return asyncio.run(main(fake.base_url))


def told(outcome: Outcome) -> None:
    """It ended for a reason that is no bug of ours, and all of it can be written down."""
    assert outcome.exit != "harness_error", outcome.traceback
    assert outcome.exit == "success" or outcome.note
    for said in outcome.transcript:
        json.loads(json.dumps(said.message, allow_nan=False))
    assert all(isinstance(said.message["role"], str) for said in outcome.transcript)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
def test_a_run_over_any_bodies_ends_and_can_be_told(dialect: str, data: st.DataObject) -> None:
    """One to three answers of any shape and status, over HTTP, through a real loop."""
    bodies = data.draw(st.lists(st.tuples(STATUSES, BODIES[dialect] | JSON), min_size=1, max_size=3))
    told(ended(dialect, *(Answer(status, body) for status, body in bodies)))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(
    content=st.binary(max_size=40) | st.sampled_from([b"data: {", b"[" * 5000, b"\xff\xfe{}", b"{}" * 3, b'"\\ud800"'])
)
@example(content=b"")
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
def test_a_run_over_any_bytes_ends_and_can_be_told(dialect: str, content: bytes) -> None:
    """What is no JSON is no reply."""
    outcome = ended(dialect, Answer(200, content))
    told(outcome)
    assert outcome.exit == "provider_error"


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
def test_a_run_over_any_events_ends_and_can_be_told(dialect: str, data: st.DataObject) -> None:
    """A stream of any events, in the provider's framing."""
    events = data.draw(
        st.lists(BODIES[dialect] | st.dictionaries(st.sampled_from(WORDS), JSON, max_size=4), max_size=4)
    )
    told(ended(dialect, answer({"events": events, "end": ""}, dialect)))
