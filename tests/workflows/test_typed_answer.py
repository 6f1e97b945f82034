"""Typed answers: one call with a schema, one re-ask, both through the run's own model calls."""

import pytest

from loopworth.runs.budget import Limits
from loopworth.runs.events import ModelCalled
from loopworth.runs.message import user
from loopworth.runs.usage import Usage
from loopworth.workflows import verbs
from loopworth.workflows.type_expression import parse_type
from tests.workflows.kit import ask, pipeline, run, step

FIELDS = parse_type({"codes": "list[str]", "field": "Literal[budget, staff]"})


def typed(output, *replies, **how):
    return run(pipeline(ask("a", "Which?", output), answer="{{ a }}"), replies=list(replies), **how)


def test_a_typed_ask_is_one_call_with_a_schema():
    """The endpoint gets the type's clean schema; the value is plain data."""
    outcome, model = typed(FIELDS, '{"codes": ["A"], "field": "staff"}')
    assert outcome.answer == {"codes": ["A"], "field": "staff"}
    assert model.requests[0].schema == FIELDS.schema
    assert model.requests[0].messages == [user("Which?")]
    assert outcome.model_calls == 1


@pytest.mark.parametrize(
    ("expr", "reply", "value"), [("int", '{"answer": 3}', 3), (["int"], '```json\n{"answer": [1]}\n```', [1])]
)
def test_a_type_that_is_no_object_is_asked_for_inside_one(expr, reply, value):
    """Endpoints constrain objects: the value stands in `answer`, fenced or not."""
    outcome, model = typed(parse_type(expr), reply)
    assert outcome.answer == value
    assert model.requests[0].schema["required"] == ["answer"]


@pytest.mark.parametrize(
    ("expr", "reply", "value"),
    [
        ("int", "42", 42),
        ("Literal[billing, how-to]", "how-to", "how-to"),
        ("date", "2024-01-05", "2024-01-05"),
        (["str"], '```json\n["a"]\n```', ["a"]),
        ("dict[str, int]", '{"a": 1}', {"a": 1}),
        ("str | None", "null", None),
        ("str", '"so"', "so"),
    ],
)
def test_a_value_that_comes_alone_is_the_answer(expr, reply, value):
    """An endpoint may not hold its model to a schema, or not show it one."""
    outcome, model = typed(parse_type(expr), reply)
    assert (outcome.exit, outcome.answer, len(model.requests)) == ("success", value, 1)


@pytest.mark.parametrize(
    ("expr", "reply"),
    [
        ("int", "The answer is 42"),
        ("int", '"42"'),
        ("int", "true"),
        ("Literal[billing, how-to]", "Billing."),
        ("str", '{"answer": "half of'),
        ("str | None", "None"),
        ("dict[str, int]", '{"answer": 5}'),
        ("int", "[" * 5000),
    ],
)
def test_what_is_not_the_value_alone_is_asked_again(expr, reply):
    """Nothing is guessed: not a word in a sentence, not half an object as a text."""
    outcome, model = typed(parse_type(expr), reply, reply)
    assert (outcome.exit, len(model.requests)) == ("step_failed", 2)


@pytest.mark.parametrize(
    "bad", ['{"codes": ["A"], "field": "stuff"}', "The codes are A", '{"codes": [1], "field": "staff"}', ""]
)
def test_a_bad_answer_is_asked_again_once(bad):
    """The re-ask is a model call of its own, `ask~2`; it shows the answer and what is wrong, without links."""
    outcome, model = typed(FIELDS, bad, '{"codes": [], "field": "budget"}')
    assert outcome.answer == {"codes": [], "field": "budget"}
    assert [e.at for e in outcome.events if type(e) is ModelCalled] == ["a/ask", "a/ask~2"]
    first, reply, again = model.requests[1].messages
    assert (first, reply["role"], reply["content"]) == (user("Which?"), "assistant", bad)
    assert again["role"] == "user"
    assert "pydantic.dev" not in again["content"]
    assert [said.message["role"] for said in outcome.transcript] == ["user", "assistant", "user", "assistant"]


def test_an_answer_that_stays_bad_is_unparsable():
    """After one re-ask the step fails, and says which field is wrong."""
    outcome, model = typed(FIELDS, "no", '{"codes": [], "field": "stuff"}', "never asked")
    assert outcome.exit == "step_failed"
    assert outcome.note.startswith(
        "step 'a' gave no readable answer: the answer is not of its type: field must be one of"
    )
    assert len(model.requests) == 2


def test_a_re_ask_is_budgeted_and_a_cut_reply_is_truncated():
    """The seam's own ends pass through instructor unchanged."""
    outcome, _ = typed(FIELDS, "no", "no", limits=Limits(turns=1))
    assert (outcome.exit, outcome.note) == ("turn_limit", "step 'a': turns: 1")
    outcome, _ = typed(FIELDS, {"text": '{"codes": [', "finish": "length"})
    assert outcome.note.startswith("step 'a' was truncated")


def test_every_re_ask_is_paid_once():
    """The usage of the outcome is the sum of both calls."""
    replies = [
        {"text": text, "usage": {"input": 10, "output": 2}} for text in ("no", '{"codes": [], "field": "staff"}')
    ]
    assert typed(FIELDS, *replies)[0].usage == Usage(20, 4, usd=0.0)


def test_messages_with_parts_reach_the_endpoint_as_they_are():
    """Nothing of a prompt is rewritten on its way through instructor."""
    messages = [user([{"type": "text", "text": "{{ x }}"}, {"type": "image_url", "image_url": {"url": "data:,"}}])]
    act = verbs.ask(lambda _: list(messages), verbs.Chat("m"), parse_type("int"))
    _, model = run(pipeline(step("a", act), answer="{{ a }}"), replies=['{"answer": 1}'])
    assert model.requests[0].messages == messages
