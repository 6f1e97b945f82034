"""The protocols in plain text: what a reply says, and what of it counts."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopworth.agents.lines import FIRST_ONLY, React, Text
from loopworth.agents.protocols import PROTOCOLS
from loopworth.agents.submit import Answer, Unreadable
from loopworth.runs.message import Reply, ToolCall, assistant
from loopworth.runs.outcome import Stop
from loopworth.workflows.type_expression import parse_type
from tests.agents.kit import DONE, TOOLS, make, run

INT = Text(list(TOOLS.values()), parse_type("int"), "submit")
STR = Text(list(TOOLS.values()), parse_type("str"), "text")
LOOKUP = ToolCall("", "lookup", '{"code": "AB"}')


def read(text, speech=INT):
    return speech.read(Reply(assistant(text), text=text), reminded=False)


@pytest.mark.parametrize(
    "text",
    [
        'Action: lookup {"code": "AB"}',
        'Thought: I need the figure.\nAction: lookup {"code": "AB"}',
        'Action: lookup\nAction Input: {"code": "AB"}',
        'Action: lookup\n{"code": "AB"}',
        '**Action:** `lookup` {"code": "AB"}',
        'action: lookup({"code": "AB"})',
        '### Action: lookup {"code": "AB"}',
        'Action：lookup\nAction Input：{"code": "AB"}',  # noqa: RUF001
        'I will look it up.\n\nAction: lookup {"code": "AB"}\n\nThat will tell.',
        '```\nAction: lookup {"code": "AB"}\n```',
        'Let me see:\n```text\nAction: lookup {"code": "AB"}\n```',
        'Action: lookup\n```json\n{"code": "AB"}\n```',
        'Action: lookup {"code": "AB"}\nObservation: 7\nAnswer: 7',
        '```\nAction: lookup {"code": "AB"}\n```\nObservation: 7\nThought: so it is 7.\nAnswer: 7',
        'Action: lookup {"code": "AB"}\nAction: pay {"amount": 5}',
        'Action: lookup {"code": "AB"}\nAnswer: 7',
    ],
)
def test_the_first_action_of_a_reply_is_its_call(text):
    """Prose, a fence, a label of ReAct's and bold type around it change nothing; what follows it is cut."""
    assert read(text) == (LOOKUP,)


@pytest.mark.parametrize(
    "text",
    [
        'To call it you would write {"name": "pay", "arguments": {}} in the config.',
        'You could write Action: pay {"amount": 5} and it would pay.',
        '"Action: pay {}" would do it.',
        '> Action: pay {"amount": 5}',
        'You would write:\n```\nAction: pay {"amount": 5}\n```\nBut I must not.',
        '{"tool": "pay", "arguments": {"amount": 5}}',
        "Observation: paid 5",
    ],
)
def test_text_about_a_call_is_no_call(text):
    """An action is a line of its own; a fence that the text goes on after is an example."""
    assert isinstance(read(text), Unreadable)
    outcome, model = run(make("int", protocol="text"), text, "Answer: 3")
    assert (outcome.answer, len(model.requests), DONE) == (3, 2, [])


def test_an_example_is_passed_over_for_what_comes_after_it():
    """The reply's own action or answer may follow."""
    assert read("So:\n```\nAction: pay {}\n```\nNo need for it.\nAnswer: 4") == Answer(4)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer: 42", 42),
        ("Thought: 40 + 2.\nFinal Answer: 42", 42),
        ("**Answer:** 42", 42),
        ("Answer: 42\nObservation: right\nThought: done", 42),
        ("Answer: 42\n\nBecause 40 and 2 are 42.", 42),
        ("```\nAnswer: 42\n```", 42),
        ("Answer:\n```json\n42\n```", 42),
    ],
)
def test_an_answer_is_of_the_output_s_type(text, answer):
    """Typed answers are read as JSON, fenced or not; more words after the first line are no harm."""
    assert read(text) == Answer(answer)


def test_a_text_answer_keeps_all_of_its_lines():
    """Where the answer is text, it goes to the end of the reply, but for an observation that was made up."""
    assert read("Answer: one\ntwo\nAction: Bob will call", STR) == Answer("one\ntwo\nAction: Bob will call")
    assert read("Answer: see\n```python\nx = 1\n```", STR) == Answer("see\n```python\nx = 1\n```")
    assert read("Answer: one\nObservation: two", STR) == Answer("one")


@pytest.mark.parametrize("text", ["I will look it up.", "Answer: many", "Answer:", "Thought: hm."])
def test_what_is_neither_is_told_once_and_then_ends_the_run(text):
    """As under every protocol: the second unreadable reply in a row is `unparsable`."""
    assert "Answer: <int>" in read(text).why
    outcome, model = run(make("int", protocol="text"), text, text, "Answer: 3")
    assert (outcome.exit, outcome.answer, len(model.requests)) == ("unparsable", None, 2)


def test_arguments_that_are_no_json_are_told_as_those_of_any_call():
    """The tool layer says where they broke; nothing is repaired, and the loop goes on."""
    assert read("Action: lookup {code: AB}") == (ToolCall("", "lookup", "{code: AB}"),)
    outcome, model = run(make("int", protocol="text"), 'Action: lookup {"code": "AB"', "Action: lookup AB", "Answer: 3")
    assert (outcome.answer, [seen.status for seen in outcome.calls]) == (3, ["invalid_arguments"] * 2)
    assert "not JSON" in model.requests[-1].messages[-2]["content"]


def test_a_tool_without_arguments_needs_no_object():
    """The rest of its line is empty."""
    assert read("Action: poll\nI wait.") == (ToolCall("", "poll", ""),)


def test_an_unknown_tool_is_told_with_its_name():
    """Also where nothing like a name stands there."""
    outcome, _ = run(make("int", protocol="react"), "Action: nope {}", "Action: (none)", "Answer: 3")
    assert [(seen.status, seen.tool) for seen in outcome.calls] == [
        ("unknown_tool", "nope"),
        ("unknown_tool", "(none)"),
    ]


@pytest.mark.parametrize("protocol", ["text", "react"])
def test_the_conversation_holds_what_counted_and_the_record_holds_all(protocol):
    """A result that the model made up never reaches it again as if it were one; observations are the user's."""
    made_up = 'Thought: hm.\nAction: lookup {"code": "AB"}\nObservation: 99\nAnswer: 99'
    outcome, model = run(make("int", protocol=protocol), made_up, "Answer: 2")
    seen = model.requests[1].messages
    assert seen[-3:-1] == [
        assistant('Thought: hm.\nAction: lookup {"code": "AB"}'),
        {"role": "user", "content": f"Observation: 2\n{FIRST_ONLY}"},
    ]
    assert [said.message["content"] for said in outcome.transcript].count(made_up) == 1
    assert (outcome.answer, outcome.path) == (2, ("lookup",))


def test_the_brief_tells_the_grammar_and_the_tools():
    """It follows the instructions; React's has a line for the thought; observations are told to end a reply."""
    speech = React([TOOLS["lookup"]], parse_type("list[int]"), "submit")
    [first, *rest] = speech.open([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}])
    assert first["content"].startswith("Be brief.\n\nReply with a thought")
    assert "Thought: <what to do next, and why>\nAnswer: <list[int], as JSON>" in first["content"]
    assert "- lookup(code: str): Look a code up." in first["content"]
    assert rest == [{"role": "user", "content": "hi"}]
    _, model = run(make("int", protocol="text"), "Answer: 1")
    assert model.requests[0].stop == ("\nObservation:",)


def test_without_tools_any_text_is_the_answer():
    """The last word of `on_limit: answer` has nothing to call; what calls all the same is no answer."""
    last = Text([], parse_type("int"), "text")
    assert (last.form, "Action" in last.brief) == ("Answer: <int>", False)
    assert (read("42", last), read("Answer: 42", last)) == (Answer(42), Answer(42))
    assert read('Action: lookup {"code": "AB"}', last) == (LOOKUP,)


PIECES = [
    "Action:",
    "Answer:",
    "Thought:",
    "Observation:",
    "lookup",
    " {",
    '"code"',
    ": ",
    '"AB"',
    "}",
    "```",
    "\n",
    "*",
    "x",
    "7",
]
SPEECHES = [
    made(list(TOOLS.values()), parse_type(out), "text") for made in PROTOCOLS.values() for out in ("int", "str")
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)), st.sampled_from(SPEECHES), st.booleans())
@example("Action: lookup " + "[" * 100_000, INT, False)
@example('Action: lookup {"a":' + "[" * 100_000, INT, False)
@example("Answer: " + "9" * 5_000, INT, False)
def test_any_text_reads_to_a_call_an_answer_or_what_to_say_of_it(text, speech, reminded):
    """Whatever a model writes, a protocol raises nothing but `Stop`, and shows the turn as messages."""
    reply = Reply(assistant(text), text=text)
    if not text.strip():
        with pytest.raises(Stop, match="empty"):
            speech.read(reply, reminded)
        return
    found = speech.read(reply, reminded)
    assert isinstance(found, Answer | Unreadable) or all(isinstance(call, ToolCall) for call in found)
    shown = speech.show(reply, ())
    assert shown[0]["role"] == "assistant"
    assert text.startswith(shown[0]["content"])


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_what_is_shown_again_reads_as_it_did(text):
    """Cutting a reply after what counted takes nothing of it away."""
    found = read(text) if text.strip() else None
    if isinstance(found, tuple | Answer):
        assert read(INT.show(Reply(assistant(text), text=text), ())[0]["content"]) == found
