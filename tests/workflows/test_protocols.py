"""A loop in every protocol, from its file. Every run is replayed too."""

import json

import pytest

from loopworth.agents.protocols import PROTOCOLS
from tests.workflows.played import Played

CALL = {
    "native": {"calls": [{"tool": "lookup", "arguments": {"code": "AB"}}]},
    "json": '{"tool": "lookup", "arguments": {"code": "AB"}}',
}
ANSWER = {"native": {"calls": [{"tool": "submit", "arguments": {"answer": 2}}]}, "json": '{"answer": 2}'}
LAST = {"native": "2", "json": '{"answer": 2}'}
TEXT = 'Action: lookup {"code": "AB"}'
FORMS = {"native": "Write nothing but JSON that fits this schema", "json": 'Reply with one JSON object: {"answer": …}.'}


def loop(protocol, *replies, turns=5, more=""):
    said = "".join(f"\n    - {json.dumps(reply)}" for reply in replies)
    return f"""
workflow: l
shape: open_loop
output: int
tools: tools.yaml
prompt: go
protocol: {protocol}
budget: {{turns: {turns}}}
{more}
model:
  name: scripted
  replies:{said}
"""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_file_s_protocol_is_the_one_that_is_spoken(tmp_path, protocol):
    """The same tools, calls and answer in each."""
    run = Played(tmp_path, loop(protocol, CALL.get(protocol, TEXT), ANSWER.get(protocol, "Answer: 2")))
    assert (run.outcome.exit, run.outcome.answer, run.outcome.path) == ("success", 2, ("lookup",))
    assert run.outcome.protocols == (protocol,)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_last_word_is_asked_for_in_the_protocol_s_own_form(tmp_path, protocol):
    """At a limit of the loop's own, one more reply is read as an answer, and its reason stays the limit."""
    replies = CALL.get(protocol, TEXT), LAST.get(protocol, "Answer: 2")
    run = Played(tmp_path, loop(protocol, *replies, turns=1, more="on_limit: answer"))
    assert (run.outcome.exit, run.outcome.answer) == ("turn_limit", 2)
    [requests] = run.requests.values()
    assert requests[-1].tools == ()
    assert FORMS.get(protocol, "Answer: <int>") in requests[-1].messages[-1]["content"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_last_word_that_calls_a_tool_calls_none(tmp_path, protocol):
    """It is no answer, and the call is not made."""
    call = CALL.get(protocol, TEXT)
    run = Played(tmp_path, loop(protocol, call, call, turns=1, more="on_limit: answer"))
    assert (run.outcome.exit, run.outcome.answer, run.outcome.path) == ("turn_limit", None, ("lookup",))
    assert "it calls a tool" in run.outcome.note


@pytest.mark.parametrize("rule", ["required", "required_first"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_call_and_then_the_answer_keep_every_rule(tmp_path, protocol, rule):
    """`tool_choice` takes nothing from a model that does as it should."""
    replies = CALL.get(protocol, TEXT), ANSWER.get(protocol, "Answer: 2")
    run = Played(tmp_path, loop(protocol, *replies, more=f"tool_choice: {rule}"))
    assert (run.outcome.exit, run.outcome.answer, run.outcome.model_calls) == ("success", 2, 2)
