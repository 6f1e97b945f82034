"""The handed cases of kind template: what tasks, tools and models say is data; what an author writes is sandboxed."""

import json
import pathlib

import pytest
from ruamel.yaml import YAML

from loopworth.runs.message import assistant, user
from loopworth.workflows import verbs
from loopworth.workflows.templates import template
from loopworth.workflows.type_expression import parse_type
from tests.workflows.kit import CHAT, ask, pipeline, run, step

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("template.yaml"))["cases"]


def asked(prompt, names, reply="fine", output=None):
    """A pipeline of one step named `judge` that asks a model; the outcome, and what the model was sent."""
    outcome, model = run(pipeline(ask("judge", prompt, output), answer="{{ judge }}"), names, [reply, reply])
    return outcome, [message for request in model.requests for message in request.messages]


def data_appears_unchanged(given):
    """The braces of the data are text, in a text prompt and in a typed one."""
    names = {"text": given["text"]}
    expected = [user(f"Summarise: {given['text']}")]
    outcome, sent = asked(given["prompt"], names)
    assert (outcome.exit, outcome.answer, sent) == ("success", "fine", expected)
    outcome, sent = asked(given["prompt"], names, '{"answer": 1}', parse_type("int"))
    assert (outcome.exit, outcome.answer, sent) == ("success", 1, expected)


def an_old_answer_stays_as_it_was(given):
    """The next request is built with the old answer in its history, and a later step still reads it unchanged."""
    history = [user("first question"), assistant("{{ first }}"), user("{{ next }}")]
    made = template(history)
    follow = step("second", verbs.ask(made, CHAT), made)
    names = {"next": given["prompt"]}
    outcome, model = run(
        pipeline(ask("first", "first question"), follow, answer="{{ first }}"), names, [given["history"], "ok"]
    )
    assert (outcome.exit, outcome.answer) == ("success", given["history"])
    assert model.requests[1].messages == [user("first question"), assistant(given["history"]), user(given["prompt"])]
    assert outcome.transcript[1].message["content"] == given["history"]


def python_is_out_of_reach(given):
    """Refused before any model call, in the name of the step, and nothing of Python's inner objects is shown."""
    for prompt in (given["prompt"], f"Say {given['prompt']}"):
        outcome, sent = asked(prompt, {})
        assert (outcome.exit, outcome.answer, sent) == ("step_failed", None, [])
        assert outcome.note.startswith("step 'judge': ")
        assert "__class__' that can be read here" in outcome.note
        assert not [word for word in ("<class", "object at", "jinja2", "Traceback", "(<") if word in outcome.note]


def an_answer_goes_in_literally(given):
    """A judged answer fills its slot as it is, as a lone value, inside a text and as JSON."""
    names = {"answer": given["answer"]}
    prompt = "Is this right?\n{{ answer }}\nAs JSON: {{ [answer] }}"
    outcome, sent = asked(prompt, names)
    assert outcome.exit == "success"
    assert sent == [user(f"Is this right?\n{given['answer']}\nAs JSON: {json.dumps([given['answer']])}")]
    assert asked("{{ answer }}", names)[1] == [user(given["answer"])]


TESTS = {
    "TM-01": data_appears_unchanged,
    "TM-03": an_old_answer_stays_as_it_was,
    "TM-05": python_is_out_of_reach,
    "TM-07": an_answer_goes_in_literally,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_template(case):
    """The one line of the case's `expect` holds."""
    assert len(case["expect"]) == 1
    TESTS[case["id"]](case["given"])
