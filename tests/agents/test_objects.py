"""What a reply means: calls, an answer, something to be told about, or nothing to read."""

import pytest

from loopworth.agents.objects import Json
from loopworth.agents.submit import Answer, Unreadable
from loopworth.runs.message import Reply, ToolCall
from loopworth.runs.outcome import Stop
from loopworth.workflows.type_expression import parse_type
from tests.agents.kit import TOOLS, make, run

JSON = Json(list(TOOLS.values()), parse_type("int"), "text")


def said(text):
    return JSON.read(Reply({}, text=text), reminded=False)


def test_one_json_object_is_a_call_or_the_answer():
    """A fence around it changes nothing; the arguments go to the tool layer as they came."""
    assert said('{"tool": "pay", "arguments": {"amount": "x"}}') == (ToolCall("", "pay", {"amount": "x"}),)
    assert said('```json\n{"answer": 3}\n```') == Answer(3)


def test_a_key_that_is_null_is_not_said():
    """Some models fill in every key that there is; an answer that is null is one all the same."""
    assert said('{"tool": null, "arguments": null, "answer": 3}') == Answer(3)
    assert said('{"tool": "pay", "arguments": {}, "answer": null}') == (ToolCall("", "pay", {}),)
    nullable = Json([], parse_type("int | None"), "text")
    assert nullable.read(Reply({}, text='{"answer": null}'), reminded=False) == Answer(None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I will pay.", "was not accepted"),
        ('{"answer": "three"}', "was not accepted"),
        ('{"tool": 7}', "Reply with one JSON object"),
        ('{"tool": "pay", "answer": 3}', "Reply with one JSON object"),
        ("{}", "Reply with one JSON object"),
        ('{"tool": null, "answer": null}', "Reply with one JSON object"),
    ],
)
def test_what_is_neither_is_told_to_the_model_and_nothing_of_it_runs(text, told):
    """Prose, an answer of another type, a call and an answer at once."""
    found = said(text)
    assert isinstance(found, Unreadable)
    assert told in found.why
    outcome, model = run(make("int", protocol="json"), text, '{"answer": 3}')
    assert (outcome.answer, len(model.requests), outcome.tool_calls) == (3, 2, 0)


def test_nothing_said_ends_the_run_as_empty():
    """White space is nothing; it is no answer and is not asked again."""
    with pytest.raises(Stop) as stop:
        said(" \n")
    assert stop.value.exit == "empty"
