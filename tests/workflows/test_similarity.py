"""`by: similarity` in a file: which texts a label has, what is asked, and the keys that belong to it."""

import asyncio
import json
import textwrap

import pytest

from loopworth.models import ScriptedModel
from loopworth.runs.world import Live
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import compile
from loopworth.workflows.faults import WorkflowFault

ROUTER = """
workflow: desks
shape: router
instructions: "Be brief."
input: {ticket: str}
choose: "{{ ticket }}"
by: similarity
at_least: 0.6
from:
  urgent: {if: "'outage' in ticket", set: "on call"}
  fraud: {if: "'stolen' in ticket", examples: ["Somebody used my card."], set: "to fraud"}
  billing: {description: "invoices, refunds", examples: ["I was billed twice."], set: "to billing"}
  how-to: {set: "to the manual"}
otherwise: {set: "to a person"}
"""
STEP = """
workflow: desk
shape: pipeline
input: {ticket: str}
steps:
  - {id: desk, choose: "{{ ticket }}", from: {money: "invoices", other: {examples: [a, b]}}, by: similarity}
answer: "{{ desk }}"
"""


def compiled(folder, text):
    (folder / "w.yaml").write_text(textwrap.dedent(text), "utf-8")
    return compile(folder / "w.yaml")


def played(made, scores, ticket="x"):
    """The outcome of a run whose model answers with these scores, and what that was asked."""
    (key,) = made.models
    model = ScriptedModel([json.dumps(scores)])
    return asyncio.run(activate(made, {"ticket": ticket}, Live({key: model}))), model.requests


def faults(folder, text):
    with pytest.raises(WorkflowFault) as found:
        compiled(folder, text)
    return [f"{fault.line}:{fault.column} {fault.what}" for fault in found.value.faults]


def test_a_labels_texts_are_its_description_and_its_examples_else_its_name(tmp_path):
    """A route with `if` is compared with where it has such a text; no chat model is needed."""
    (spec,) = compiled(tmp_path, ROUTER).models.values()
    assert spec.name == "local/minilm"
    assert spec.labels == {
        "fraud": ("Somebody used my card.",),
        "billing": ("invoices, refunds", "I was billed twice."),
        "how-to": ("how to",),
    }


def test_a_router_compares_what_choose_comes_to_and_nothing_else(tmp_path):
    """No instructions and no labels are added; under `at_least` it goes otherwise."""
    made = compiled(tmp_path, ROUTER)
    outcome, (request,) = played(made, {"fraud": 0.1, "billing": 0.7, "how-to": 0.2}, "I paid twice")
    assert (outcome.answer, outcome.route) == ("to billing", "billing")
    assert [message["content"] for message in request.messages] == ["I paid twice"]
    outcome, _ = played(made, {"fraud": 0.1, "billing": 0.59, "how-to": 0.2})
    assert (outcome.exit, outcome.answer, outcome.route) == ("success", "to a person", "otherwise")


def test_a_step_gives_the_nearest_label_or_fails_with_its_score(tmp_path):
    """`choose` in a pipeline takes the same keys."""
    made = compiled(tmp_path, STEP)
    assert next(iter(made.models.values())).labels == {"money": ("invoices",), "other": ("a", "b")}
    assert played(made, {"money": 0.3, "other": 0.2})[0].answer == "money"
    made = compiled(tmp_path, STEP.replace("by: similarity", "by: similarity, at_least: 0.5"))
    outcome, _ = played(made, {"money": 0.3, "other": 0.2})
    assert outcome.exit == "step_failed"
    assert "no label is similar enough: money 0.3000, under 0.5" in outcome.note


def test_another_model_in_place_of_every_model_leaves_it(tmp_path):
    """`--model` replaces what is asked; this one is compared with."""
    (tmp_path / "w.yaml").write_text(ROUTER, "utf-8")
    assert [spec.name for spec in compile(tmp_path / "w.yaml", model="ollama/m").models.values()] == ["local/minilm"]


def test_its_keys_belong_to_it_alone(tmp_path):
    """Without `by: similarity` they would be read by nobody, and a model of its own by nobody with it."""
    lines = ["by: similarity", "model: ollama/m"]
    assert faults(tmp_path, ROUTER.replace(*lines)) == [
        "8:1 `at_least` belongs to `by: similarity`",
        "11:37 `examples` belong to `by: similarity`: a model is told the description alone",
        "12:47 `examples` belong to `by: similarity`: a model is told the description alone",
    ]
    text = STEP.replace("by: similarity", "by: similarity, model: ollama/m")
    assert faults(tmp_path, text) == ["6:110 `by: similarity` asks no model of its own choice"]
    assert any("needs a model" in line for line in faults(tmp_path, STEP.replace(", by: similarity", "")))
