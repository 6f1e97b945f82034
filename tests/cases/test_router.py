"""The handed cases of kind router: how a model's text becomes a route."""

import pathlib

import pytest
from ruamel.yaml import YAML

from loopworth.router import Route, Router
from loopworth.runs.events import RouteTaken
from loopworth.runs.message import user
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows import verbs
from loopworth.workflows.contract import Contract
from loopworth.workflows.fallback import Fallback
from loopworth.workflows.templates import template
from loopworth.workflows.type_expression import parse_type
from tests.workflows.kit import run

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("router.yaml"))["cases"]


def says(label):
    return verbs.Alone(verbs.assign(template(f"went to {label}")))


def routed(given):
    """The outcome of a router over the case's routes, and every text its model said."""
    routes = {label: Route(says(label)) for label in given["routes"]}
    router = Router(routes, lambda _: [user("Which desk?")], "m", otherwise=True)
    workflow = Contract(router, Toolbox(), parse_type({}), otherwise=Fallback(says("otherwise")))
    outcome, model = run(workflow, {}, [given["model_text"]] * 3)
    (taken,) = [event for event in outcome.events if type(event) is RouteTaken]
    return outcome, taken, len(model.requests)


def a_label_with_a_full_stop_is_the_label(given):
    """Case and punctuation around it do not matter; the trace has the raw text and the rule."""
    outcome, taken, asked = routed(given)
    assert (outcome.exit, outcome.answer, outcome.route) == ("success", "went to billing", "billing")
    assert (taken.label, taken.said, taken.rule) == ("billing", given["model_text"], "model")
    assert asked == 1


def a_sentence_is_no_label(given):
    """No word is searched for: asked again once, then the fallback, and the trace says so."""
    outcome, taken, asked = routed(given)
    assert (outcome.exit, outcome.answer) == ("success", "went to otherwise")
    assert (taken.label, taken.said, taken.rule) == ("otherwise", given["model_text"], "otherwise")
    assert asked == 2


TESTS = {"RT-01": a_label_with_a_full_stop_is_the_label, "RT-03": a_sentence_is_no_label}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_router(case):
    """The one line of the case's `expect` holds."""
    assert len(case["expect"]) == 1
    TESTS[case["id"]](case["given"])
