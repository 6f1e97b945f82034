"""Calls that come as text: never run, and no answer."""

from __future__ import annotations

import json

import pytest

from loopworth.agents.written_call import called as written
from tests.agents.kit import make
from tests.cases.wire import play
from tests.endpoint import called, said

NAMES = ["lookup", "pay", "submit"]
CALL = json.dumps({"name": "lookup", "arguments": {"code": "AB"}})
WRITTEN = [
    f"<tool_call>\n{CALL}\n</tool_call>",
    f"I will look it up.\n<tool_call>\n{CALL}\n</tool_call>\n",
    f"<tool_call>\n{CALL}",
    "<tool_call>lookup\n<arg_key>code</arg_key>\n<arg_value>AB</arg_value>\n</tool_call>",
    "<tool_call>\n<function=lookup>\n<parameter=code>\nAB\n</parameter>\n</function>\n</tool_call>",
    '<function=lookup>{"code": "AB"}</function>',
    f"[TOOL_CALLS][{CALL}]",
    '[TOOL_CALLS]lookup{"code": "AB"}',
    f"<|python_tag|>{CALL.replace('arguments', 'parameters')}",
    '<|channel|>commentary to=functions.lookup <|constrain|>json<|message|>{"code": "AB"}',
    '<\uff5ctool▁calls▁begin\uff5c>function\n```lookup\n{"code": "AB"}\n```',
    CALL,
    f"```json\n{CALL}\n```",
    f"[{CALL}]",
]
SAID = [
    f"To call it you would write {CALL} in the config.",
    f"To call it you would write <tool_call>{CALL}</tool_call>",
    f"<tool_call>\n{CALL}\n</tool_call>\nis how it is called.",
    CALL.replace("lookup", "delete_all"),
    CALL.replace("lookup", "look"),
    json.dumps({"name": "lookup", "arguments": {}, "result": 2}),
    json.dumps({"name": ["lookup"], "arguments": {}}),
    f"[{CALL}, 2]",
    "[]",
    "{}",
    "It is 2 (see lookup)",
    "<tool_call>" * 3,
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_call_as_text_is_known_by_its_markup_or_by_being_nothing_else(text: str) -> None:
    """As the templates of Qwen, Hermes, GLM, Llama, Mistral, gpt-oss and DeepSeek write one of a tool that is offered.

    https://github.com/NousResearch/hermes-agent/pull/742, https://github.com/tinyhumansai/openhuman/issues/6344
    """
    assert written(text, NAMES) == "lookup"


@pytest.mark.parametrize("text", SAID)
def test_text_about_a_call_is_text(text: str) -> None:
    """PQ-06, and what only looks like one."""
    assert written(text, NAMES) is None


def test_long_text_takes_no_time() -> None:
    """However often a call seems to begin in it."""
    assert written("<tool_call>\n" * 200_000 + ">", NAMES) is None


def test_a_call_as_text_is_told_once_and_never_run() -> None:
    """The model may then call the tool, or answer."""
    found = play({}, make(), said(WRITTEN[0]), called(("lookup", {"code": "AB"})), said("2"))
    assert (found.outcome.answer, found.outcome.path) == ("2", ("lookup",))
    assert found.sent[1]["messages"][-1]["content"].startswith("Your reply holds a call of lookup as text")
    found = play({}, make(), said(WRITTEN[0]), said("2"))
    assert (found.outcome.answer, found.outcome.path) == ("2", ())


@pytest.mark.parametrize("finish", ["text", "submit"])
def test_calls_that_come_as_text_again_are_no_answer(finish: str) -> None:
    """The run ends, and says what to write in the file."""
    found = play({}, make(finish=finish), said(WRITTEN[0]), said(WRITTEN[0]))
    assert (found.outcome.exit, found.outcome.answer, len(found.sent)) == ("unparsable", None, 2)
    assert "its server does not read them: write `protocol: json`" in found.outcome.note


def test_a_typed_answer_may_look_like_a_call() -> None:
    """What fits the type of the answer is the answer."""
    found = play({}, make(output={"name": "str", "arguments": {"code": "str"}}), said(CALL))
    assert (found.outcome.exit, found.outcome.answer) == ("success", json.loads(CALL))
