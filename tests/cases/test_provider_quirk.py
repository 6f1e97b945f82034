"""The handed cases of kind provider-quirk: what single providers want, or do, that others do not."""

import asyncio
import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.agents.compaction import Compaction
from loopworth.agents.last_word import last_word
from loopworth.agents.protocols import PROTOCOLS
from loopworth.models import ModelSpec, open_model
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import Compacted
from loopworth.runs.executor import execute
from loopworth.runs.journal import Journal
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.tool import Tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.type_expression import parse_type
from tests.agents.kit import make
from tests.cases.wire import Played, play
from tests.endpoint import Answer, FakeEndpoint, Received, called, said, wire
from tests.runs.storing import kept

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("provider-quirk.yaml"))["cases"]


def page(n: int) -> str:
    """Read a page."""
    return f"page {n}: " + "words " * 200


TOOLS = {"page": python_tool("page", page, effect="read", inline=True)}


def signed(n: int) -> dict[str, Any]:
    """A call with its signature, as the case before has it: Gemini's, behind an OpenAI-compatible endpoint."""
    function = {"name": "page", "arguments": json.dumps({"n": n})}
    extra = {"google": {"thought_signature": f"signature-{n}"}}
    call = {"id": f"call-{n}", "type": "function", "function": function, "extra_content": extra}
    return wire({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")


def thought(n: int) -> dict[str, Any]:
    """The same in Anthropic's words: thinking, signed, before the call."""
    blocks = [
        {"type": "thinking", "thinking": "Which page?", "signature": f"signature-{n}"},
        {"type": "tool_use", "id": f"toolu_{n}", "name": "page", "input": {"n": n}},
    ]
    return {"type": "message", "role": "assistant", "content": blocks, "stop_reason": "tool_use"}


def reasoned(n: int) -> dict[str, Any]:
    """The same in OpenRouter's words: reasoning that has to come back as it was, beside the calls."""
    body = signed(n)
    message = body["choices"][0]["message"]
    del message["tool_calls"][0]["extra_content"]
    message["reasoning_details"] = [{"type": "reasoning.encrypted", "data": f"signature-{n}"}]
    return body


ANSWERS = {
    "openai": (signed, wire({"role": "assistant", "content": "done"})),
    "openrouter": (reasoned, wire({"role": "assistant", "content": "done"})),
    "anthropic": (
        thought,
        {"type": "message", "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"},
    ),
}
MANY = 6


def server(kind: str, turns: range) -> Callable[[Received], Answer]:
    """Refuses a history in which a call has lost its signature; then goes down."""
    call, end = ANSWERS[kind]
    script = [call(n) for n in turns]

    def answer(received: Received) -> Answer:
        said = [json.dumps(m) for m in received.body["messages"] if m["role"] == "assistant"]
        if any(f"signature-{n}" not in text for n, text in enumerate(said)):
            return Answer(400, {"error": {"message": "Function call is missing a thought_signature"}})
        if script:
            return Answer(200, script.pop(0))
        return Answer(200, end) if turns.stop == MANY else Answer(401, {"error": {"message": "down"}})

    return answer


def activation(journal: Journal, kind: str, turns: range) -> tuple[Outcome, FakeEndpoint]:
    """One process's part of the run: these turns, live, on what the journal holds."""

    async def main(url: str) -> Outcome:
        spec = ModelSpec("vllm/fake", base_url=url, dialect="anthropic" if kind == "anthropic" else "openai", retries=0)
        model = open_model(spec)
        loop = make(tools=TOOLS, compact=Compaction(above=1200, keep_last=2))
        try:
            fx = Effects(Live({"m": model}), journal, Budget(Limits(turns=20)), Toolbox(TOOLS))
            return await execute(loop, {"q": "hi"}, fx)
        finally:
            await model.close()

    with FakeEndpoint(last=server(kind, turns)) as fake:
        return asyncio.run(main(fake.base_url)), fake


def signatures_kept(given: dict[str, Any], folder: pathlib.Path) -> None:
    assert "compact the older half" in given["action"]
    for kind in ANSWERS:
        (folder / kind).mkdir()
        signature_kept(kind, folder / kind)


def signature_kept(kind: str, folder: pathlib.Path) -> None:
    """Saved, restarted, resumed; then compacted: every call goes back with the signature that it came with."""
    store = Store(folder / "runs.db")
    before, _ = activation(store.begin(kept()), kind, range(3))
    assert (before.exit, before.model_calls) == ("provider_error", 4)
    store.close()
    store = Store(folder / "runs.db")
    outcome, fake = activation(store.resume("a1"), kind, range(3, MANY))
    store.close()
    assert (outcome.exit, outcome.answer) == ("success", "done"), outcome.note
    assert any(isinstance(event, Compacted) for event in outcome.events)
    last = json.dumps(fake.requests[-1].body["messages"])
    assert [f"signature-{n}" in last for n in range(MANY)] == [True] * MANY
    assert "left out to save room" in last


FIRST = {"native": called(("look", {})), "json": said('{"tool": "look"}')}
"""A first call in each protocol, where it is not a line of text."""


def fakes(done: list[str]) -> dict[str, Tool]:
    """Tools that note that they ran, and one to begin with."""

    def send_mail(to: str) -> str:
        """Send a mail."""
        done.append(to)
        return "sent"

    def delete_all() -> str:
        """Delete everything."""
        done.append("all")
        return "deleted"

    def look() -> str:
        """Look."""
        return "seen"

    made = {function.__name__: function for function in (send_mail, delete_all, look)}
    return {name: python_tool(name, function, effect="read", inline=True) for name, function in made.items()}


def last_words(given: dict[str, Any], protocol: str) -> Played:
    """The one request in which no tool may be called is the last word of a loop at its limit."""
    done: list[str] = []
    word = last_word("m", PROTOCOLS[protocol]([], parse_type("str"), "text"))
    loop = make("str", "text", protocol, fakes(done), on_limit=word)
    message = {"role": "assistant", "content": None, **given["answer"]}
    first = FIRST.get(protocol, said("Action: look"))
    return play(given, loop, first, wire(message, "tool_calls"), turns=1, done=done)


def talked(given: dict[str, Any], protocol: str) -> Played:
    """Text about a call, from a loop that has the tool."""
    done: list[str] = []
    answer = given["answer"]
    body = wire({"role": "assistant", "content": answer["content"], "tool_calls": answer["tool_calls"]}, "stop")
    return play(given, make("str", "text", protocol, fakes(done)), body, last=body, done=done)


def not_run(given: dict[str, Any], _: pathlib.Path) -> None:
    assert given["request"] == {"tool_choice": "none"}
    for protocol in PROTOCOLS:
        found = last_words(given, protocol)
        assert (found.done, found.outcome.path) == ([], ("look",))
        assert (found.outcome.exit, found.outcome.answer, len(found.sent)) == ("turn_limit", None, 2)
        assert "tools" not in found.sent[-1]


def never_run(given: dict[str, Any], _: pathlib.Path) -> None:
    for protocol in PROTOCOLS:
        found = talked(given, protocol)
        assert (found.done, found.outcome.path) == ([], ())
        assert found.outcome.exit == ("success" if protocol == "native" else "unparsable")


EXPECTED: dict[str, Callable[[dict[str, Any], pathlib.Path], None]] = {
    "The signature is still there for every call kept; no 400.": signatures_kept,
    "The call is not run.": not_run,
    "Never run: text about a call is not a call.": never_run,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_provider_quirk(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """What a provider adds goes back to it; what it does beside the rules is not taken for a call."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)
