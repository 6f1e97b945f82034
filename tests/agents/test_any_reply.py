"""Whatever an endpoint answers, a loop ends in an exit reason, with a readable record, and a replay ends the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, get_args

from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopworth.agents.compaction import Compaction
from loopworth.agents.last_word import last_word
from loopworth.agents.loop import Loop
from loopworth.agents.protocols import PROTOCOLS
from loopworth.models import ModelSpec
from loopworth.models.chat import ChatModel
from loopworth.models.endpoint import Endpoint
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import ModelCalled, ToolCalled
from loopworth.runs.executor import execute
from loopworth.runs.exit import Exit
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.message import system, user
from loopworth.runs.outcome import Outcome, Stop
from loopworth.runs.replay import Replayed
from loopworth.runs.usage import Usage
from loopworth.runs.world import Live
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.type_expression import parse_type
from tests.agents.conversation import faults, refused
from tests.agents.kit import TOOLS
from tests.workflows.played import untimed


class Client:
    """In place of the HTTP client: gives these answers (status, body) in order, and then plain text."""

    def __init__(self, answers: list[tuple[int, Any]]) -> None:
        self.answers = answers

    async def post(self, url: str, **_: Any) -> Response:
        status, said = self.answers.pop(0) if self.answers else (200, wire({"content": "done"}))
        return Response(status, said if isinstance(said, bytes) else json.dumps(said).encode())


class Response:
    def __init__(self, status: int, content: bytes) -> None:
        self.status_code, self.content, self.headers = status, content, dict[str, str]()

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.content), 4096):
            yield self.content[start : start + 4096]

    async def aclose(self) -> None:
        """Nothing is open."""


async def nap(seconds: float) -> None:
    """No time passes."""


class Model(ChatModel):
    """Keeps what it was asked and what it said it used; what it is asked is a conversation, or the test fails."""

    def __init__(self, answers: list[tuple[int, Any]]) -> None:
        server = Endpoint("http://127.0.0.1:9/v1", client=Client(answers), sleep=nap)
        super().__init__(ModelSpec("vllm/m", base_url=server.base_url, retries=1), server)
        self.used, self.strange = Usage(), list[str]()

    async def reply(self, request: Any, seconds: float | None, hear: Any = None) -> Any:
        self.strange += refused(request.messages)
        try:
            reply = await super().reply(request, seconds)
        except Stop:
            self.used += Usage(None, None, usd=None)
            raise
        self.used += reply.usage
        return reply


def wire(message: Any, finish: Any = "stop", usage: Any = None) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.just(2**70) | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["lookup", "pay", "poll", "submit", "look", "", "a b\n", None, 7])
ARGUMENTS = st.sampled_from(
    ['{"code": "A"}', '{"code": ', '{"amount": 5}', '{"answer": 3}', '{"answer": "x"}', "{}", "[", '"{}"', "null"]
)
IDS = st.sampled_from(["c1", "c2", "", None, 7])
CALL = st.fixed_dictionaries(
    {"id": IDS, "function": st.fixed_dictionaries({"name": NAMES, "arguments": ARGUMENTS | JSON})}
)
TEXTS = st.sampled_from(
    [
        *("", "3", "I think so.", '{"answer": 3}', '{"tool": "lookup", "arguments": {"code": "A"}}', "Answer: 3"),
        *('Action: lookup {"code": "A"}', 'Thought: hm\nAction: pay {"amount": 5}', "\ud800", "```json\n{}\n```"),
    ]
)
USAGE = st.none() | st.fixed_dictionaries(
    {"prompt_tokens": st.integers(0, 900) | JSON, "completion_tokens": st.integers(0, 90) | JSON}
)
FINISH = st.sampled_from(["stop", "tool_calls", "length", "content_filter", None, "banana", "error", 7])
CALLING = st.fixed_dictionaries(
    {"tool_calls": st.lists(CALL, min_size=1, max_size=3)}, optional={"content": TEXTS, "reasoning_content": TEXTS}
)
MESSAGE = st.fixed_dictionaries({"content": TEXTS})
WILD = st.fixed_dictionaries(
    {}, optional={"content": TEXTS | JSON, "tool_calls": st.lists(CALL, max_size=3) | JSON, "refusal": TEXTS, "x": JSON}
)
CALLS = st.builds(wire, CALLING, st.sampled_from(["tool_calls", "stop", None]), USAGE)
ERROR = st.fixed_dictionaries({"error": st.fixed_dictionaries({"message": TEXTS, "code": JSON, "type": JSON}) | JSON})
ANSWER = st.one_of(
    st.tuples(st.just(200), CALLS),
    st.tuples(st.just(200), CALLS),
    st.tuples(st.just(200), st.builds(wire, MESSAGE | WILD | CALLING, FINISH, USAGE)),
    st.tuples(st.just(200), st.builds(wire, JSON, JSON, JSON) | JSON | st.binary(max_size=9)),
    st.tuples(st.sampled_from([400, 401, 404, 413, 422, 429, 500, 503]), ERROR | JSON | st.binary(max_size=9)),
)
SCRIPT = st.builds(
    lambda calls, rest: [*calls, *rest],
    st.lists(st.tuples(st.just(200), CALLS), max_size=4),
    st.lists(ANSWER, max_size=3),
)


@st.composite
def loops(draw: Any) -> Loop:
    """Any loop that a file can write."""
    output, finish = draw(st.sampled_from(["str", "int"])), draw(st.sampled_from(["submit", "text"]))
    protocol = draw(st.sampled_from(["native", "native", *PROTOCOLS]))
    speech = PROTOCOLS[protocol](list(TOOLS.values()), parse_type(output), finish)
    last = PROTOCOLS[protocol]([], parse_type(output), "text")
    made = Loop(
        lambda _: [system("Be brief."), user("hi")],
        "m",
        TOOLS,
        speech,
        parallel=draw(st.booleans()),
        rollback=draw(st.booleans()),
        compact=draw(st.none() | st.builds(Compaction, st.integers(1, 400), st.integers(1, 3))),
        tool_choice=draw(st.sampled_from(["auto", "required", "required_first"])),
    )
    return replace(made, on_limit=last_word("m", last)) if draw(st.booleans()) else made


LIMITS = st.builds(
    Limits, st.integers(1, 6), st.none() | st.none() | st.integers(0, 3), st.none() | st.none() | st.integers(600, 4000)
)


def played(loop: Loop, answers: list[Any], limits: Limits) -> tuple[Outcome, Model, MemoryJournal]:
    model, journal = Model(list(answers)), MemoryJournal()
    fx = Effects(Live({"m": model}), journal, Budget(limits), Toolbox(loop.tools))
    return asyncio.run(execute(loop, {}, fx)), model, journal


TWO = [{"id": id, "function": {"name": "lookup", "arguments": said}} for id, said in (("c1", True), ("", "{}"))]
PLAIN = Loop(lambda _: [user("hi")], "m", TOOLS, PROTOCOLS["native"](list(TOOLS.values()), parse_type("str"), "text"))


@settings(max_examples=60, deadline=None)
@given(loops(), SCRIPT, LIMITS)
@example(PLAIN, [(200, wire({"tool_calls": TWO}, "tool_calls"))], Limits(3))
@example(PLAIN, [(200, wire({"content": "x", "x": [float("inf"), 2**70]}))], Limits(3))
@example(PLAIN, [(200, b'{"choices": ' + b"[" * 5000)], Limits(3))
def test_any_reply_ends_in_an_exit_reason_and_a_readable_record(loop, answers, limits):
    """No traceback; one result for every call; a conversation at every request and at the end; all usage counted."""
    outcome, model, journal = played(loop, answers, limits)
    assert outcome.exit in get_args(Exit)
    assert outcome.exit != "harness_error", outcome.traceback
    assert outcome.answered == (outcome.exit == "success") or outcome.exit.endswith("_limit")
    assert model.strange == []
    if loop.protocol.name == "native":
        assert faults([said.message for said in outcome.transcript]) == []
    assert outcome.usage == sum((event.usage for event in outcome.events if isinstance(event, ModelCalled)), Usage())
    assert outcome.usage == model.used
    at = [(type(event), event.at) for event in outcome.events]
    assert len(set(at)) == len(at)
    assert len(outcome.calls) <= sum(isinstance(event, ToolCalled) for event in outcome.events)
    same_again(loop, limits, outcome, journal)


def same_again(loop: Loop, limits: Limits, before: Outcome, journal: MemoryJournal) -> None:
    """A replay of what was recorded comes to the same, with nobody to ask."""
    budget = Budget(limits)
    budget.restore(journal.records, Toolbox(loop.tools).allowed_failures())
    fx = Effects(Replayed(before), MemoryJournal(journal.records), budget, Toolbox(loop.tools))
    again = asyncio.run(execute(loop, {}, fx))
    assert (again.exit, again.answer, again.transcript) == (before.exit, before.answer, before.transcript)
    assert [told(event) for event in again.events] == [told(event) for event in before.events]


def told(event: Any) -> Any:
    """An event without what no record holds: times, and the attempts at an endpoint that failed."""
    kind, fields = untimed(event)
    return kind, {key: value for key, value in fields.items() if key != "attempts" or event.finish != "provider_error"}
