"""A program's own object in a model's place."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from loopworth.models import ModelSpec, ScriptedModel
from loopworth.models.given import GivenModel, by_key, name_of, opened, spec_of
from loopworth.runs.message import Reply, Request, user
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Usage

ASKED = Request([user("Ann?")], "ollama/m")


def said(own: Any) -> Reply:
    return asyncio.run(opened(own).reply(ASKED, None))


class Echo:
    async def reply(self, request: Request, seconds: float | None) -> Reply:
        return Reply({"role": "assistant", "content": "own"}, text="own", usage=Usage(1, 2, usd=0.5))


def test_an_object_says_all_of_its_reply() -> None:
    """What it reports as used counts."""
    assert (said(Echo()).text, said(Echo()).usage) == ("own", Usage(1, 2, usd=0.5))


def test_a_text_is_a_reply_whose_usage_is_unknown() -> None:
    """Unknown is not zero."""
    reply = said(lambda request: request.messages[-1]["content"].upper())
    assert (reply.text, reply.message, reply.usage) == (
        "ANN?",
        {"role": "assistant", "content": "ANN?"},
        Usage(None, None, usd=None),
    )


def test_a_message_in_wire_shape_is_read_as_an_endpoints_is() -> None:
    """Its tool calls are calls, with ids of their own."""
    wire = {"role": "assistant", "tool_calls": [{"function": {"name": "price", "arguments": "{}"}}]}
    reply = said(lambda request: wire)
    assert [(call.tool, call.arguments, bool(call.id)) for call in reply.calls] == [("price", "{}", True)]


@pytest.mark.parametrize("finish", ["stop", "tool_calls"])
@pytest.mark.parametrize("text", ["", "I look."])
def test_what_a_reply_leaves_out_is_read_from_its_message(finish: str, text: str) -> None:
    """Calls that stand in the message alone are made, and its text is the reply's: neither is lost in silence."""
    function = {"name": "price", "arguments": '{"code": "AB"}'}
    calls = {"role": "assistant", "content": text, "tool_calls": [{"id": "1", "function": function}]}
    reply = said(lambda request: Reply(calls, text=text, finish=finish, usage=Usage(1, 2, usd=0.5)))
    assert [(call.id, call.tool, call.arguments) for call in reply.calls] == [("1", "price", '{"code": "AB"}')]
    assert (reply.text, reply.finish, reply.usage) == (text, "tool_calls", Usage(1, 2, usd=0.5))
    plain = said(lambda request: Reply({"role": "assistant", "content": "hi"}, usage=Usage(1, 2)))
    assert (plain.text, plain.finish, plain.usage) == ("hi", "stop", Usage(1, 2))


def test_a_plain_function_runs_in_a_thread_and_an_async_one_does_not() -> None:
    """A function that waits holds up nothing else."""

    async def aside(request: Request) -> str:
        return threading.current_thread().name

    assert said(aside).text == threading.current_thread().name
    assert said(lambda request: threading.current_thread().name).text != threading.current_thread().name


def test_what_it_raises_is_an_endpoints_failure() -> None:
    """The run ends as `provider_error` and names the model; a bug of a model of ours stays one."""

    def broken(request: Request) -> str:
        raise ConnectionError("no route")

    with pytest.raises(Stop, match=r"provider_error: python/broken: ConnectionError: no route"):
        said(broken)
    with pytest.raises(AttributeError):
        said(Broken())


class Broken(ScriptedModel):
    __module__ = "loopworth.models"

    def __init__(self) -> None:
        super().__init__([])
        del self.replies


@pytest.mark.parametrize(
    ("value", "what"),
    [(3, "int"), (None, "NoneType"), ({"text": "x"}, "dict with 'text'"), (["x"], "list"), ({}, "dict")],
)
def test_what_is_no_reply_is_the_models_fault(value: Any, what: str) -> None:
    """As what it raises is: an endpoint's failure, and no bug of ours. The note says what it must return."""
    with pytest.raises(Stop) as stop:
        said(lambda request: value)
    assert stop.value.exit == "provider_error"
    assert stop.value.note.startswith(f"the model python/<lambda> returned {what}: it must return a Reply, a text, or")


@pytest.mark.parametrize(
    "reply",
    [
        Reply("hi"),  # type: ignore[arg-type]
        Reply({"role": "assistant"}, text=None),  # type: ignore[arg-type]
        Reply({"role": "assistant"}, calls=({"tool": "pay"},)),  # type: ignore[arg-type]
        Reply({"role": "assistant"}, usage={"input": "many"}),  # type: ignore[arg-type]
        Reply({"role": "assistant"}, finish=None),  # type: ignore[arg-type]
        Reply({"role": "assistant", "content": object()}),
    ],
)
def test_a_reply_of_the_wrong_shape_is_found_where_it_is_made(reply: Reply) -> None:
    """Nothing checks a value that a program makes; what could not be kept and read again is its model's fault."""
    with pytest.raises(Stop, match=r"the model python/Made returned a Reply that cannot be kept: .*") as stop:
        said(Made(reply))
    assert stop.value.exit == "provider_error"


def test_a_reply_is_taken_as_it_would_be_read_again() -> None:
    """So that the run that is live and the one that is replayed are the same."""
    reply = Reply({"role": "assistant", "content": "hi"}, text="hi", usage={"input": 7})  # type: ignore[arg-type]
    assert said(Made(reply)).usage == Usage(7)


class Made:
    def __init__(self, made: Reply) -> None:
        self.made = made

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        return self.made


def test_what_cannot_reply_is_no_model() -> None:
    """A wrong object is found before anything runs."""
    with pytest.raises(TypeError, match="3 is no model: give an object with `async reply"):
        opened(3)  # type: ignore[arg-type]


def test_a_given_model_is_named_and_bounded_by_its_own_attributes() -> None:
    """`name`, `endpoint` and `concurrency`, where it has them."""
    echo = Echo()
    assert (GivenModel(echo).endpoint, GivenModel(echo).concurrency, name_of(echo)) == ("python/Echo", 4, "python/Echo")
    echo.name, echo.endpoint, echo.concurrency = "mine", "there", 9  # type: ignore[attr-defined]
    assert (GivenModel(echo).endpoint, GivenModel(echo).concurrency, name_of(echo)) == ("there", 9, "mine")


def test_a_scripted_model_may_be_keyed_by_effect() -> None:
    """A given model that asks for the effect's id is told it."""
    script = GivenModel(ScriptedModel({"said": "by id"}))
    assert (script.by_id, asyncio.run(script.reply(ASKED, None, "said/ask")).text) == (True, "by id")


def test_what_a_model_has_beside_a_reply_is_seen_through() -> None:
    """A quote holds money before a call, and a stream is heard; a model of ours is not wrapped at all."""

    class Streams:
        streams = True

        def quote(self, request: Request) -> str:
            return "a quote"

        async def reply(self, request: Request, seconds: float | None, hear: Any) -> Reply:
            hear("te")
            return Reply({"role": "assistant", "content": "text"}, text="text")

    heard: list[str] = []
    made = GivenModel(Streams())
    assert (made.streams, made.quote(ASKED)) == (True, "a quote")
    assert asyncio.run(made.reply(ASKED, None, hear=heard.append)).text == "text"
    assert heard == ["te"]
    assert not hasattr(GivenModel(lambda request: "x"), "streams")
    script = ScriptedModel([])
    assert opened(script) is script


def test_one_name_stands_for_all_models_of_that_name() -> None:
    """A model is named as the files name it, or by its key."""
    cold, warm = ModelSpec("ollama/m"), ModelSpec("ollama/m", temperature=1.0)
    specs = {spec.key: spec for spec in (cold, warm)}
    echo = Echo()
    assert by_key({"ollama/m": echo}, specs) == {cold.key: echo, warm.key: echo}
    assert by_key({warm.key: echo}, specs) == {warm.key: echo}


def test_a_name_that_nothing_asks_is_a_fault() -> None:
    """It says which models are asked."""
    with pytest.raises(LookupError, match="nothing asks a model 'ollama/n': did you mean 'ollama/m'"):
        by_key({"ollama/n": Echo()}, {"ollama/m": ModelSpec("ollama/m")})
    with pytest.raises(LookupError, match="the models are ollama/m"):
        by_key({"gpt": Echo()}, {"ollama/m": ModelSpec("ollama/m")})
    with pytest.raises(LookupError, match="none is asked here"):
        by_key({"ollama/n": Echo()}, {})


def test_a_report_does_not_name_the_model_whose_place_was_taken() -> None:
    """The name in the file did not answer."""
    written = ModelSpec("ollama/m", temperature=1.0, seed=3)
    assert spec_of(Echo(), written) == ModelSpec("python/Echo", temperature=1.0, seed=3)
    assert spec_of("vllm/n", written) == ModelSpec("vllm/n")
