"""The handed cases of kind tool-args, played through the whole loop with a scripted model."""

import asyncio
import json
import pathlib
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.models import ModelSpec, open_model
from loopworth.runs.decision import Decision, Question
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.tools.gate import Gate
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import make, results, run
from tests.endpoint import Answer, FakeEndpoint, Received, said, wire

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("tool-args.yaml"))["cases"]


@dataclass
class Played:
    """What a case came to: the calls that reached a tool, the questions asked, how the run ended."""

    given: dict[str, Any]
    done: list[Any] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)
    requests: list[Any] = field(default_factory=list)

    @property
    def calls(self) -> list[dict[str, Any]]:
        return self.given["assistant_message"]["tool_calls"]

    @property
    def told(self) -> list[str]:
        return results(self.outcome)

    @property
    def record(self) -> str:
        """Every text of the transcript, as it is kept."""
        messages = [said.message for said in self.outcome.transcript]
        texts = [call["function"]["arguments"] for m in messages for call in m.get("tool_calls", ())]
        return "\n".join([*texts, *(str(m.get("content")) for m in messages)])


def tools(played: Played) -> dict[str, Any]:
    """The fake tools of the cases. Each notes what it got."""

    def noting(name: str, effect: str = "read"):
        def tool(function):
            made[name] = python_tool(name, function, effect=effect, inline=True)

        return tool

    made: dict[str, Any] = {}
    note = lambda *got: played.done.append(got) or "done"
    noting("get_time")(lambda: note("get_time"))

    @noting("weather")
    def _(city: str) -> str:
        return note("weather", city)

    @noting("delete_note", "write")
    def _(id: int) -> str:
        return note("delete_note", id)

    @noting("append", "write")
    def _(text: str) -> str:
        return note("append", text)

    @noting("save", "write")
    def _(text: str) -> str:
        return note("save", text)

    @noting("write_file", "write")
    def _(path: str, text: str) -> str:
        return note("write_file", path, text)

    @noting("wait")
    def _(seconds: float) -> str:
        return note("wait", seconds)

    @noting("get_row")
    def _(id: int) -> str:
        return note("get_row", id)

    @noting("read_file")
    def _(path: str) -> str:
        return note("read_file", path)

    @noting("send_mail", "irreversible")
    def _(to: str) -> str:
        return note("send_mail", to)

    @noting("post", "write")
    def _(text: str) -> str:
        return note("post", text)

    made["send_mail"] = replace(made["send_mail"], gates=(Gate(),))
    return made


def play(given: dict[str, Any]) -> Played:
    """The case's message as the first turn of a loop, and a plain answer as the second."""
    played = Played(given)

    async def ask(question: Question, _: str) -> Decision:
        played.asked.append(question)
        return Decision("reject")

    turn = given.get("turn_1", given)
    reply = {"message": turn["assistant_message"], "finish_reason": turn["finish_reason"]}
    if "usage" in given:
        reply["usage"] = given["usage"]
    loop = make(tools=tools(played), max_tokens=given.get("request", {}).get("max_tokens"))
    if "turn_2" in given:
        served(played, loop, turn)
    else:
        played.outcome, model = run(loop, reply, "finished", ask=ask)
        played.requests = [request.messages for request in model.requests]
    return played


def served(played: Played, loop: Any, turn: dict[str, Any]) -> None:
    """The same against a server that refuses arguments that are no JSON object, as strict servers do."""

    def strict(received: Received) -> Any:
        for message in received.body["messages"]:
            for call in message.get("tool_calls", ()):
                try:
                    fine = isinstance(json.loads(call["function"]["arguments"]), dict)
                except ValueError:
                    fine = False
                if not fine:
                    return Answer(400, {"error": {"message": "arguments must be a JSON object"}})
        return said("finished")

    async def talk(base_url: str) -> Outcome:
        model = open_model(ModelSpec("openai/fake", base_url=base_url))
        try:
            return await execute(loop, {"q": "hi"}, Effects(Live({"m": model}), tools=Toolbox(loop.tools)))
        finally:
            await model.close()

    with FakeEndpoint(wire(turn["assistant_message"], turn["finish_reason"]), strict) as server:
        played.outcome = asyncio.run(talk(server.base_url))
        played.requests = [received.body["messages"] for received in server.requests]


def goes_on(played: Played) -> None:
    """The run goes on, and every call id has exactly one result."""
    assert (played.outcome.exit, played.outcome.answer) == ("success", "finished")
    answered = [m["tool_call_id"] for m in played.requests[1] if m["role"] == "tool"]
    assert answered == [call["id"] for call in played.calls]


def ran(*got: Any) -> Any:
    def check(played: Played) -> None:
        assert played.done == [got]
        assert played.outcome.events[1].status == "ok"
        goes_on(played)

    return check


def unwrapped(played: Played) -> None:
    assert played.done == [("weather", "Oslo")]


def raw_kept(played: Played) -> None:
    assert played.calls[0]["function"]["arguments"] in played.record.splitlines()


def no_bare_number(played: Played) -> None:
    assert played.done == []
    assert "bare number 42" in played.told[0]
    assert "an object is needed" in played.told[0]
    goes_on(played)


def cut_not_run(played: Played) -> None:
    assert played.done == [("append", "a")]
    goes_on(played)


def cut_noted(played: Played) -> None:
    assert "probably cut at the output limit of 256 tokens" in played.told[1]
    assert "probably cut" in played.record


def not_repaired(played: Played) -> None:
    """The call is not repaired: the message says what is wrong, and a text that arrives is the exact one."""
    assert [got for got in played.done if got != ("save", "keep ,} and ,] here")] == []
    assert "no comma is allowed before }" in played.told[0]
    goes_on(played)


def quotes_explained(played: Played) -> None:
    assert played.done == []
    assert "inner quotes must be escaped" in played.told[0]


def nothing_guessed(played: Played) -> None:
    assert played.done == []
    goes_on(played)


def infinity_named(played: Played) -> None:
    assert played.done == []
    assert played.told[0].startswith("seconds must be a finite number")
    goes_on(played)


def exact_or_refused(played: Played) -> None:
    """A text is not turned into an integer: the message names the argument and both types."""
    assert played.done == []
    assert played.told == ["id must be an integer, got the text '7300000000000000021'"]
    goes_on(played)


def second_request_parses(played: Played) -> None:
    assert len(played.requests) == 2
    calls = [call for m in played.requests[1] for call in m.get("tool_calls", ())]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{}]
    assert (played.outcome.exit, played.outcome.answer) == ("success", "finished")


def original_readable(played: Played) -> None:
    assert '{"path": "a' in played.record.splitlines()


def nobody_asked(played: Played) -> None:
    assert (played.asked, played.done) == ([], [])


def error_told(played: Played) -> None:
    assert "are not JSON" in played.told[0]
    goes_on(played)


def whole_character(played: Played) -> None:
    assert played.done == [("post", "\N{ROCKET} go")]
    assert len(played.done[0][1]) == 4
    assert played.done[0][1].encode() == b"\xf0\x9f\x9a\x80 go"
    goes_on(played)


EXPECTED = {
    "The tool runs with an empty argument object.": ran("get_time"),
    "The run goes on; every call id gets exactly one result message.": goes_on,
    "Null arguments count as no arguments; the tool runs.": ran("get_time"),
    "A call without an arguments key runs like one with an empty object.": ran("get_time"),
    "Arguments encoded twice are unwrapped once, or refused with a message that says they were a string; "
    "they are never replaced by an empty object.": unwrapped,
    "The raw text stays in the transcript.": raw_kept,
    "The bare number is not guessed to be id; the tool is not run and the result says an object is "
    "needed.": no_bare_number,
    "Completion tokens equal to the cap count as a probable cut; call_2 is not run.": cut_not_run,
    "The transcript notes the probable cut although the finish reason does not say so.": cut_noted,
    "If the call is repaired the text is exactly: keep ,} and ,] here": not_repaired,
    "Nothing is written; the result says inner quotes must be escaped.": quotes_explained,
    "No guessed or shortened text reaches the tool.": nothing_guessed,
    "An overflow to infinity is refused before the tool runs; the message names seconds.": infinity_named,
    "If text is turned into an integer the value is exactly 7300000000000000021; else a clear type "
    "error.": exact_or_refused,
    "Past arguments in the second request parse as a JSON object; the server answers 200.": second_request_parses,
    "The original text can still be read in the transcript.": original_readable,
    "No approval request is made for arguments that cannot be read.": nobody_asked,
    "The model gets the error and may call again.": error_told,
    "The tool gets one character for the escaped pair, then a space and go; encoding to UTF-8 works.": whole_character,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_tool_args(case):
    """What a model may write as arguments, and every line of what must come of it."""
    played = play(case["given"])
    for line in case["expect"]:
        EXPECTED[line](played)
