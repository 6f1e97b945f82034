"""`tool_choice` holds, whatever the endpoint does with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.agents.tool_choice import FIRST, called
from loopworth.runs.budget import Limits
from loopworth.runs.events import Spoke
from loopworth.runs.outcome import Outcome
from tests.agents.kit import DONE, calls, make, results, run

LOOK = calls(("lookup", {"code": "AB"}))
SUBMIT = calls(("submit", {"answer": 2}))


def choices(model):
    return [request.tool_choice for request in model.requests]


def test_a_text_is_no_answer_where_a_call_is_required():
    """It is told once, and then the run is unparsable: under `auto` the second text would have been taken."""
    outcome, model = run(make("int", "submit", tool_choice="required"), "2", "2", SUBMIT)
    assert (outcome.exit, outcome.answer, choices(model)) == ("unparsable", None, ["required"] * 2)
    assert "submit" in outcome.note
    good, model = run(make("int", "submit", tool_choice="required"), "2", LOOK, SUBMIT)
    assert (good.answer, choices(model)) == (2, ["required"] * 3)


def test_required_first_asks_for_a_tool_until_one_was_called():
    """The endpoint is told so as well, and no longer once it has happened."""
    outcome, model = run(make(tool_choice="required_first"), "2", LOOK, "2")
    assert (outcome.exit, outcome.answer) == ("success", "2")
    assert choices(model) == ["required", "required", "auto"]
    assert model.requests[1].messages[2]["content"] == FIRST


@pytest.mark.parametrize("protocol", ["native", "json", "text", "react"])
def test_an_answer_before_the_first_call_ends_the_run_as_unparsable(protocol):
    """An answer without looking is none, in no protocol; it is said once."""
    early = {"native": "2", "json": '{"answer": "2"}'}.get(protocol, "Answer: 2")
    outcome, model = run(make("str", "text", protocol, tool_choice="required_first"), early, early, early)
    assert (outcome.exit, outcome.note, outcome.answer, len(model.requests)) == ("unparsable", FIRST, None, 2)


def test_a_submit_that_comes_too_early_is_told_so_in_its_result():
    """Every call has one result, and a refused answer is not said to be accepted."""
    outcome, model = run(make("int", "submit", tool_choice="required_first"), SUBMIT, LOOK, SUBMIT)
    assert (outcome.answer, results(outcome)) == (2, [FIRST, "2", "accepted"])
    assert (outcome.tool_calls, len(model.requests)) == (1, 3)


def test_a_submit_beside_the_first_call_counts():
    """The call of that turn is made before the run ends."""
    both = calls(("submit", {"answer": 2}), ("lookup", {"code": "AB"}))
    outcome, _ = run(make("int", "submit", tool_choice="required_first"), both)
    assert (outcome.answer, DONE) == (2, [("lookup", "AB")])


@pytest.mark.parametrize("wrong", [("nope", {}), ("lookup", {"code": 1, "x": 2})])
def test_a_call_that_no_tool_took_is_not_the_first_call(wrong):
    """An unknown tool and bad arguments have told the model nothing."""
    outcome, model = run(make(tool_choice="required_first"), calls(wrong), "2", "2")
    assert (outcome.exit, choices(model)) == ("unparsable", ["required"] * 3)


@pytest.mark.parametrize("rule", ["required", "required_first"])
def test_without_tools_nothing_is_required(rule):
    """A control that takes the tools away would otherwise never end."""
    outcome, model = run(make(tools={}, tool_choice=rule), "2")
    assert (outcome.answer, choices(model)) == ("2", ["auto"])


@pytest.mark.parametrize(("protocol", "answer"), [("native", "2"), ("json", '{"answer": "2"}'), ("react", "Answer: 2")])
def test_a_run_says_which_protocol_it_spoke(protocol, answer):
    """It stands in the events, and so in every record and report of the run."""
    outcome, _ = run(make(protocol=protocol), answer)
    assert outcome.protocols == (protocol,)
    assert Outcome().protocols == ()
    cut, _ = run(make(protocol=protocol), {"text": "…", "finish": "length"})
    assert (cut.exit, cut.protocols) == ("truncated", (protocol,))


@pytest.mark.parametrize(("protocol", "ignored"), [("native", 1), ("json", 0)])
def test_a_run_says_how_often_the_endpoint_ignored_the_choice(protocol, ignored):
    """Only where it was told: without tools in the request there is no choice to take."""
    replies = {"native": ["2", LOOK, SUBMIT], "json": ["2", JSON[0], JSON[1]]}[protocol]
    outcome, _ = run(make("int", "submit", protocol, tool_choice="required"), *replies)
    assert outcome.answer == 2
    assert [event.ignored for event in outcome.events if isinstance(event, Spoke)] == [ignored]


NATIVE = [LOOK, SUBMIT, calls(("nope", {})), calls(("submit", {"answer": "x"})), "2", "two"]
JSON = ['{"tool": "lookup", "arguments": {"code": "AB"}}', '{"answer": 2}', '{"tool": "nope"}', '{"answer": "x"}', "2"]
LINES = ['Action: lookup {"code": "AB"}', "Answer: 2", "Action: nope", "Answer: x", "2", "Action: lookup\nAnswer: 2"]
REPLIES = {"native": NATIVE, "json": JSON, "text": LINES, "react": LINES}


@given(st.data(), st.sampled_from(list(REPLIES)), st.sampled_from(["required", "required_first"]))
def test_no_answer_passes_the_rule(data, protocol, rule):
    """Whatever a model says, in whatever order: it looked before it answered, or every turn was a call; and the run
    ends for a reason of its own."""
    replies = data.draw(st.lists(st.sampled_from(REPLIES[protocol]), min_size=6, max_size=6))
    outcome, model = run(make("int", "submit", protocol, tool_choice=rule), *replies, limits=Limits(turns=6))
    assert outcome.exit in ("success", "unparsable", "repetition", "turn_limit")
    if rule == "required_first":
        assert outcome.exit != "success" or any(called(seen) for seen in outcome.calls)
    elif protocol == "native":
        said = [reply for reply in replies[: len(model.requests)] if isinstance(reply, str)]
        assert outcome.exit != "success" or replies[len(model.requests) - 1] not in said
